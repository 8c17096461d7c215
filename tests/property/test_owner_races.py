"""Owners and what goes with them, in every order in which two or three commands can act, and die: by whole runs.

A server and its disk, in a world that exists in memory only; the ledger, the walk and the operations are the real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.entry import Begin, End, Observe, OwnerEnd
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.status import Status
from hybridwrap.run.apply import apply
from hybridwrap.run.destroy import destroy
from hybridwrap.run.left_alone import Wishes
from tests.support.imaginary import STACK, Machine, World, begin_command
from tests.support.ledgers import FakeClock, Ids, writer
from tests.support.turns import Crash, InTurn, Turns

BOTH = ("vm", "disk")


@dataclass
class Scene:
    """One stack, one cloud and one host, as everybody finds them."""

    store: MemoryStore = field(default_factory=MemoryStore)
    world: World = field(default_factory=World)
    machine: Machine = field(default_factory=Machine)
    commands: int = 10

    def command(self, what: str, turns: Turns | None = None) -> tuple[str, Callable[[], int]]:
        """A client, and what it does: `apply disk`, `destroy vm disk`; without turns it is alone."""
        client, (verb, *modules) = f"{self.commands} {what}", what.split()
        self.commands += 1

        def step() -> None:
            if turns:
                turns.step(client)

        store = InTurn(self.store, client, turns) if turns else self.store

        def work() -> int:
            destroys = verb == "destroy"
            context = begin_command(store, self.world, self.machine, client, step=step, destroys=destroys)
            if not destroys:
                return apply(context, modules, None).exit_code
            alone = frozenset(modules) if len(modules) == 1 else frozenset[str]()
            return destroy(context, modules, None, Wishes(alone)).exit_code

        return client, work

    def alone(self, what: str) -> int:
        return self.command(what)[1]()

    @property
    def ledger(self) -> Ledger:
        """For who only looks."""
        return Ledger(self.store, "shop", "default", writer("looker"), FakeClock(), Ids("99"))


def sound(scene: Scene) -> None:
    """What holds after whatever has happened."""
    assert scene.world.wrongs == []
    for module in BOTH:
        assert scene.ledger.verify(module) == []
        if scene.ledger.record(module).status in {Status.NONE, Status.DESTROYED}:
            assert scene.world.ids(module) == [], f"{module} is called gone and lives"
    cites_its_owner(scene)


def cites_its_owner(scene: Scene) -> None:
    """Whenever the disk went with its owner, that is shown by the end of the life that it was made in."""
    owner_log, life = scene.ledger.history("vm"), ""
    for entry in scene.ledger.history("disk"):
        match entry.body:
            case Begin(command="apply", owner_incarnation=owner):
                life = owner
            case Observe(status=Status.DESTROYED, owner_end=OwnerEnd() as cited):
                end = owner_log[cited.seq - 1]
                assert isinstance(end.body, Observe | End)
                assert (end.body.status, end.incarnation, cited.incarnation) == (Status.DESTROYED, life, life)
                raw = scene.store.read(f"v1/shop/default/log/vm/{cited.seq:08}.json")
                assert raw is not None
                assert digest_of(raw) == cited.digest


def play(scene: Scene, whats: list[str], order: list[int], crashes: dict[int, int] | None = None) -> None:
    turns = Turns(order)
    clients = dict(scene.command(what, turns) for what in whats)
    names = list(clients)
    turns.crashes = {names[number]: step for number, step in (crashes or {}).items() if number < len(names)}
    failed = turns.play(clients)
    scene.machine.dead |= {name for name, error in failed.items() if isinstance(error, Crash)}
    for name, error in failed.items():
        assert isinstance(error, Crash), f"{name}: {error!r}"


commands = st.sampled_from(["apply disk", "apply vm disk", "destroy vm disk", "destroy vm", "destroy disk", "apply vm"])
deaths = st.dictionaries(st.integers(0, 1), st.integers(1, 60))  # client -> before which of its steps
# Who goes, and for how many steps: a few long turns reach more than many short ones.
turns = st.tuples(st.integers(0, 2), st.integers(1, 30)).map(lambda turn: [turn[0]] * turn[1])
orders = st.lists(turns, max_size=8).map(lambda parts: [number for part in parts for number in part])
starts = st.sampled_from([("apply vm",), ("apply vm disk",), ("apply vm disk", "destroy vm disk"), ()])


PAIR = ("apply disk", "destroy vm disk")
STEPS = (12, 23)  # that they take when nobody comes between


def raced(order: list[int]) -> None:
    """Let a first apply of the disk and the teardown of its owner run into each other."""
    scene = Scene()
    assert scene.alone("apply vm") == 0
    play(scene, list(PAIR), order)
    sound(scene)
    assert scene.alone("destroy vm disk") == 0
    sound(scene)
    assert scene.world.alive == {}


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("after", range(STEPS[0]))
def test_a_module_and_the_teardown_of_its_owner_may_interrupt_each_other_anywhere(first: int, after: int) -> None:
    for others in range(STEPS[1]):
        turns = {0: [0] * after, 1: [1] * others}
        raced([*turns[first], *turns[1 - first], *[first] * 100])


def test_a_teardown_sees_what_came_to_need_its_module_while_it_was_planned() -> None:
    free = {**STACK.modules, "disk": replace(STACK.modules["disk"], owner="")}
    came_between = 0
    for others in range(STEPS[1]):
        scene = Scene(machine=Machine(replace(STACK, modules=free)))
        assert scene.alone("apply vm") == 0
        play(scene, list(PAIR), [*[1] * others, *[0] * 100])
        log = sorted(scene.store.list("v1/shop/default/log/"), key=lambda item: int(item.tag))  # as they were written
        end, begin = (f"v1/shop/default/log/{entry}.json" for entry in ("disk/00000002", "vm/00000003"))
        keys = [item.key for item in log]
        if end in keys and begin in keys and keys.index(end) < keys.index(begin):
            stands = [scene.ledger.record(module).settled for module in BOTH]
            assert stands in ([Status.OK] * 2, [Status.DESTROYED] * 2), f"after {others} steps"
            came_between += stands == [Status.OK] * 2
    assert came_between


@settings(max_examples=200, deadline=None)
@given(*[st.integers(0, STEPS[1])] * 3, st.integers(0, 1))
def test_they_may_do_so_again_and_again(first: int, second: int, third: int, who: int) -> None:
    raced([*[who] * first, *[1 - who] * second, *[who] * third, *[1 - who] * 100])


@settings(max_examples=150, deadline=None)
@given(starts, st.lists(commands, min_size=2, max_size=3), orders)
def test_no_interleaving_lets_an_owner_go_without_knowing_of_its_module(
    start: tuple[str, ...], whats: list[str], order: list[int]
) -> None:
    scene = Scene()
    for what in start:
        assert scene.alone(what) == 0
    play(scene, whats, order)
    sound(scene)
    assert scene.alone("destroy vm disk") == 0
    sound(scene)
    assert scene.world.alive == {}


@settings(max_examples=150, deadline=None)
@given(starts, st.lists(commands, min_size=1, max_size=2), orders, deaths)
def test_whoever_dies_the_next_command_goes_on_from_there(
    start: tuple[str, ...], whats: list[str], order: list[int], crashes: dict[int, int]
) -> None:
    scene = Scene()
    for what in start:
        assert scene.alone(what) == 0
    play(scene, whats, order, crashes)
    assert scene.world.wrongs == []
    for module in BOTH:
        if scene.ledger.record(module).status is Status.DESTROYED:
            assert scene.world.ids(module) == []
    scene.alone("apply vm disk")
    sound(scene)
    assert scene.alone("destroy vm disk") == 0
    sound(scene)
    assert scene.world.alive == {}
