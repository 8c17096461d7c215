"""A report for a job summary or a comment on a pull request, in the Markdown that GitHub and GitLab share.

Keeps: with its marker never more than 65,536 characters, the most that GitHub takes; what is left out is said.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from msgspec.structs import replace

from hybridwrap.cli.lines import duration
from hybridwrap.cli.reports.drifted import drifted_in
from hybridwrap.cli.reports.hooks import failed_hooks
from hybridwrap.cli.reports.markdown_text import (
    NAMES_SHOWN,
    block,
    code,
    folded,
    header,
    html,
    html_code,
    names,
    prose,
    row,
    shortened,
)
from hybridwrap.cli.reports.next import line, next_commands, purpose
from hybridwrap.cli.reports.wording import (
    GRAVE,
    SYMBOLS,
    by,
    conclusion,
    moment,
    named,
    planned_in_words,
    reason_of,
    summary,
    tally_in_words,
)
from hybridwrap.domain.engine_run import Diagnostic, PlannedChange
from hybridwrap.run.report import ModuleReport, Report

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

PLAN: Final = "plan"  # recorded only where its plans are saved
LIMIT: Final = 65_536 - 256  # measured as UTF-8, never less than characters; the rest is for a comment's marker
CUT_NOTICE: Final = 300  # kept free for the words that say what was cut
LONG: Final = 200  # of a name, an address or a summary
DETAIL: Final = 2_000  # of what an engine says about one error
GRAVE_ROOM: Final = 24_000  # for what is replaced or destroyed: it must not keep the errors out
ERRORS_ROOM: Final = 36_000  # for all errors together: each failed module is named before details are told
TITLE: Final = 200  # of an error, with what folds it
LEAST_DETAIL: Final = 120  # less says nothing
ERRORS_EACH: Final = 5
CHANGES_EACH: Final = 3
FEW: Final = 2  # errors that are shown without a click
QUIET: Final = ("ok", "unchanged", "destroyed", "retained")
COVERED: Final = ("planned", "unchanged", "retained")
QUIET_NAMES: Final = 200
LINK: Final = re.compile(r"https?://[\w./:%?=&+~-]+")


def render(report: Report) -> str:
    head, tail = "\n".join(_head(report)), "\n".join(_tail(report))
    room = LIMIT - CUT_NOTICE - _size(head) - _size(tail)
    body, left_out = _fitting(list(_body(report)), room)
    notice = [f"\n**{left_out} more parts do not fit**; all of it: {code(_everything(report))}\n"] if left_out else []
    return "\n".join([head, *body, *notice, tail]) + "\n"


def _head(report: Report) -> Iterator[str]:
    start = report.start
    yield f"### {prose(f'{report.stack} · {report.environment} · {start.command}: {tally_in_words(report)}')}\n"
    commits = {module.source.git[:9] for module in report.modules if module.source and module.source.git}
    planned = planned_in_words(change for module in report.modules for change in module.planned)
    facts = [
        *([f"**{planned}**"] if planned else []),
        *([f"run {code(named(report))}"] if start.command != PLAN or start.saved else []),
        f"by {prose(shortened(by(report), LONG))}",
        moment(start.time),
        prose(conclusion(report)),
        *([f"commit {code(commits.pop())}"] if len(commits) == 1 else []),
        *([f"[job]({start.writer.ci_url})"] if LINK.fullmatch(start.writer.ci_url) else []),
    ]
    yield " · ".join(facts)


def _body(report: Report) -> Iterator[str]:
    """Parts that may be left out from the end on, each of them whole by itself; the gravest come first."""
    yield from _grave(report)
    yield from _errors(report)
    yield from _hooks(report)
    yield from _drift(report)
    yield from _undone(report)
    yield from _changes(report)
    yield from _waited(report)
    yield from _quiet(report)
    yield from _carried(report)


def _grave(report: Report) -> Iterator[str]:
    grave = [(module, change) for module in report.modules for change in module.planned if change.action in GRAVE]
    rows = [
        row([_names(module for module, _ in alike), SYMBOLS[change.action], code(_short(change.address)), prose(told)])
        for (change, told), alike in _alike(grave, _change_and_fate)
    ]
    named_here, beyond = _fitting(rows, GRAVE_ROOM)
    more = [row([f"and {beyond} more", "", "", ""])] if beyond else []
    yield from _table("Replaced or destroyed", ("modules", "", "object", ""), [*named_here, *more])


def _change_and_fate(pair: tuple[ModuleReport, PlannedChange]) -> tuple[PlannedChange, str]:
    module, change = pair
    return change, ", ".join(filter(None, [reason_of(change), module.share.fate(change)]))


def _errors(report: Report) -> Iterator[str]:
    """Each error once, with all modules that have it; folded, unless there are only a few."""
    failed = [module for module in report.modules if module.end.errors]
    groups = list(_alike(failed, lambda module: module.end.errors))
    if groups:
        yield "\n#### Errors\n"
    shown = sum(min(len(errors), ERRORS_EACH) for errors, _ in groups)
    room = min(DETAIL, ERRORS_ROOM // max(shown, 1) - TITLE)
    for errors, alike in groups:
        if room < LEAST_DETAIL:
            yield _in_a_line(errors, alike)
            continue
        who = names([_short(module.module) for module in alike], as_code=html_code)
        title = f"{who}: {html(_short(summary(errors[0])))} {html_code(alike[0].place(errors[0]))}"
        told = [_error(alike[0], error, room, titled=len(errors) > 1) for error in errors[:ERRORS_EACH]]
        more = [f"and {len(errors) - ERRORS_EACH} more errors"] if len(errors) > ERRORS_EACH else []
        yield folded(title.rstrip(), "\n\n".join([*told, *more]), opened=len(groups) <= FEW)


def _in_a_line(errors: Sequence[Diagnostic], alike: Sequence[ModuleReport]) -> str:
    more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
    return f"- {_names(alike)}: {prose(_short(summary(errors[0])))} {code(alike[0].place(errors[0]))}{more}"


def _error(module: ModuleReport, error: Diagnostic, room: int, *, titled: bool) -> str:
    """What the engine says; the only error of a part has its title there, and gets none of its own."""
    line = f"**{prose(_short(summary(error)))}** {code(module.place(error))}".rstrip()
    detail = block(shortened(error.detail, room)) if error.detail else ""
    return "\n\n".join(filter(None, [line if titled else "", detail]))


def _hooks(report: Report) -> Iterator[str]:
    rows = [
        row([_list([who for who, _ in alike]), run.when, code(_short(shlex.join(run.argv))), prose(_short(run.ending))])
        for run, alike in _alike(failed_hooks(report), lambda pair: replace(pair[1], seconds=0.0))
    ]
    yield from _table("Hooks that failed", ("modules", "", "hook", ""), rows)


def _drift(report: Report) -> Iterator[str]:
    found = [each for module in report.modules for each in drifted_in(report, module)]
    rows = [
        row([names([_short(each.module) for each in alike]), code(_short(address)), prose(_short(what)), accepted])
        for (address, what, accepted), alike in _alike(
            found, lambda each: (each.difference.address, each.what, "accepted" if each.accepted else "new")
        )
    ]
    yield from _table("Not as the state says", ("modules", "object", "what", ""), rows)


def _undone(report: Report) -> Iterator[str]:
    told = {"drifted"}  # object by object above
    undone = [m for m in report.modules if not m.done and not m.end.errors and m.result not in told]
    rows = [
        row([prose(result), _names(alike), prose(_short(reason, 3))])
        for (result, reason), alike in _alike(undone, lambda module: (module.result, module.end.reason))
    ]
    yield from _table("Not done", ("", "modules", "why"), rows)


def _changes(report: Report) -> Iterator[str]:
    """What was planned and how it ended; modules with the same changes and the same end share a row."""
    planned = [module for module in report.modules if module.planned]
    rows = [
        row([_names(alike), _what(changes), prose(result)])
        for (changes, result), alike in _alike(planned, lambda module: (_in_order(module.planned), module.result))
    ]
    yield from _table("Changes", ("modules", "planned", "result"), rows)


def _waited(report: Report) -> Iterator[str]:
    """Who had to wait for others to let go of a module, and how long the slowest of them did."""
    waiting = [module for module in report.modules if module.end.waited]
    rows = [
        row([_names(alike), prose(_short(holder)), duration(max(module.end.waited for module in alike))])
        for holder, alike in _alike(waiting, lambda module: module.end.waited_for)
    ]
    yield from _table("Waited", ("modules", "for", "up to"), rows)


def _in_order(changes: Iterable[PlannedChange]) -> tuple[PlannedChange, ...]:
    """Gravest first: engines name them in any order."""
    places = {action: place for place, action in enumerate(SYMBOLS)}
    return tuple(sorted(changes, key=lambda change: (places.get(change.action, len(places)), change.address)))


def _what(changes: Sequence[PlannedChange]) -> str:
    if len(changes) > CHANGES_EACH:
        return planned_in_words(changes)
    return "<br>".join(f"{SYMBOLS.get(change.action, '')} {code(_short(change.address))}" for change in changes)


def _quiet(report: Report) -> Iterator[str]:
    """Modules that need nobody's eyes, by name and folded."""
    for result in QUIET:
        quiet = [module for module in report.modules if module.result == result and not module.planned]
        if quiet:
            yield "\n" + folded(f"{len(quiet)} {html(result)}", _names(quiet, QUIET_NAMES))


