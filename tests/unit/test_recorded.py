"""The two documents of a run."""

from __future__ import annotations

import pytest

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.run import ModuleEnd, PendingModule, RunEnd, RunStart
from hybridwrap.errors import ModuleBusy
from hybridwrap.run.apply import apply
from hybridwrap.run.engine_command import run_changing
from tests.support.imaginary import Machine, World, begin_command
from tests.support.ledgers import begin, writer

TIME = "2025-12-31T00:00:00.000Z"


def test_what_earlier_runs_left_pending_is_carried_forward_until_a_run_takes_it_up() -> None:
    store, world, machine = MemoryStore(), World(), Machine()

    def run(client: str, *modules: str) -> RunStart:
        context = begin_command(store, world, machine, client, step=lambda: None)
        assert apply(context, list(modules), None).exit_code == 0
        return context.tools.ledger.run(context.run).start

    ledger = begin_command(store, world, machine, "10", step=lambda: None).tools.ledger
    first = f"10{'R':0>24}"
    ledger.start_run(RunStart(first, "apply", TIME, writer(), ("apply",), ("vm", "disk"), {"vm": (), "disk": ("vm",)}))
    left = ModuleEnd("pending", reason="waits for vm.id", waits_for="vm.id")
    ledger.end_run(RunEnd(first, TIME, 4, {"vm": ModuleEnd("error", 4), "disk": left}))

    assert run("11", "vm").carried == {"disk": PendingModule("waits for vm.id", "vm.id", first)}
    assert set(run("12", "vm").carried) == {"disk"}
    assert run("13", "disk").carried == {}
    assert run("14", "vm").carried == {}


def test_a_command_of_the_engine_that_finds_its_module_busy_ends_its_run_all_the_same() -> None:
    store = MemoryStore()
    other = begin_command(store, World(), Machine(), "10", step=lambda: None).tools.ledger
    other.begin(other.record("vm"), begin(), operation="01OPERATION")
    context = begin_command(store, World(), Machine(), "11", step=lambda: None)
    with pytest.raises(ModuleBusy):
        run_changing(context, "vm", ("state", "rm", "x_server.it"))
    end = other.run(context.run).end
    assert end
    assert (end.exit_code, end.modules["vm"].result) == (20, "busy")
