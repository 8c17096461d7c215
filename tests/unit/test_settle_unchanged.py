"""What an empty plan proves, and what it does not."""

from __future__ import annotations

from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.run import RunEnd
from hybridwrap.domain.status import Status
from hybridwrap.run.apply import apply
from tests.support.imaginary import Machine, World, begin_command
from tests.support.ledgers import begin, failed

LOST = CloudObject("x_server.of_before", "x", open=True)  # begun, no answer, and not declared any more


def test_an_empty_plan_clears_an_error_only_where_nothing_is_open() -> None:
    store, world, machine = MemoryStore(), World(), Machine()

    def run(client: str) -> RunEnd:
        return apply(begin_command(store, world, machine, client, step=lambda: None), ["vm"], None)

    def fail(client: str, *objects: CloudObject) -> None:
        ledger = begin_command(store, world, machine, client, step=lambda: None).tools.ledger
        before = ledger.record("vm")
        held = ledger.begin(before, replace(begin(), state=before.state), operation=f"{client}O")
        end = replace(failed(), state=before.state, objects=(*before.objects, *objects))
        ledger.end(held, end, operation=f"{client}O", entry_id=f"{client}E")

    assert run("10").modules["vm"].result == "ok"
    fail("11")
    assert run("12").modules["vm"].result == "unchanged"
    fail("13", LOST)
    end = run("14")
    assert (end.modules["vm"].result, end.exit_code) == ("unknown", 32)
    assert "x_server.of_before" in end.modules["vm"].reason
    context = begin_command(store, world, machine, "15", step=lambda: None)
    assert context.knowledge.record("vm").status is Status.ERROR
