"""The two records around everything that may change the world.

Keeps: nothing starts before `begin` is stored; what happened after it is in `end`, or safe on this host.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from hybridwrap.domain.codec import encode
from hybridwrap.domain.entry import Begin, End, Locks
from hybridwrap.domain.ports import OperationFolder
from hybridwrap.domain.record import Record
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.result import Result
from hybridwrap.errors import IntentInDoubt
from hybridwrap.run.context import Context


def begin(context: Context, folder: OperationFolder, record: Record, intent: Callable[[Locks], Begin]) -> Record:
    """Lock the operation's files, then take the module. Raise ModuleBusy, SlotTaken, LedgerUnreachable."""
    with ExitStack() as on_failure:
        on_failure.callback(folder.remove)
        try:
            held = context.tools.ledger.begin(record, intent(folder.lock()), operation=folder.operation)
        except IntentInDoubt:
            on_failure.pop_all()  # the folder proves that nothing ran
            folder.drop_secrets()
            raise
        on_failure.pop_all()
    context.knowledge.learn(held)
    return held


def end(context: Context, folder: OperationFolder, held: Record, body: End, mask: Redaction | None) -> None:
    """Keep the result on this host first, then tell the ledger. Raise ResultNotSent, Superseded.

    `mask` takes known secrets out of the logs that stay on this host; None when there are none.
    """
    result = Result(held.module, folder.operation, context.tools.ids.new(), body)
    folder.keep_result(encode(result))
    folder.drop_secrets()
    try:
        if mask:
            folder.rewrite_logs(mask.text)
        record = context.tools.ledger.end(held, body, operation=result.operation, entry_id=result.entry_id)
        folder.drop_result()
    finally:
        folder.release()
    context.knowledge.learn(record)
