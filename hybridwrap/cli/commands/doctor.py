"""`hybridwrap doctor`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator

import click
from msgspec.structs import replace

from hybridwrap.cli.checkup import findings
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import at_words, faint
from hybridwrap.cli.options import Place, json_option, stack_options, terminal_width
from hybridwrap.domain.checkup import Finding, Verdict, exit_code_of
from hybridwrap.domain.codec import plain
from hybridwrap.domain.json import canonical

COLOURS = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.PROBLEM: "red"}
SUBJECT_WIDTH = 18
LEAST = 24  # columns for what is said, however narrow the terminal


@click.command("doctor")
@stack_options
@json_option
def command(place: Place, as_json: bool) -> int:
    """Look whether machine, engines and bucket are fit for work.

    Each line says ok, warning or problem, and how to repair it. Nothing is changed; what is written into a bucket to
    try it is removed again. The exit code is 0 when nothing is a problem, else that of the gravest.
    """
    found: list[Finding] = []
    for raw in findings(place, os.environ):
        finding = replace(raw, fix=as_typed(raw.fix, place))
        found.append(finding)
        if not as_json:
            for line in lines(finding, terminal_width()):
                click.echo(line)
    code = exit_code_of(found)
    if as_json:
        checks = [plain(finding) for finding in found]
        click.echo(canonical({"version": 1, "exit_code": code, "checks": checks}))
    else:
        click.echo(_summary(found))
    return code


def lines(finding: Finding, width: int) -> Iterator[str]:
    """A finding in lines as wide as the terminal, 0 for any width; what is to be typed is never broken."""
    indent = " " * (SUBJECT_WIDTH + 10)
    room = max(width - len(indent), LEAST) if width else 0
    first, *more = [part for line in finding.text.splitlines() for part in at_words(line, room)] or [""]
    verdict = click.style(str(finding.verdict).ljust(8), fg=COLOURS[finding.verdict])
    yield f"{verdict} {finding.subject.ljust(SUBJECT_WIDTH)} {first}"
    yield from (f"{indent}{line}" for line in more)
    if finding.fix:
        yield faint(f"{indent}fix: ") + finding.fix.replace("\n", f"\n{indent}     ")


def _summary(found: Iterable[Finding]) -> str:
    counts = Counter(finding.verdict for finding in found)
    told = [_counted(counts[verdict], verdict) for verdict in reversed(Verdict) if counts[verdict]]
    return f"\n{', '.join(told)}"


def _counted(count: int, verdict: Verdict) -> str:
    return f"{count} {verdict}" if count == 1 or verdict is Verdict.OK else f"{count} {verdict}s"
