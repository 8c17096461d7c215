"""One run for people at a terminal: when each module was at work, and what is recorded of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import click

from hybridwrap.cli.failures import told
from hybridwrap.cli.lines import (
    COLOURS,
    DONE,
    cells,
    coloured,
    counted,
    duration,
    faint,
    fitted,
    local_moment,
    padded,
)
from hybridwrap.cli.reports.next import next_commands
from hybridwrap.cli.reports.timeline import SCALE, Bar, Span, bars_of
from hybridwrap.cli.reports.wording import (
    by,
    called,
    conclusion,
    named,
    planned_in_words,
    short_reason,
    tally,
    visible,
    waited,
)
from hybridwrap.cli.scene import shortened
from hybridwrap.cli.wrapping import wrapped
from hybridwrap.domain.entry import RecordedInput
from hybridwrap.domain.json import canonical
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.run.report import ModuleReport, Report

FEW = 8  # unchanged modules that each get a line
ERRORS = 3  # that are told, unless everything is wanted
NOT_A_TERMINAL = 120  # columns of the timeline, where there is none
LEAST_BAR = 10
RESULT = 10  # columns
LABEL = 10
WAIT, PLAN, WORK, OPEN = "·", "─", "━", "╍"
VALUE = 60  # characters of a value, unless everything is wanted


def lines(report: Report, modules: Sequence[str], width: int, *, everything: bool) -> Iterator[str]:
    """Tell of a run; in full of the modules that are named, else of those that went wrong."""
    yield from _head(report)
    yield from _timeline(report, width or NOT_A_TERMINAL)
    in_full = [module for module in report.modules if _in_full(module, modules, everything=everything)]
    for module in in_full:
        yield ""
        yield f"{click.style(module.module, bold=True)}  {coloured(module.result)}"
        yield from (line for label, text in _facts(module, everything=everything) for line in _fact(label, text, width))
    if len(in_full) < len(report.modules) and not modules:
        yield faint("more: -m MODULE, or -v for all of them")
    yield from (f"next: {command}" for command in next_commands(report)[:1])


def _head(report: Report) -> Iterator[str]:
    start = report.start
    name = f"{start.command} {click.style(named(report), bold=True)}"
    yield f"{name}  {report.stack} in {report.environment}"
    yield f"{local_moment(start.time)}  by {by(report)}"
    yield from map(faint, called(report))
    if start.writer.ci_url:
        yield start.writer.ci_url
    yield from (click.style(f"hook {run}", fg="yellow") for run in report.hooks if run.failed)
    yield f"{', '.join(f'{count} {coloured(result)}' for result, count in tally(report).items())}; {conclusion(report)}"


def _timeline(report: Report, width: int) -> Iterator[str]:
    bars = {bar.module: bar for bar in bars_of(report)}
    name = min(max(map(cells, (module.module for module in report.modules)), default=0), width // 3)
    room = max(min(width, NOT_A_TERMINAL) - name - RESULT - 4 - 7, LEAST_BAR)
    quiet = sum(module.result == "unchanged" for module in report.modules) > FEW
    for module in (module for module in report.modules if not (quiet and module.result == "unchanged")):
        bar = bars.get(module.module)
        drawn = _bar(bar, room) if bar else faint(fitted(short_reason(module), room))
        took = f"  {bar.took}" if bar else ""
        label = padded(fitted(module.module, name), name)
        name_shown = click.style(label, bold=True) if bar and bar.critical else label
        yield f"{name_shown}  {coloured(module.result, RESULT)}{drawn}{took}".rstrip()
    if len(report.critical_path) > 1:
        chain = f"bold: the chain that took longest, {' > '.join(report.critical_path)}"
        yield from map(faint, textwrap.wrap(chain, width, break_on_hyphens=False))


def _bar(bar: Bar, room: int) -> str:
    """Dotted while it waited for others, thin while it was planned, thick while it was at work."""
    colour = COLOURS.get(bar.result, "red")
    start, before = _columns(bar.plan, room)
    _, after = _columns(bar.work, room) if bar.work else (0, 0)
    before, after = min(before, room - start), min(after, max(room - start - before, 1 if bar.work else 0))
    waited = min(max(round(bar.wait[1] * room / SCALE), 1), start) if bar.wait else 0
    line = click.style(PLAN * before, fg="bright_black") + click.style((OPEN if bar.open else WORK) * after, fg=colour)
    return (
        " " * (start - waited)
        + click.style(WAIT * waited, fg="bright_black")
        + line
        + " " * max(room - start - before - after, 0)
    )


def _columns(span: Span, room: int) -> tuple[int, int]:
    start, length = span
    return min(int(start * room / SCALE), room - 1), max(round(length * room / SCALE), 1)


def _in_full(module: ModuleReport, modules: Sequence[str], *, everything: bool) -> bool:
    if modules:
        return module.module in modules
    failed = any(run.failed for run in module.end.hooks)
    return everything or failed or not (module.done or module.result == "pending")


def _facts(module: ModuleReport, *, everything: bool) -> Iterator[tuple[str, str]]:
    """What is recorded of a module, each with its label."""
    end, record = module.share.end, module.record
    limit = None if everything else VALUE
    yield "reason", "" if module.end.errors else module.end.reason
    yield "waited", waited(module)
    errors = module.end.errors
    for error in errors if everything else errors[:ERRORS]:
        yield "error", f"{told(error, module.place(error))}\n{error.detail}"
    if not everything and len(errors) > ERRORS:
        yield "", f"and {len(errors) - ERRORS} more errors"
    yield "hooks", "\n".join(f"{run}  {duration(run.seconds)}" for run in module.end.hooks if everything or run.failed)
    yield "planned", planned_in_words(module.planned)
    yield "done", counted(module.end.counts, DONE)
    yield "inputs", "\n".join(f"{name} = {_input(each, limit)}" for name, each in sorted(module.inputs.items()))
    yield "outputs", _outputs(record.outputs)
    yield "objects", _objects(module)
    for evidence in module.share.evidence:
        yield "evidence", evidence
    for warning in end.warnings if end else ():
        yield "warning", warning
    yield "by", _made_by(module)
    yield "log", f"{shortened(end.log)} on {module.share.entries[-1].writer.host}" if end and end.log else ""


def _fact(label: str, text: str, width: int) -> Iterator[str]:
    indent = " " * (LABEL + 2)
    shown = [line for line in visible(text).splitlines() if line.strip()]
    for index, line in enumerate(shown):
        head = f"  {label:<{LABEL}}" if not index else indent
        if not width or label == "log" or cells(line) + len(indent) <= width:
            yield faint(head) + line
            continue
        pieces = wrapped(line, max(width - len(indent), LABEL))
        yield from (faint(head if not i else indent) + piece for i, piece in enumerate(pieces))


def _input(recorded: RecordedInput, limit: int | None) -> str:
    """The value and the template that it came from; of a secret only where it comes from."""
    if recorded.sensitive:
        return f"({recorded.reference})"
    text = canonical(recorded.value).decode()
    shown = text if limit is None else fitted(text, limit)
    return f"{shown}  {recorded.reference}".rstrip()


def _outputs(outputs: Mapping[str, Output]) -> str:
    return ", ".join(
        name if output.provenance is Provenance.KNOWN else f"{name} ({output.provenance})"
        for name, output in outputs.items()
    )


def _objects(module: ModuleReport) -> str:
    still_open = [each.address for each in module.record.objects if each.open]
    known = len(module.record.objects) - len(still_open)
    parts = (f"{known} known" if known else "", f"open: {', '.join(still_open)}" if still_open else "")
    return ", ".join(part for part in parts if part)


def _made_by(module: ModuleReport) -> str:
    engine = f"{module.engine.product} {module.engine.version}" if module.engine else ""
    source = (module.source.git or module.source.digest)[:19] if module.source else ""
    digest = module.share.begin.inputs_digest if module.share.begin else module.record.inputs_digest
    parts = (engine, f"source {source}" if source else "", f"inputs {digest[:19]}" if digest else "")
    return ", ".join(part for part in parts if part)
