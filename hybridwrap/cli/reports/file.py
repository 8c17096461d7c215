"""A report into a file, in the format that its name says."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from hybridwrap.errors import UsageError
from hybridwrap.run.report import Report

FORMATS = {".txt": "text", ".json": "json", ".csv": "csv", ".xml": "junit", ".md": "markdown", ".html": "html"}


def _known(_ctx: click.Context, _param: click.Parameter, file: Path | None) -> Path | None:
    if file and file.suffix not in FORMATS:
        raise click.BadParameter(f"{file.name}: its name must end with one of {' '.join(FORMATS)}")
    return file


report_option = click.option(
    "--report",
    "report_file",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    callback=_known,
    metavar="FILE",
    help=f"Also write a report, in the format of the file's name: {' '.join(FORMATS)}.",
)


def rendered(report: Report, form: str) -> str:
    """A report in one of the formats, each of which is a module of this package."""
    text: str = import_module(f"hybridwrap.cli.reports.{form}").render(report)
    return text


def write_report(report: Report, file: Path) -> None:
    """Raise UsageError when the file can't be written."""
    try:
        file.write_text(rendered(report, FORMATS[file.suffix]), encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"{file}: the report can't be written: {error.strerror}") from error
