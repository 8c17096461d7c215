"""A report as a table for spreadsheets: RFC 4180, one row for each module, no cell that is taken for a formula."""

from __future__ import annotations

import csv
from io import StringIO

from hybridwrap.cli.reports.wording import summary
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.outputs import Provenance
from hybridwrap.run.report import ModuleReport, Report

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also full-width ones
PLANNED = (Action.CREATE, Action.UPDATE, Action.REPLACE, Action.DELETE)
MADE = ("add", "change", "remove", "import")
COLUMNS = (
    *("stack", "environment", "run", "command", "module", "result", "status", "reason", "waits_for"),
    *("began", "ended", "seconds"),
    *(f"planned_{action}" for action in PLANNED),
    *(f"done_{word}" for word in MADE),
    *("errors", "first_error", "place", "outputs_known", "objects_open", "objects_drifted", "operation"),
    *("waited", "waited_for", "hooks", "hooks_failed", "first_failed_hook"),
)

Cell = str | int | float


def render(report: Report) -> str:
    text = StringIO()
    writer = csv.writer(text)  # its own line ends are CRLF
    writer.writerow(COLUMNS)
    for module in report.modules:
        writer.writerow([_safe(cell) for cell in _cells(report, module)])
    return text.getvalue()


def _cells(report: Report, module: ModuleReport) -> tuple[Cell, ...]:
    end, record = module.end, module.record
    first = end.errors[0] if end.errors else None
    failed = [run for run in end.hooks if run.failed]
    return (
        *(report.stack, report.environment, report.start.run, report.start.command),
        *(module.module, module.result, module.status, end.reason, end.waits_for),
        *(module.began, module.ended, round(module.seconds, 3)),
        *(sum(change.action is action for change in module.planned) for action in PLANNED),
        *(end.counts.get(word, 0) for word in MADE),
        *(len(end.errors), summary(first) if first else "", module.place(first) if first else ""),
        sum(output.provenance is Provenance.KNOWN for output in record.outputs.values()),
        sum(each.open for each in record.objects),
        len(record.drift.differences) if record.drift else 0,
        end.operation,
        *(round(end.waited, 3), end.waited_for),
        *(len(end.hooks), len(failed), str(failed[0]) if failed else ""),
    )


def _safe(cell: Cell) -> Cell:
    """Quote with an apostrophe what a spreadsheet would calculate, as OWASP has it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
