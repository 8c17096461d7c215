"""What became of a module, by all that was seen of it: one verdict, and one command that is safe to type next.

Keeps: a verdict is certain only where nothing is open; the command that is named does no harm to who types it without
reading: what a person has to find out first is a placeholder in it, and refused as it stands.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from enum import StrEnum
from shlex import quote
from typing import Final

from msgspec import Struct

from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.guard import Match, compare
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.look import Look
from hybridwrap.domain.rescue import Fit
from hybridwrap.domain.state import StatePlace, Unreadable
from hybridwrap.domain.status import Outcome, Status

ID: Final = "ID"
REASON: Final = "how you know"
_OF_DECLARED: Final = frozenset({"apply", "plan", "adopt"})


class Verdict(StrEnum):
    APPLIED = "applied"
    PARTLY_APPLIED = "partly_applied"
    NOT_BEGUN = "not_begun"
    DESTROYED = "destroyed"
    UNKNOWN = "unknown"

    @property
    def in_words(self) -> str:
        """For people: the value itself is for programs."""
        return self.value.replace("_", " ")


class Judgement(Struct, frozen=True):
    """`certain`: it may be recorded, as nothing that it rests on is guessed."""

    verdict: Verdict
    next: str
    certain: bool = False


class Row(Struct, frozen=True):
    name: str
    holds: Callable[[Look], bool]
    verdict: Verdict | None  # None: what is recorded stands
    next: Callable[[Look], str]
    certain: bool = False


def judge(look: Look) -> Judgement:
    """Judge by the first row that holds."""
    row = next(row for row in ROWS if row.holds(look))
    return Judgement(row.verdict or _recorded(look), row.next(look), row.certain)


def _recorded(look: Look) -> Verdict:
    match look.record.status:
        case Status.OK | Status.RETAINED:
            return Verdict.APPLIED
        case Status.ERROR:
            return Verdict.PARTLY_APPLIED
        case _:
            return Verdict.UNKNOWN


def _on(command: str) -> Callable[[Look], str]:
    """The command of ours with the module's name in the place of its braces."""
    return lambda look: _typed(command, look)


def _of_source(command: str, without: str) -> Callable[[Look], str]:
    """A command that needs the module's folder, and another one where that is gone."""
    return lambda look: _typed(without if look.source_gone else command, look)


def _typed(command: str, look: Look) -> str:
    """What the manifest declares no more can only be torn down."""
    verb, name = command.partition(" ")[0], quote(look.module)
    if look.orphan and verb in _OF_DECLARED:
        command = "destroy {}"
    if look.orphan and verb in {*_OF_DECLARED, "destroy", "verify"}:
        name = f"--orphan {name}"
    return f"hybridwrap {command.format(name)}"


def _with_id(look: Look) -> str:
    named = quote(f"{look.open.unanswered[0].address}={ID}")
    return f"hybridwrap reconcile {quote(look.module)} --import --id {named}"


def absent(module: str, o: CloudObject) -> str:
    """The command by which an operator says that an open object does not exist."""
    name = f"{o.address}={o.id}" if o.id else o.address
    return f"hybridwrap reconcile {quote(module)} --absent {quote(name)} --reason {quote(REASON)}"


def _is_absent(look: Look) -> str:
    return absent(look.module, (*look.open.displaced, *look.open.strays)[0])


def _was_not_there(look: Look) -> str:
    missing = (*look.open.importable, *look.open.unanswered)
    if len(missing) > 1 and look.open.importable:
        return f"hybridwrap reconcile {quote(look.module)} --absent-all --reason {quote(REASON)}"
    return absent(look.module, missing[0])


def _is_complete(look: Look) -> str:
    address = quote(look.open.unfinished[0].address)
    return f"hybridwrap reconcile {quote(look.module)} --complete {address} --reason {quote(REASON)}"


def accepting(module: str) -> str:
    """The command by which an operator says that the state in its place is the right one."""
    return f"hybridwrap reconcile {quote(module)} --accept-state --reason {quote(REASON)}"


def gone(named: str) -> str:
    """The command by which an operator says that nothing of a module is there that its engine has destroyed."""
    return f"hybridwrap verify {named} --gone --reason {quote(REASON)}"


def _set_aside(look: Look) -> str:
    """Take what is no state out of the way: only its owner can tell whether that is right."""
    place = look.comparison.found.place if look.comparison else None
    match place:
        case StatePlace("local", path):
            return shlex.join(["mv", path, f"{path}.damaged"])
        case StatePlace("s3", path, bucket):
            return shlex.join(["aws", "s3", "mv", f"s3://{bucket}/{path}", f"s3://{bucket}/{path}.damaged"])
    return f"hybridwrap commands {quote(look.module)}"


