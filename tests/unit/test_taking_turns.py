"""Commands that are told to wait do so for a module that somebody holds, and go on with what he left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.record import Record
from hybridwrap.errors import ModuleBusy, PreflightRefused
from hybridwrap.run.apply import apply
from hybridwrap.run.context import Context, Options, Patience
from hybridwrap.run.drift import ONLY_LOOK, drift
from hybridwrap.run.rename import prepare_rename
from hybridwrap.run.stop import Stop
from hybridwrap.run.takeover import release_lock, unlock
from tests.support.imaginary import STACK, Machine, World, begin_command
from tests.support.ledgers import FakeClock, begin, ok

BUSY_SECONDS = 5.0
HOLDER = "the other one's operation"


@dataclass
class Eventful(FakeClock):
    """Somebody acts while one waits."""

    event: Callable[[], None] = field(default=lambda: None)

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.seconds >= BUSY_SECONDS:
            self.event()
            self.event = lambda: None


class Scene:
    """`vm` was applied, and is held by somebody else, for five seconds."""

    def __init__(self) -> None:
        self.store, self.world, self.host = MemoryStore(), World(), Machine()
        apply(self.client("10"), ["vm"], None)
        self.other = self.client("20").tools.ledger
        self.held = self.take(self.other)
        self.host.folders.clear()  # of another machine

    def client(self, name: str) -> Context:
        return begin_command(self.store, self.world, self.host, name, step=lambda: None)

    def take(self, ledger: Ledger) -> Record:
        record = ledger.record("vm")
        assert record.state
        intent = replace(begin(), state=record.state, previous_status=record.status)
        return ledger.begin(record, intent, operation=HOLDER)

    def let_go(self) -> None:
        assert self.held.state
        done = replace(ok(), state=self.held.state, outputs=self.held.outputs, objects=self.held.objects)
        self.other.end(self.held, done, operation=HOLDER, entry_id="E2")

    def ours(self, patience: Patience) -> Context:
        context, clock = self.client("30"), Eventful(event=self.let_go)
        options = Options(ONLY_LOOK, parallelism=1, patience=patience)
        tools = replace(context.tools, clock=clock)
        return replace(context, tools=tools, options=options, stop=Stop(clock, lambda **_: 0))


@pytest.fixture
def scene() -> Scene:
    return Scene()


def renamed(context: Context) -> Context:
    """The manifest calls `vm` by another name now."""
    server = replace(STACK.modules["vm"], name="server")
    return replace(context, tools=replace(context.tools, stack=replace(STACK, modules={"server": server})))


PATIENT = Patience(seconds=60, offered=True)
IMPATIENT = Patience(offered=True)
SHORT = Patience(seconds=3, offered=True)


def test_drift_waits_for_its_turn_and_looks_then(scene: Scene) -> None:
    end = drift(scene.ours(PATIENT), ["vm"], lambda _: None)
    assert (end.modules["vm"].result, end.exit_code) == ("unchanged", 0)
    assert end.modules["vm"].waited >= BUSY_SECONDS


@pytest.mark.parametrize("patience", [IMPATIENT, SHORT])
def test_drift_that_may_not_wait_so_long_says_how_to_wait(scene: Scene, patience: Patience) -> None:
    end = drift(scene.ours(patience), ["vm"], lambda _: None).modules["vm"]
    assert (end.result, end.exit_code) == ("busy", 20)
    assert end.hint.startswith("the same command with --wait")


def test_a_rename_waits_until_the_module_is_free(scene: Scene) -> None:
    context = renamed(scene.ours(PATIENT))
    with pytest.raises(PreflightRefused, match="a rename leaves it there"):  # it got as far as that
        prepare_rename(context, "vm", "server", "why")
    assert context.knowledge.record("vm").holder is None


@pytest.mark.parametrize("patience", [IMPATIENT, SHORT])
def test_a_rename_that_may_not_wait_says_how_to_wait(scene: Scene, patience: Patience) -> None:
    with pytest.raises(ModuleBusy) as refused:
        prepare_rename(renamed(scene.ours(patience)), "vm", "server", "why")
    assert refused.value.hint.startswith("the same command with --wait")


def test_what_is_alive_is_not_unlocked_and_nobody_is_told_to_wait_for_that(scene: Scene) -> None:
    context = scene.client("40")
    locks = context.tools.folders.make(HOLDER).lock()
    scene.let_go()
    ledger = scene.client("20").tools.ledger
    record = ledger.record("vm")
    ledger.begin(record, replace(begin(), state=record.state, locks=locks), operation=HOLDER)
    context.knowledge.learn(ledger.record("vm"))
    tries: tuple[Callable[[], object], ...] = (
        lambda: unlock(context, "vm", HOLDER, "I know"),
        lambda: release_lock(context, "vm", "any"),
    )
    for unlock_it in tries:
        with pytest.raises(ModuleBusy, match="vm is not unlocked: held by apply") as refused:
            unlock_it()
        assert refused.value.message.endswith("hybridwrap is at work")
        assert refused.value.hint == "hybridwrap unlock vm    shows whether it is at work still"