def _carried(report: Report) -> Iterator[str]:
    rows = [
        row([code(_short(name)), prose(_short(pending.reason, 3)), code(pending.run)])
        for name, pending in report.carried.items()
    ]
    yield from _table("Still pending from earlier runs", ("module", "why", "run"), rows)


def _tail(report: Report) -> Iterator[str]:
    commands = next_commands(report)
    if commands:
        yield "\n#### Next\n"
        yield from (f"- {code(shortened(command, DETAIL))} {purpose(command)}".rstrip() for command in commands)
    uncovered = [module for module in report.modules if module.result not in COVERED]
    if uncovered and report.start.command == PLAN and report.start.saved:
        yield f"\nNot covered by an approval of this run: {_names(uncovered)}"


def _table(title: str, columns: Sequence[str], rows: Sequence[str]) -> Iterator[str]:
    """A title and a table; the first row stays with them, so that none of them is ever alone."""
    if rows:
        yield f"\n#### {title}\n\n{header(columns)}\n{rows[0]}"
        yield from rows[1:]


def _alike(items: Iterable[T], key: Callable[[T], K]) -> Iterable[tuple[K, list[T]]]:
    """Group items, in the order of each group's first."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups.items()


def _list(called: Iterable[str]) -> str:
    return names([_short(name) for name in called])


def _names(modules: Iterable[ModuleReport], shown: int = NAMES_SHOWN) -> str:
    return names([_short(module.module) for module in modules], shown)


def _fitting(parts: Sequence[str], room: int) -> tuple[list[str], int]:
    """Take parts from the first on as long as there is room; say how many are left out."""
    for index, part in enumerate(parts):
        room -= _size(part) + 1
        if room < 0:
            return list(parts[:index]), len(parts) - index
    return list(parts), 0


def _size(text: str) -> int:
    return len(text.encode())


def _short(text: str, times: int = 1) -> str:
    return shortened(text, times * LONG)


def _everything(report: Report) -> str:
    if report.start.command == PLAN:
        return line(report, PLAN, "--report", "plan.html")
    return line(report, "report", report.start.run, "--format", "html")
