"""A module that needs another one, and the teardown or a new apply of that one, in every order, by whole runs.

A disk that does not go with its server: it must be gone before, and is made for the server that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.run import RunEnd
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.status import Status
from hybridwrap.run.adopt import adopt
from hybridwrap.run.apply import apply
from hybridwrap.run.destroy import destroy
from hybridwrap.run.left_alone import Wishes
from tests.support.imaginary import MOUNT, STACK, Machine, World, begin_command
from tests.support.ledgers import FakeClock, Ids, writer
from tests.support.turns import Crash, InTurn, Turns

FREE = replace(STACK, modules={**STACK.modules, "disk": replace(STACK.modules["disk"], owner="")})
BARE = replace(FREE, modules={"vm": FREE.modules["vm"]})  # a checkout in which the disk is not declared yet
PAIR = ("apply disk", "destroy vm")
WAITS = KEPT = 10  # exit codes: what it needs is gone; what needs it is there
CAME_BETWEEN = 20  # of who gave way to the other after its own begin
A_LOOK = 2  # steps: a listing of heads, and one of the log whose head is another one
END = 2  # the seq of the end of a first operation
ROOT = "v1/shop/default/"


@dataclass
class Scene:
    """One cloud, one ledger and one host; on another one those who destroy have a checkout of their own."""

    store: MemoryStore = field(default_factory=MemoryStore)
    world: World = field(default_factory=lambda: World(frozenset({"disk", "mount"})))
    ends: dict[str, RunEnd] = field(default_factory=dict)
    commands: int = 10
    machine: Machine = field(default_factory=lambda: Machine(FREE))
    destroyer: Machine | None = None

    def command(self, what: str, turns: Turns | None = None) -> tuple[str, Callable[[], object]]:
        """A client, and what it does: `apply disk`, `destroy vm`; without turns it is alone."""
        client, (verb, *modules) = f"{self.commands} {what}", what.split()
        self.commands += 1
        store = InTurn(self.store, client, turns) if turns else self.store

        def step() -> None:
            if turns:
                turns.step(client)

        def work() -> object:
            destroys = verb == "destroy"
            machine = self.destroyer if destroys and self.destroyer else self.machine
            context = begin_command(store, self.world, machine, client, step=step, destroys=destroys)
            match verb:
                case "destroy":
                    end = destroy(context, modules, None, Wishes(frozenset()))
                case "adopt":
                    end = adopt(context, modules, "it is there", must_have_state=())
                case _:
                    end = apply(context, modules, None)
            self.ends[what] = end
            return end

        return client, work

    def alone(self, what: str) -> int:
        self.command(what)[1]()
        return self.ends[what].exit_code

    def play(self, whats: list[str], order: list[int], crashes: Mapping[int, int] | None = None) -> None:
        turns = Turns(order)
        clients = dict(self.command(what, turns) for what in whats)
        names = list(clients)
        turns.crashes = {names[number]: step for number, step in (crashes or {}).items() if number < len(names)}
        failed = turns.play(clients)
        self.machine.dead |= set(failed)
        for name, error in failed.items():
            assert isinstance(error, Crash), f"{name}: {error!r}"

    @property
    def ledger(self) -> Ledger:
        """For who only looks."""
        return Ledger(self.store, "shop", "default", writer("looker"), FakeClock(), Ids("99"))

    def written(self, *entries: str) -> Iterator[int]:
        """When entries of logs were written; one that was not: never."""
        tags = {item.key: int(item.tag) for item in self.store.list(f"{ROOT}log/")}
        return (tags.get(f"{ROOT}log/{entry}.json", 1 << 30) for entry in entries)


def sound(scene: Scene) -> None:
    """What holds after whatever has happened."""
    assert scene.world.wrongs == []
    for module in ("vm", "disk", "mount"):
        assert scene.ledger.verify(module) == []
        if scene.ledger.record(module).status in {Status.NONE, Status.DESTROYED}:
            assert scene.world.ids(module) == [], f"{module} is called gone and lives"


def raced(scene: Scene, whats: list[str], order: list[int]) -> None:
    assert scene.alone("apply vm") == 0
    scene.play(whats, order)
    sound(scene)
    scene.destroyer = None
    assert scene.alone("destroy vm disk") == 0
    sound(scene)
    assert scene.world.alive == {}


def steps_of(what: str, until: str = "") -> int:
    """How many steps a command takes when nobody comes between; until it has written a key, where one is named."""
    scene, turns = Scene(), Turns()
    assert scene.alone("apply vm") == 0
    client, work = scene.command(what, turns)
    turns.play({client: work})
    told = [step.replace(ROOT, "") for step in turns.told[client]]
    return told.index(until) + 1 if until else len(told)


@pytest.mark.parametrize("checkout", [FREE, BARE], ids=["the same checkout", "an older checkout"])
def test_nothing_is_torn_down_under_a_module_that_begins_to_need_it(checkout: Stack) -> None:
    ends: set[tuple[int, int]] = set()
    for before in range(steps_of("apply disk")):
        for others in range(steps_of("destroy vm")):
            scene = Scene(destroyer=Machine(checkout))
            raced(scene, ["apply disk", "destroy vm"], [*[0] * before, *[1] * others, *[0] * 100])
            ends.add((scene.ends["apply disk"].exit_code, scene.ends["destroy vm"].exit_code))
    assert ends == {(0, KEPT), (0, CAME_BETWEEN), (CAME_BETWEEN, 0), (WAITS, 0)}


@settings(max_examples=100, deadline=None)
@given(*[st.integers(0, 14)] * 3, st.integers(0, 1))
def test_nor_when_they_interrupt_each_other_again_and_again(first: int, second: int, third: int, who: int) -> None:
    order = [*[who] * first, *[1 - who] * second, *[who] * third, *[1 - who] * 100]
    raced(Scene(), ["apply disk", "destroy vm"], order)


@pytest.mark.parametrize("then", ["apply disk", "destroy vm"])
def test_where_each_sees_the_other_both_give_way_and_whoever_is_first_the_next_time_goes_through(then: str) -> None:
    apply_begun = steps_of("apply disk", "replace head/disk.json")
    planned = steps_of("destroy vm", "create log/vm/00000003.json") - 1
    begun = steps_of("destroy vm", "replace head/vm.json")
    scene = Scene()
    assert scene.alone("apply vm") == 0
    scene.play([*PAIR], [*[1] * planned, *[0] * apply_begun, *[1] * (begun - planned), *[0] * A_LOOK, *[1] * 100])
    assert [scene.ends[what].exit_code for what in PAIR] == [CAME_BETWEEN, CAME_BETWEEN]
    told = [scene.ends[what].modules[what.split()[1]].reason for what in PAIR]
    assert told[0].startswith("nothing ran: vm is being destroyed by run 12")
    assert told[1].startswith("nothing ran: disk is held by apply 11")
    assert scene.alone(then) == 0
    sound(scene)


def test_a_module_is_made_with_what_its_need_has_when_it_begins() -> None:
    """The server is made anew by one run while another one plans its disk."""
    planned_again = 0
    for before in range(steps_of("apply disk")):
        scene = Scene()
        assert scene.alone("apply vm") == 0
        scene.world.alive.clear()  # somebody has deleted the server
        scene.play(["apply disk", "apply vm"], [*[0] * before, *[1] * 100])
        begun, there = scene.written("disk/00000001", "vm/00000004")
        if begun > there:
            sound(scene)
        planned_again += scene.ledger.record("disk").seq > END
    assert planned_again


def test_what_takes_with_it_what_a_module_needs_is_not_torn_down_either() -> None:
    """A mount of a disk that goes with its server: nobody begins to destroy the disk itself."""
    stack = replace(STACK, modules={**STACK.modules, "mount": MOUNT})
    ends, planned = set(), steps_of("apply disk", "create log/disk/00000001.json") - 1
    for others in range(steps_of("destroy vm") + 4):
        scene = Scene(world=World(frozenset({"mount"})), machine=Machine(stack))
        assert scene.alone("apply vm disk") == 0
        scene.play(["apply mount", "destroy vm disk"], [*[0] * planned, *[1] * others, *[0] * 100])
        sound(scene)
        ends.add((scene.ends["apply mount"].exit_code, scene.ends["destroy vm disk"].exit_code))
        assert scene.alone("destroy vm disk mount") == 0
        sound(scene)
    assert {(CAME_BETWEEN, 0), (0, CAME_BETWEEN)} <= ends, ends


VERBS = (
    *("apply disk", "apply vm", "apply vm disk", "adopt vm", "adopt disk"),
    *("destroy vm", "destroy vm disk", "destroy disk"),
)
# Who goes, and for how many steps: a few long turns reach more than many short ones.
some_turns = st.tuples(st.integers(0, 2), st.integers(1, 20)).map(lambda turn: [turn[0]] * turn[1])
orders = st.lists(some_turns, max_size=8).map(lambda parts: [number for part in parts for number in part])


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([(), ("apply vm",), ("apply vm disk",)]),
    st.lists(st.sampled_from(VERBS), min_size=2, max_size=3),
    orders,
    st.dictionaries(st.integers(0, 1), st.integers(1, 40), max_size=1),
)
def test_whoever_acts_at_the_same_time_and_dies_nothing_is_lost_or_torn_down_too_early(
    start: tuple[str, ...], whats: list[str], order: list[int], crashes: dict[int, int]
) -> None:
    scene = Scene()
    for what in start:
        assert scene.alone(what) == 0
    scene.play(whats, order, crashes)
    assert scene.world.wrongs == []
    scene.alone("apply vm disk")
    sound(scene)
    assert scene.alone("destroy vm disk") == 0
    sound(scene)
    assert scene.world.alive == {}
