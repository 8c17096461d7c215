"""Results that come to the ledger in a file: only those of operations that it knows are taken."""

from __future__ import annotations

import pytest

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.result import Result
from hybridwrap.run.spool import Packed, Spool, send
from tests.support.imaginary import Machine, World, begin_command
from tests.support.ledgers import begin, ok


@pytest.mark.parametrize(
    ("module", "operation", "left"),
    [
        ("vm", "O1", ""),
        ("vm", "O2", "this ledger knows no operation O2 of it: nothing was written"),
        ("../../vm", "O1", "this ledger knows no operation O1 of it: nothing was written"),
    ],
)
def test_only_the_result_of_an_operation_that_began_is_taken(module: str, operation: str, left: str) -> None:
    context = begin_command(MemoryStore(), World(), Machine(), "01-sync", step=lambda: None)
    ledger = context.tools.ledger
    ledger.begin(ledger.record("vm"), begin(), operation="O1")
    result = Result(module, operation, "E1", ok())
    told = send(context, Spool((Packed(ledger.id, result),)))
    assert told == ({module: left} if left else {})
    assert len(ledger.history(module)) == (2 if not left else module == "vm")
