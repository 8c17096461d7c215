"""The two records around everything that may change the world.

Keeps: nothing starts before `begin` is stored; what happened after it is in `end`, or safe on this host.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from hybridwrap.domain.codec import encode
from hybridwrap.domain.entry import Begin, End, Locks, Takeover
from hybridwrap.domain.left_behind import Claim
from hybridwrap.domain.ports import OperationFolder
from hybridwrap.domain.record import Record
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.result import Result
from hybridwrap.errors import IntentInDoubt, NothingHappened, Superseded
from hybridwrap.run.context import Context
from hybridwrap.run.masking import withheld


def begin(context: Context, folder: OperationFolder, record: Record, intent: Callable[[Locks], Begin]) -> Record:
    """Lock the operation's files, then take the module. Raise ModuleBusy, SlotTaken, LedgerUnreachable."""
    ledger = context.tools.ledger
    claim = Claim(ledger.id, record.module, record.seq + 1, whole=not context.options.plan.targets)
    try:
        locks = folder.lock()
        folder.keep_claim(encode(claim))
        held = ledger.begin(record, intent(locks), operation=folder.operation)
    except IntentInDoubt:
        folder.drop_secrets()  # the rest stays: it proves that nothing ran
        raise
    except NothingHappened:
        folder.remove()
        raise
    context.knowledge.learn(held)
    return held


def take_over(context: Context, folder: OperationFolder, record: Record, reason: str) -> Record:
    """Take a module from an operation that somebody says is dead. Raise as `begin` does."""
    ledger = context.tools.ledger
    try:
        body = Takeover(context.run, reason, folder.lock())
        folder.keep_claim(encode(Claim(ledger.id, record.module, record.seq + 1)))
        held = ledger.takeover(record, body, operation=folder.operation)
    except IntentInDoubt:
        raise  # it may be recorded: then its folder is needed
    except NothingHappened:
        folder.remove()
        raise
    context.knowledge.learn(held)
    return held


def end(context: Context, folder: OperationFolder, held: Record, body: End, mask: Redaction | None) -> None:
    """Keep the result on this host first, then tell the ledger. Raise ResultNotSent, Superseded.

    `mask` takes known secrets out of the outputs, and of the logs that stay on this host; None when there are none.
    """
    body = replace(body, outputs=withheld(mask, body.outputs)) if mask else body
    result = Result(held.module, folder.operation, context.tools.ids.new(), body)
    folder.keep_result(encode(result))
    send(context, folder, held, result, mask)


def send(context: Context, folder: OperationFolder, held: Record, result: Result, mask: Redaction | None) -> None:
    """Tell the ledger a result that was kept; again and again is harmless. Raise ResultNotSent, Superseded."""
    try:
        folder.drop_secrets()  # first: what follows needs room
        if mask:
            folder.rewrite_logs(mask.text)
        try:
            record = context.tools.ledger.end(held, result.end, operation=result.operation, entry_id=result.entry_id)
        except Superseded:
            folder.close_business()  # it is kept as late evidence
            raise
        folder.close_business()
    finally:
        folder.release()
    context.knowledge.learn(record)
