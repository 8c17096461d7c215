"""What all formats for people say in the same words. Times are UTC: a file must not depend on who makes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from hybridwrap.cli.lines import duration
from hybridwrap.counting import count_of, first_of
from hybridwrap.domain.engine_run import Action, Diagnostic, PlannedChange
from hybridwrap.domain.entry import Adopt, Begin, Cancel, End, Entry, Late, Observe, Retain, StateMark, Takeover
from hybridwrap.domain.told_time import in_utc
from hybridwrap.run.report import ModuleReport, Report

NAMED = 3  # writers of a run that are told by name
# Bad news first.
RESULTS = (
    *("unknown", "error", "unsent", "superseded", "refused", "running", "drifted", "stopped", "busy", "declined"),
    *("pending", "deferred", "destroyed", "retained", "planned", "ok", "accepted", "empty", "unchanged"),
)
SYMBOLS: Mapping[Action, str] = {
    Action.DELETE: "-",
    Action.REPLACE: "-/+",
    Action.FORGET: "forget",
    Action.REMOVE: "forget",
    Action.CREATE: "+",
    Action.UPDATE: "~",
    Action.IMPORT: "import",
    Action.MOVE: "move",
}
WORDS: Mapping[Action, str] = {
    Action.DELETE: "to destroy",
    Action.REPLACE: "to replace",
    Action.FORGET: "to forget",
    Action.REMOVE: "to forget",
    Action.CREATE: "to create",
    Action.UPDATE: "to change",
    Action.IMPORT: "to import",
    Action.MOVE: "to move",
}
GRAVE = (Action.DELETE, Action.REPLACE, Action.FORGET, Action.REMOVE)
REASONS = {  # the engine's words
    "cannot_update": "can't be changed in place",
    "requested": "asked for with -replace",
    "replace_triggered_by": "replace_triggered_by",
    "delete_because_no_resource_config": "no longer in the configuration",
    "delete_because_no_module": "its module is no longer in the configuration",
    "delete_because_wrong_repetition": "count or for_each was added or taken away",
    "delete_because_count_index": "beyond count",
    "delete_because_each_key": "its key is no longer in for_each",
}


# What a terminal or a page would obey instead of showing it, such as what turns the direction of text around.
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Text of any origin, with all that is no text made visible."""
    return _INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def rank(result: str) -> int:
    return RESULTS.index(result) if result in RESULTS else -1


def tally(report: Report) -> dict[str, int]:
    """How many modules ended how, bad news first."""
    counts = Counter(module.result for module in report.modules)
    return {result: counts[result] for result in sorted(counts, key=lambda result: (rank(result), result))}


def tally_in_words(report: Report) -> str:
    return ", ".join(f"{count} {result}" for result, count in tally(report).items()) or "no modules"


def conclusion(report: Report) -> str:
    if report.ended:
        return f"exit {report.exit_code} after {duration(report.seconds)}"
    return f"no end is recorded: still at work, or killed; last sign {moment(report.last_seen)}"


def moment(time: str) -> str:
    """A recorded time for people, to the second."""
    return in_utc(time)


def clock(time: str) -> str:
    return f"{datetime.fromisoformat(time):%H:%M:%S}" if time else ""


def by(report: Report) -> str:
    """Who ran it: of many processes the first ones, and how many there were."""
    if not report.parts:
        return str(report.start.writer)
    writers = list(dict.fromkeys(str(part.start.writer) for part in report.parts))
    processes = count_of(len(report.parts), "process", "processes")
    return f"{processes} of {first_of(writers, NAMED)}"


def called(report: Report) -> tuple[str, ...]:
    """The command line; of many processes each one that there was, unless these are many, too."""
    argvs = dict.fromkeys([report.start.argv, *(part.start.argv for part in report.parts)])
    return tuple(f"hybridwrap {' '.join(argv)}" for argv in argvs) if len(argvs) <= NAMED else ()


def named(report: Report) -> str:
    """The run's id, and the name by which its processes know it."""
    return f"{report.start.run} ({report.start.shared})" if report.start.shared else report.start.run


def planned_in_words(planned: Iterable[PlannedChange]) -> str:
    """Count by what is to be done, gravest first."""
    counts = Counter(WORDS.get(change.action, "other") for change in planned)
    words = dict.fromkeys([*WORDS.values(), "other"])
    return ", ".join(f"{counts[word]} {word}" for word in words if counts[word])


def reason_of(change: PlannedChange) -> str:
    return REASONS.get(change.reason, change.reason.replace("_", " "))


def summary(error: Diagnostic) -> str:
    return f"{error.address}: {error.summary}" if error.address else error.summary


def first_line(text: str) -> str:
    return next(iter(text.splitlines()), "")


def short_reason(module: ModuleReport) -> str:
    """Why a module ended as it did, in a line: its first error with the place, else the reason."""
    if not module.end.errors:
        return first_line(module.end.reason).removeprefix(f"{module.module}: ")
    first, more = module.end.errors[0], len(module.end.errors) - 1
    place = module.place(first)
    return summary(first) + (f"  {place}" if place else "") + (f" (and {more} more)" if more else "")


def took(module: ModuleReport) -> str:
    return duration(module.seconds) if module.seconds else ""


def waited(module: ModuleReport) -> str:
    """How long others kept a module from its turn, and who; "" when nobody did."""
    end = module.end
    return f"{duration(end.waited)} for {end.waited_for}" if end.waited else ""


def told(entry: Entry) -> str:
    """One entry of the log in a line."""
    match entry.body:
        case Begin() as begin:
            planned = planned_in_words(begin.planned) or "only outputs"
            return f"{begin.command} begun on {_state(begin.state)}: {planned}"
        case Takeover() as taken:
            return f"taken over: {taken.reason}"
        case End() as end:
            return f"{end.outcome}: {end.reason}" if end.reason else str(end.outcome)
        case Late(end=end):
            return f"late result of an operation that was taken over: {end.outcome}"
        case Observe() | Adopt() | Retain() | Cancel() as body:
            return f"{entry.kind}: {body.reason}"
    return str(entry.kind)


def _state(state: StateMark) -> str:
    return f"state serial {state.serial}" if state.lineage else "no state"
