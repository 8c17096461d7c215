"""What became of a module, by all that was seen of it: one verdict, and one command that is safe to type next.

Keeps: a verdict is certain only where nothing is open; the command that is named does no harm to who types it without
reading: what a person has to find out first is a placeholder in it, and refused as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from shlex import quote
from typing import Final

from msgspec import Struct

from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.guard import Match
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.look import Look
from hybridwrap.domain.rescue import Fit
from hybridwrap.domain.status import Status

ID: Final = "ID"
REASON: Final = "how you know"


class Verdict(StrEnum):
    APPLIED = "applied"
    PARTLY_APPLIED = "partly_applied"
    NOT_BEGUN = "not_begun"
    DESTROYED = "destroyed"
    UNKNOWN = "unknown"


class Judgement(Struct, frozen=True):
    """`certain`: it may be recorded, as nothing that it rests on is guessed."""

    verdict: Verdict
    next: str
    certain: bool = False


class Row(Struct, frozen=True):
    name: str
    holds: Callable[[Look], bool]
    verdict: Verdict | None  # None: what is recorded stands
    next: Callable[[Look], str]  # what comes after `hybridwrap `
    certain: bool = False


def judge(look: Look) -> Judgement:
    """Judge by the first row that holds."""
    row = next(row for row in ROWS if row.holds(look))
    return Judgement(row.verdict or _recorded(look), f"hybridwrap {row.next(look)}", row.certain)


def _recorded(look: Look) -> Verdict:
    match look.record.status:
        case Status.OK | Status.RETAINED:
            return Verdict.APPLIED
        case Status.ERROR:
            return Verdict.PARTLY_APPLIED
        case _:
            return Verdict.UNKNOWN


def _on(command: str) -> Callable[[Look], str]:
    """The command with the module's name in the place of its braces."""
    return lambda look: command.format(quote(look.module))


def _with_id(look: Look) -> str:
    return f"reconcile {quote(look.module)} --import --id {quote(f'{look.open.unanswered[0].address}={ID}')}"


def absent(module: str, o: CloudObject) -> str:
    """The command by which an operator says that an open object does not exist."""
    name = f"{o.address}={o.id}" if o.id else o.address
    return f"hybridwrap reconcile {quote(module)} --absent {quote(name)} --reason {quote(REASON)}"


def _is_absent(look: Look) -> str:
    return absent(look.module, (*look.open.displaced, *look.open.strays)[0]).removeprefix("hybridwrap ")


def _is_complete(look: Look) -> str:
    return (
        f"reconcile {quote(look.module)} --complete {quote(look.open.unfinished[0].address)} --reason {quote(REASON)}"
    )


def _held(look: Look) -> str:
    match look.liveness:
        case Liveness.DEAD:
            return "sync"
        case Liveness.NOT_VISIBLE:
            return f"unlock {quote(look.module)}"  # shows who it is, and asks for the word that a takeover needs
        case _:
            return "status"


def _hinted(look: Look) -> str:
    hint = look.obstacle_hint.removeprefix("hybridwrap ")
    return hint if hint != look.obstacle_hint else f"plan {quote(look.module)}"


def _once_applied(look: Look) -> str:
    same = look.comparison is not None and look.comparison.match is Match.SAME
    quiet = look.record.status is Status.OK and same and look.plan is not None and not look.plan.changes
    return f"{'plan' if quiet else 'apply'} {quote(look.module)}"


def _unlock_first(look: Look) -> bool:
    return look.lock is not None and look.lock.holds and not look.lock_is_ours


def _is(*statuses: Status) -> Callable[[Look], bool]:
    return lambda look: look.record.status in statuses


def _fits(look: Look) -> bool:
    return look.kept is not None and (look.kept.safe or look.kept.fit is Fit.SAVED)


_APPLY: Final = _on("apply {}")
_PUSH: Final = _on("reconcile {} --push-state")
_IMPORT: Final = _on("reconcile {} --import")
_RECORD: Final = _on("reconcile {} --apply-verdicts")

ROWS: Final = (
    Row("unsent", lambda k: k.unsent, None, _on("sync")),
    Row("held", lambda k: k.record.holder is not None, Verdict.UNKNOWN, _held),
    Row("destroyed", _is(Status.DESTROYED), Verdict.DESTROYED, _on("status")),
    Row("not seen", lambda k: k.comparison is None, None, _hinted),
    Row("foreign lock", _unlock_first, None, _on("unlock {}")),
    Row("kept", _fits, Verdict.PARTLY_APPLIED, _PUSH),
    Row("forked", lambda k: bool(k.kept and k.open.importable), Verdict.UNKNOWN, _IMPORT),
    Row(
        "another state",
        lambda k: not (k.comparison and k.comparison.safe) and not k.lost,
        Verdict.UNKNOWN,
        _on("render {}"),
    ),
    Row("not recorded", lambda k: _is(Status.NONE)(k) and k.holds_objects, Verdict.UNKNOWN, _on("adopt {}")),
    Row("none", _is(Status.NONE), Verdict.NOT_BEGUN, _APPLY),
    Row("to import", lambda k: bool(k.open.importable), Verdict.PARTLY_APPLIED, _IMPORT),
    Row("unanswered", lambda k: bool(k.open.unanswered), Verdict.UNKNOWN, _with_id),
    Row("displaced", lambda k: bool(k.open.displaced or k.open.strays), Verdict.UNKNOWN, _is_absent),
    Row("unfinished", lambda k: bool(k.open.unfinished), Verdict.UNKNOWN, _is_complete),
    Row(
        "still forked",
        lambda k: k.kept is not None,
        Verdict.UNKNOWN,
        _on(f"reconcile {{}} --drop-state --reason {quote(REASON)}"),
    ),
    Row("retained", _is(Status.RETAINED), Verdict.APPLIED, _on("adopt {}")),
    Row(
        "destroy under way",
        lambda k: k.record.command == "destroy" and k.holds_objects,
        Verdict.PARTLY_APPLIED,
        _on("destroy {}"),
    ),
    Row("destroy done", lambda k: k.record.command == "destroy", Verdict.DESTROYED, _on("destroy {}")),
    Row("no plan", lambda k: k.plan is None, None, _hinted),
    Row("all is applied", lambda k: not (k.plan and k.plan.changes), Verdict.APPLIED, _once_applied, certain=True),
    Row(
        "nothing begun",
        lambda k: k.nothing_begun and k.record.status is Status.UNKNOWN,
        Verdict.NOT_BEGUN,
        _APPLY,
        certain=True,
    ),
    Row("ok", _is(Status.OK), Verdict.APPLIED, _APPLY),
    Row("the rest is known", _is(Status.UNKNOWN), Verdict.PARTLY_APPLIED, _RECORD, certain=True),
    Row("failed", lambda _: True, Verdict.PARTLY_APPLIED, _APPLY),
)
