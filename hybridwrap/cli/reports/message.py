"""A report as a short message for a chat: how it ended, what is not done, where to look."""

from __future__ import annotations

from collections.abc import Iterator

from hybridwrap.cli.reports.next import next_commands
from hybridwrap.cli.reports.wording import conclusion, rank, short_reason, tally_in_words, visible
from hybridwrap.run.report import ModuleReport, Report

SHOWN = 10  # modules
LONG = 200  # characters of what is said about one of them


def render(report: Report) -> str:
    return visible("\n".join(_lines(report)))


def _lines(report: Report) -> Iterator[str]:
    start = report.start
    yield f"{report.stack} · {report.environment} · {start.command}: {tally_in_words(report)}; {conclusion(report)}"
    undone = sorted((m for m in report.modules if m.result != "deferred" and not m.done), key=lambda m: rank(m.result))
    yield from map(_line, undone[:SHOWN])
    if len(undone) > SHOWN:
        yield f"• and {len(undone) - SHOWN} more"
    if start.writer.ci_url:
        yield start.writer.ci_url
    yield from (f"next: {command}" for command in next_commands(report)[:1])


def _line(module: ModuleReport) -> str:
    reason = " ".join(short_reason(module).split())
    return f"• {module.module}: {module.result}{f'  {reason}' if reason else ''}"[:LONG]