def _moved(look: Look) -> str:
    """The state has to be at the new place before anybody can vouch for it: moving it is not ours to do."""
    module, recorded = quote(look.module), look.record.state
    found = look.comparison.found if look.comparison else None
    if recorded is None or found is None:
        raise AssertionError("only what is recorded can be in another place")
    if found.lineage:
        vouched = compare(recorded, found, moved=True).safe
        return f"hybridwrap apply {module} --state-moved" if vouched else accepting(look.module)
    if recorded.place.backend == found.place.backend == "local":
        return shlex.join(["mv", recorded.place.path, found.place.path])
    return f"hybridwrap commands {module}"  # the engine's own lines, to which -migrate-state has to be added


def _held(look: Look) -> str:
    match look.liveness:
        case Liveness.DEAD | Liveness.ENGINE:
            return "hybridwrap sync"  # it waits for the engine
        case Liveness.NOT_VISIBLE:
            return f"hybridwrap unlock {quote(look.module)}"  # shows who it is, and asks for the word it takes
        case _:
            return "hybridwrap status"


def _hinted(look: Look) -> str:
    return look.obstacle_hint if "hybridwrap " in look.obstacle_hint else _of_source("plan {}", "destroy {}")(look)


def _once_applied(look: Look) -> str:
    same = look.comparison is not None and look.comparison.match is Match.SAME
    quiet = look.record.status is Status.OK and same and look.plan is not None and not look.plan.changes
    return _typed("plan {}" if quiet else "apply {}", look)


def _unlock_first(look: Look) -> bool:
    return look.lock is not None and look.lock.holds and not look.lock_is_ours


def _is(*statuses: Status) -> Callable[[Look], bool]:
    return lambda look: look.record.status in statuses


def _on_damage(look: Look) -> str:
    return look.record.damage.hint if look.record.damage else ""


def _fits(look: Look) -> bool:
    return look.kept is not None and (look.kept.safe or look.kept.fit is Fit.SAVED)


def _matches(look: Look, match: Match) -> bool:
    return look.comparison is not None and look.comparison.match is match


def _is_empty(look: Look) -> bool:
    return look.comparison is None or not look.holds_objects


def _is_another(look: Look) -> bool:
    """Whether it is not the recorded state; one that a kill has emptied can be made again by imports."""
    return not (look.comparison and look.comparison.safe) and not (look.lost and look.open.any)


def _tried_in_vain(look: Look) -> bool:
    """Whether the engine has just refused to import all that could be: what it did not find may not be there."""
    open_ = look.open.importable or look.open.unanswered[:1]
    return bool(open_) and all(o.address in look.not_imported for o in open_)


def _was_destroyed(look: Look) -> bool:
    """Whether its engine says that all is destroyed, and only the look for it has not shown that."""
    return look.record.command == "destroy" and look.record.outcome is Outcome.SUCCEEDED


_APPLY: Final = _on("apply {}")
_PUSH: Final = _on("reconcile {} --push-state")
_IMPORT: Final = _of_source("reconcile {} --import", "destroy {} --import-known")
_RECORD: Final = _on("reconcile {} --apply-verdicts")

ROWS: Final = (
    Row("damaged", lambda k: k.record.damage is not None, Verdict.UNKNOWN, _on_damage),
    Row("unsent", lambda k: k.unsent, None, _on("sync")),
    Row("held", lambda k: k.record.holder is not None, Verdict.UNKNOWN, _held),
    Row("destroyed", lambda k: _is(Status.DESTROYED)(k) and _is_empty(k), Verdict.DESTROYED, _on("status")),
    Row("not seen", lambda k: k.comparison is None, None, _hinted),
    Row("foreign lock", _unlock_first, None, _on("unlock {}")),
    Row("kept", _fits, Verdict.PARTLY_APPLIED, _PUSH),
    Row("forked", lambda k: bool(k.kept and k.open.importable), Verdict.UNKNOWN, _IMPORT),
    Row("no state at all", lambda k: isinstance(k.found, Unreadable), Verdict.UNKNOWN, _set_aside),
    Row("moved", lambda k: _matches(k, Match.MOVED), Verdict.UNKNOWN, _moved),
    Row("another state", _is_another, Verdict.UNKNOWN, lambda k: accepting(k.module)),
    Row(
        "not recorded",
        lambda k: _is(Status.NONE, Status.DESTROYED)(k) and k.holds_objects,
        Verdict.UNKNOWN,
        _on("adopt {}"),
    ),
    Row("none", _is(Status.NONE), Verdict.NOT_BEGUN, _APPLY),
    Row("not to be had", _tried_in_vain, Verdict.UNKNOWN, _was_not_there),
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
    Row("destroy done, not seen", _was_destroyed, Verdict.DESTROYED, _on("verify {}")),
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
