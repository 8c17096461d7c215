"""The look after `begin`, where it can't be taken; and what is known of a need that somebody else has changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.ports import Listed
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import Reference
from hybridwrap.domain.state import EngineState, StateOutput
from hybridwrap.domain.status import Status
from hybridwrap.errors import LedgerDamaged, LedgerUnreachable
from hybridwrap.run.apply import apply
from hybridwrap.run.context import Context
from hybridwrap.run.knowledge import Knowledge
from tests.support.imaginary import MOUNT, STACK, Machine, World, begin_command


class Failing(MemoryStore):
    """Fails when the head of one module is looked for."""

    error: LedgerUnreachable | LedgerDamaged | None = None

    def list(self, prefix: str, **more: Any) -> Iterator[Listed]:
        if self.error and prefix.endswith("head/vm.json"):
            raise self.error
        return super().list(prefix, **more)


@pytest.mark.parametrize("error", [LedgerUnreachable("no answer"), LedgerDamaged("vm entry 2: missing")])
def test_a_need_that_can_t_be_looked_at_again_is_none_to_build_on(error: LedgerUnreachable | LedgerDamaged) -> None:
    store, world, machine = Failing(), World(), Machine()

    def command(client: str) -> Context:
        return begin_command(store, world, machine, client, step=lambda: None)

    assert apply(command("10"), ["vm"], None).exit_code == 0
    store.error = error
    end = apply(command("11"), ["disk"], None)
    store.error = None
    assert end.exit_code == error.exit_code
    assert end.modules["disk"].reason == f"nothing ran: {error.message}"
    assert world.ids("disk") == []
    record = command("12").tools.ledger.record("disk")
    assert (record.status, record.seq) == (Status.NONE, 2), "it was begun, and ended"
    assert apply(command("13"), ["disk"], None).exit_code == 0


def test_what_went_with_an_owner_is_not_built_on_before_the_ledger_says_so() -> None:
    store, world = MemoryStore(), World()
    machine = Machine(replace(STACK, modules={**STACK.modules, "mount": MOUNT}))
    assert apply(begin_command(store, world, machine, "10", step=lambda: None), ["vm", "disk"], None).exit_code == 0
    context = begin_command(store, world, machine, "11", step=lambda: None)
    vm = context.knowledge.record("vm")
    context.knowledge.learn(replace(vm, status=Status.DESTROYED, settled=Status.DESTROYED))
    end = apply(context, ["mount"], None).modules["mount"]
    assert (end.exit_code, end.reason) == (
        10,
        "waits for disk: that is gone with its owner vm, which could not be recorded yet",
    )


def test_a_secret_of_a_module_that_somebody_else_has_changed_is_read_again_and_still_hidden() -> None:
    knowledge = Knowledge({})
    for name, value in (("db", "old"), ("mail", "other")):
        state = EngineState("of it", 1, outputs={"password": StateOutput(value, "string", sensitive=True)})
        knowledge.learn_secrets(name, state)
    knowledge.learn_anew(Record("db", seq=4))
    with pytest.raises(KeyError):
        knowledge.secret(Reference("db", "password"))
    assert knowledge.secret(Reference("mail", "password")) == "other"
    assert sorted(map(str, knowledge.secret_values)) == ["old", "other"]
    assert knowledge.record("db").seq == 4
