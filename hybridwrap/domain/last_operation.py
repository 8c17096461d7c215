"""The last operation on a module, by its entries: what it set out from, and whether it touched anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from hybridwrap.domain.entry import Begin, End, Entry, StateMark
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.status import Status


class LastOperation(Struct, frozen=True):
    before: StateMark  # the state that it was planned on
    status: Status  # before it
    outputs: Mapping[str, Output]
    untouched: bool  # its events were read to their end, and no object was begun in them


def last_operation(entries: Iterable[Entry], operation: str) -> LastOperation | None:
    """Find an operation by its id; None when it did not begin and end."""
    own = {type(entry.body): entry for entry in entries if entry.operation == operation}
    begin, end = own.get(Begin), own.get(End)
    if begin is None or end is None or not isinstance(begin.body, Begin) or not isinstance(end.body, End):
        return None
    # without a log nobody read its events; after a restart of the host their end may be missing
    told = bool(end.body.log) and begin.writer.boot == end.writer.boot
    return LastOperation(
        before=begin.body.state,
        status=begin.body.previous_status,
        outputs=begin.body.previous_outputs,
        untouched=told and not end.body.steps,
    )
