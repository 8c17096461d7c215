"""The last step of a destroy: look whether the module is gone, before anybody may call it destroyed."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from hybridwrap.domain.absence import Answer, Case, Finding, Probe, find, what_is_left, with_word
from hybridwrap.domain.entry import CloudObject, Confirm, End, StateMark
from hybridwrap.domain.evidence import Absence
from hybridwrap.domain.failure_kinds import kind_of
from hybridwrap.domain.record import Record
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.stack import Module
from hybridwrap.domain.status import Outcome
from hybridwrap.domain.verdict import gone
from hybridwrap.errors import LedgerUnreachable, Superseded
from hybridwrap.run.context import Context

APART_SECONDS = 5.0  # between two looks, so that what was under way can come to light


def concluded(context: Context, module: Module, held: Record, body: End, engine: Absence, mask: Redaction) -> End:
    """Say how a destroy ended whose engine has said so in `body`, in which secrets are masked already."""
    match body.outcome:
        case Outcome.FAILED | Outcome.INTERRUPTED:
            return replace(body, reason=_half_done(held, body))
        case Outcome.SUCCEEDED:
            found = _looked_for(context, module, held, body, engine)
            return replace(
                body,
                status=found.status,
                reason=mask.text(found.reason),
                objects=found.objects,
                evidence=(*body.evidence, *map(mask.text, found.evidence)),
            )
    return body


def _looked_for(context: Context, module: Module, held: Record, body: End, engine: Absence) -> Finding:
    if body.state is None:
        raise AssertionError(f"{module.name}: an operation has begun on some state")
    case = Case(engine, body.state, held.objects, body.objects, held.doubted)
    if case.rounds and module.verify.asks:
        _confirm(context, held, case.state)
        context.watch.phase(module.name, "verify")
    return look_for(context, module, case)


def look_for(context: Context, module: Module, case: Case, word: Probe | None = None) -> Finding:
    """Ask those whom the manifest names as often as the case asks for, and weigh what is known.

    `word` is that of somebody who has looked, and stands for all who could not.
    """
    rounds: list[tuple[Probe, ...]] = []
    for turn in range(case.rounds if module.verify.asks else 0):
        if context.stop.wanted or (turn and not context.stop.wait(APART_SECONDS)):
            rounds.append((Probe("verify", Answer.UNVERIFIABLE, detail=f"not asked: {context.stop.reason}"),))
            break
        rounds.append(context.tools.prober.ask(module, (*case.known, *_new_in(case))))
    return find(case, [with_word(asked, word) for asked in rounds or [()] * case.rounds] if word else rounds)


def unproven(context: Context, module: Module) -> str:
    """What to type where an engine says that all is destroyed, and nobody has seen that."""
    named = context.tools.stack.named(module.name)
    return f"hybridwrap verify {named}" if module.verify.asks else gone(named)


def _new_in(case: Case) -> tuple[CloudObject, ...]:
    return tuple(o for o in case.left if (o.address, o.id) not in {(k.address, k.id) for k in case.known})


def _confirm(context: Context, held: Record, state: StateMark) -> None:
    """Say in the ledger that the engine ended well and that probes follow; where it can't be told, `end` says it."""
    if held.holder is None:
        raise AssertionError(f"{held.module} is free")
    with suppress(Superseded, LedgerUnreachable):
        context.tools.ledger.confirm(held, Confirm(state), operation=held.holder.operation)


def _half_done(held: Record, body: End) -> str:
    """What a failed destroy left, and why, with the kind of the failure where that says what to do."""
    there = [o for o in body.objects if not o.retained]
    kind = kind_of(body.errors)
    why = f"{body.reason} ({kind})" if kind else body.reason
    known = {(o.address, o.id) for o in (*held.objects, *body.objects)}
    return f"{what_is_left(there, len(known))}: {why}" if there else why
