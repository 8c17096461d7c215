"""A report as plain text: for a terminal, a mail, a log."""

from __future__ import annotations

from collections.abc import Iterator

from hybridwrap.cli.lines import DONE, counted, duration, table
from hybridwrap.cli.reports.drifted import drifted_in
from hybridwrap.cli.reports.hooks import failed_hooks
from hybridwrap.cli.reports.next import next_commands, purpose
from hybridwrap.cli.reports.wording import (
    GRAVE,
    SYMBOLS,
    by,
    called,
    conclusion,
    moment,
    named,
    planned_in_words,
    reason_of,
    short_reason,
    summary,
    tally_in_words,
    took,
    visible,
    waited,
)
from hybridwrap.counting import first_of
from hybridwrap.domain.outputs import Provenance
from hybridwrap.run.report import ModuleReport, Report

SHOWN_OUTPUTS = 6
SHOWN_UNCHANGED = 8  # in rows of their own; more of them share one line


def render(report: Report) -> str:
    return visible("\n".join(line.rstrip() for line in _lines(report)) + "\n")


def _lines(report: Report) -> Iterator[str]:
    start = report.start
    yield f"{start.command} {named(report)}  {report.stack} in {report.environment}"
    yield f"{moment(start.time)}  by {by(report)}"
    yield from called(report)
    if start.writer.ci_url:
        yield start.writer.ci_url
    yield f"{tally_in_words(report)}; {conclusion(report)}"
    yield ""
    yield from _modules(report)
    yield from _grave(report)
    yield from _errors(report)
    yield from _hooks(report)
    yield from _drift(report)
    yield from _carried(report)
    yield from _end(report)


def _modules(report: Report) -> Iterator[str]:
    unchanged = [module.module for module in report.modules if module.result == "unchanged"]
    folded = len(unchanged) > SHOWN_UNCHANGED
    yield from table([_row(m) for m in report.modules if not (folded and m.result == "unchanged")])
    if folded:
        yield f"{len(unchanged)} unchanged: {', '.join(unchanged)}"


def _row(module: ModuleReport) -> tuple[str, ...]:
    changes = counted(module.end.counts, DONE) if module.share.end else planned_in_words(module.planned)
    waited_for = f"waited {waited(module)}" if module.end.waited else ""
    reason = "; ".join(filter(None, (short_reason(module), waited_for)))
    return (module.module, module.result, changes, took(module), reason)


def _grave(report: Report) -> Iterator[str]:
    """Replacements and destroys by name."""
    rows = [
        (module.module, SYMBOLS[change.action], change.address, reason_of(change))
        for module in report.modules
        for change in module.planned
        if change.action in GRAVE
    ]
    if rows:
        yield "\nplanned to be replaced or destroyed"
        yield from (f"  {line}" for line in table(rows))


def _errors(report: Report) -> Iterator[str]:
    for module in report.modules:
        for error in module.end.errors:
            place = module.place(error)
            yield f"\n{module.module}: {summary(error)}" + (f"  {place}" if place else "")
            yield from (f"  {line}" for line in error.detail.splitlines())
        if module.end.errors and module.share.end and module.share.end.log:
            yield f"  log: {module.share.end.log} on {module.share.entries[-1].writer.host}"


def _hooks(report: Report) -> Iterator[str]:
    if failed := failed_hooks(report):
        yield "\nhooks that failed"
        yield from (f"  {line}" for line in table([(who, str(run), duration(run.seconds)) for who, run in failed]))


def _drift(report: Report) -> Iterator[str]:
    found = [each for module in report.modules for each in drifted_in(report, module)]
    if found:
        yield "\nnot as the state says"
        rows = [
            (
                each.module,
                each.difference.address,
                each.what,
                f"since {each.since}",
                "accepted" if each.accepted else "",
            )
            for each in found
        ]
        yield from (f"  {line}" for line in table(rows))


def _carried(report: Report) -> Iterator[str]:
    if report.carried:
        yield "\nstill pending from earlier runs"
        rows = [(name, pending.reason, pending.run) for name, pending in report.carried.items()]
        yield from (f"  {line}" for line in table(rows))


def _end(report: Report) -> Iterator[str]:
    yield ""
    if len(path := report.critical_path) > 1:
        took_longest = sum(module.seconds for module in report.modules if module.module in path)
        yield f"longest chain: {' > '.join(path)}  {duration(took_longest)}"
    if any(module.open for module in report.modules) and (known := _known(report)):
        yield f"known: {first_of(known, SHOWN_OUTPUTS)}"
    for index, command in enumerate(next_commands(report)):
        yield f"{'next:' if not index else '  or:'} {command}    {purpose(command)}"


def _known(report: Report) -> list[str]:
    return [
        f"{module.module}.{name}"
        for module in report.modules
        for name, output in module.record.outputs.items()
        if output.provenance is Provenance.KNOWN
    ]
