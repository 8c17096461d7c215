"""The table of outcomes: what can be known of an engine's run, and what it comes to; the first row that holds decides.

Exit code first, then diagnostics, then events, then the state as it was read again: no single one is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from msgspec import Struct

from hybridwrap.domain.engine_run import LockInfo
from hybridwrap.domain.status import Outcome, Status


class Again(StrEnum):
    """What has to come before another try."""

    NOTHING = "nothing"
    PLAN = "a new plan"
    WAIT = "the release of the engine's state lock"
    RESCUE = "putting the kept state back"
    RECONCILE = "reconcile"


class How(StrEnum):
    WELL = "exit code 0"
    BADLY = "exit code 1"
    KILLED = "killed"


class Facts(Struct, frozen=True):
    """The answers that the rows ask for."""

    how: How
    interrupts: int
    silent: bool  # the stream shows nothing but version, log and diagnostics
    witnessed: bool  # the stream is one of an engine that got as far as to speak
    untouched: bool  # no object was begun, and the state is the one from before
    unchanged: bool
    surprise: str
    summary: bool
    kept: bool  # a state that was not saved is at hand
    unsaved: bool  # the engine says that it could not save
    only_after_work: bool  # all that went wrong came after the last object
    held_by: LockInfo | None
    stale: bool
    left_behind: bool


class Row(Struct, frozen=True):
    name: str
    holds: Callable[[Facts], bool]
    outcome: Outcome
    status: Status | None  # None: the previous one
    reason: str  # may name {how}, {error}, {holder}, {surprise}, {forgotten}
    again: Again = Again.NOTHING


_TWICE: Final = 2

STALE_PLAN: Final = "stale plan"

ROWS: Final = (
    Row(
        "kept but not saved",
        lambda f: f.how is not How.WELL and f.kept,
        Outcome.UNKNOWN,
        Status.UNKNOWN,
        "the engine could not save its state and left a copy: {error}",
        Again.RESCUE,
    ),
    Row(
        "locked",
        lambda f: f.how is How.BADLY and f.silent and f.held_by is not None,
        Outcome.CANCELLED,
        None,
        "nothing ran: the engine's state lock is held by {holder}",
        Again.WAIT,
    ),
    Row(
        STALE_PLAN,
        lambda f: f.how is How.BADLY and f.silent and f.stale,
        Outcome.CANCELLED,
        None,
        "nothing ran: the state was changed by somebody else after the plan was made",
        Again.PLAN,
    ),
    Row(
        "stopped before anything",
        lambda f: f.how is How.BADLY and f.silent and f.witnessed,
        Outcome.CANCELLED,
        None,
        "nothing ran: {error}",
        Again.PLAN,
    ),
    Row(
        "killed before anything",
        lambda f: f.how is How.KILLED and f.silent and f.unchanged,
        Outcome.CANCELLED,
        None,
        "nothing ran: {how}, before it did anything",
        Again.PLAN,
    ),
    Row(
        "killed",
        lambda f: f.how is How.KILLED,
        Outcome.UNKNOWN,
        Status.UNKNOWN,
        "{how}: nobody knows how what it had begun has ended",
        Again.RECONCILE,
    ),
    Row(
        "interrupted twice",
        lambda f: f.how is How.BADLY and f.interrupts >= _TWICE,
        Outcome.UNKNOWN,
        Status.UNKNOWN,
        "the engine was interrupted twice and did not wait for what it had begun",
        Again.RECONCILE,
    ),
    Row(
        "neither saved nor kept",
        lambda f: f.how is How.BADLY and f.unsaved,
        Outcome.UNKNOWN,
        Status.UNKNOWN,
        "the engine could not save its state, and no copy was found: {error}",
        Again.RECONCILE,
    ),
    Row(
        "surprising state",
        lambda f: bool(f.surprise),
        Outcome.UNKNOWN,
        Status.UNKNOWN,
        "{how}, but {surprise}",
        Again.RECONCILE,
    ),
    Row(
        "no summary",
        lambda f: f.how is How.WELL and not f.summary,
        Outcome.UNKNOWN,
        Status.UNKNOWN,
        "{how}, but the event stream has no end",
        Again.RECONCILE,
    ),
    Row(
        "left behind",
        lambda f: f.how is How.BADLY and f.left_behind,
        Outcome.SUCCEEDED,
        Status.RETAINED,
        "destroyed but for what the configuration keeps alive: {forgotten}",
    ),
    Row("done", lambda f: f.how is How.WELL, Outcome.SUCCEEDED, Status.OK, "the engine did what was planned"),
    Row(
        "only the end failed",
        lambda f: f.only_after_work,
        Outcome.SUCCEEDED,
        Status.OK,
        "all was done and saved; only this came after it: {error}",
    ),
    Row(
        "failed before anything",
        lambda f: f.untouched,
        Outcome.CANCELLED,
        None,
        "nothing was begun: {error}",
        Again.PLAN,
    ),
    Row(
        "interrupted",
        lambda f: f.interrupts > 0,
        Outcome.INTERRUPTED,
        Status.ERROR,
        "interrupted; what had begun was waited for, and the state is saved",
        Again.PLAN,
    ),
    Row("failed", lambda _: True, Outcome.FAILED, Status.ERROR, "{error}", Again.PLAN),
)
