"""An operator's word about what only a person can find out, kept with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hybridwrap.domain.entry import Observe
from hybridwrap.domain.open_objects import completed, without
from hybridwrap.domain.partial import outputs_after
from hybridwrap.domain.state import Unreadable
from hybridwrap.domain.status import Status
from hybridwrap.domain.verdict import judge
from hybridwrap.errors import OutcomeUnknown, PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.looking import Seen, look_at
from hybridwrap.run.masking import mask_for, withheld
from hybridwrap.run.rescue import UNSAVED
from hybridwrap.run.verdicts import record_if_certain


class Word(Struct, frozen=True):
    """Which open objects do not exist, which unfinished ones are as they should be, and how the operator knows."""

    absent: Sequence[str] = ()
    absent_all: bool = False  # none exists of those that have no id, or could not be imported
    complete: Sequence[str] = ()
    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.absent or self.absent_all or self.complete)


def take_word(context: Context, seen: Seen, word: Word) -> None:
    """Record an operator's word about open objects. Raise UsageError for what names none, and as `observe` does."""
    objects = completed(without(seen.objects, word.absent), word.complete)
    tried = seen.look.not_imported
    unanswered = [o for o in objects if word.absent_all and o.open and (not o.id or o.address in tried)]
    if word.absent_all and not unanswered:
        raise PreflightRefused(
            f"{seen.look.module}: nothing is open that has no id, or could not be imported", hint=judge(seen.look).next
        )
    said = [f"{name} does not exist" for name in (*word.absent, *(o.address for o in unanswered))]
    said += [f"{name} is complete" for name in word.complete]
    user = context.tools.ledger.writer.user
    body = Observe(
        run=context.run,
        reason=word.reason,
        objects=tuple(o for o in objects if o not in unanswered),
        evidence=tuple(f"{user} says: {text} ({word.reason})" for text in said),
    )
    context.knowledge.learn(context.tools.ledger.observe(seen.look.record, body))


def accept_state(context: Context, seen: Seen, reason: str) -> None:
    """Take the state in its place for the right one although it is not the recorded one, by an operator's word.

    What is known and not in it is open then. Raise PreflightRefused where there is nothing to accept.
    """
    look = seen.look
    comparison = look.comparison
    if comparison is None or isinstance(look.found, Unreadable):
        why = look.obstacle if comparison is None else "what lies in its place is no state"
        raise PreflightRefused(f"{look.module}: its state can't be accepted: {why}", hint=judge(look).next)
    if comparison.safe:
        raise PreflightRefused(
            f"{look.module}: its state is the recorded one, or follows it: there is nothing to accept",
            hint=judge(look).next,
        )
    record, user = look.record, context.tools.ledger.writer.user
    outputs = outputs_after(
        succeeded=False,
        declared=(),
        output_changes={},
        before=record.outputs,
        state_before=None,
        state_after=look.state,
    )
    told = f"serial {comparison.found.serial}" if comparison.found.lineage else "no state"
    body = Observe(
        run=context.run,
        reason=f"{comparison}, and was accepted so: {reason}",
        status=Status.UNKNOWN if record.status is Status.UNKNOWN else Status.ERROR,
        state=comparison.found,
        outputs=withheld(mask_for(context, look.module, look.state), outputs),
        objects=seen.objects,
        evidence=(f"{user} says: {told} at {comparison.found.place} is right ({reason})",),
    )
    context.knowledge.learn(context.tools.ledger.observe(record, body))


def give_up_kept(context: Context, seen: Seen, reason: str) -> None:
    """Take the state in its place for the right one, by an operator's word; a copy of the other stays on this host.

    Raise OutcomeUnknown when even then it is not certain how the module stands.
    """
    look, kept = seen.look, seen.kept
    if kept is None or seen.engine is None:
        raise PreflightRefused(f"{look.module}: there is no state that could not be saved", hint=judge(look).next)
    if not (look.record.kept and kept.at == look.record.kept.path):
        folder = context.tools.folders.make(context.tools.ids.new())
        folder.keep(UNSAVED, kept.data)
        folder.release()
    seen.engine.repair.forget_unsaved_state(kept.data)
    again = look_at(context, look.module, with_kept=False)
    if not record_if_certain(context, again, reason=reason):
        raise OutcomeUnknown(
            f"{look.module}: also with the state that is in place it is not certain how it stands",
            hint=judge(again.look).next,
        )
