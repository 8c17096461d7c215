"""`hybridwrap new`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from hybridwrap.adapters.manifest.finding import MANIFEST
from hybridwrap.adapters.manifest.loading import read_stack
from hybridwrap.adapters.scaffold.drafting import draft_stack
from hybridwrap.adapters.scaffold.writing import Draft, manifest_text
from hybridwrap.errors import InvalidManifest, PreflightRefused, Problem


@click.command("new")
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--stack", default="", metavar="NAME", help="Name of the stack; else that of the folder.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the manifest instead of writing it.")
def command(folder: Path, stack: str, to_stdout: bool) -> int:
    """Write a manifest for root modules that exist.

    Each folder with configuration that no other one calls is a module; those below `examples` and `tests` are left out.
    What can't be read off the code stands there as a TODO, and `validate` names it. An existing manifest is never
    touched.
    """
    root = Path(os.path.abspath(folder))  # noqa: PTH100  # symbolic links stay as they are
    file = root / MANIFEST
    if file.exists() and not to_stdout:
        raise _there_already(file)
    draft = draft_stack(root, stack)
    text = manifest_text(draft)
    if to_stdout:
        click.echo(text, nl=False)
        return 0
    _write_new(file, text)
    for line in _told(file, draft, _problems(file)):
        click.echo(line)
    return 0


def _there_already(file: Path) -> PreflightRefused:
    return PreflightRefused(
        f"{file} is there already; nothing was written",
        hint="hybridwrap new --stdout    to compare; or move it away first",
    )


def _write_new(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        raise _there_already(file) from None
    except OSError as error:
        raise PreflightRefused(f"{file} can't be written: {error.strerror}", hint="hybridwrap new --stdout") from error


def _problems(file: Path) -> Sequence[Problem]:
    try:
        return read_stack(file, environment=None, environ=os.environ)[1]
    except InvalidManifest as error:
        return error.problems


def _told(file: Path, draft: Draft, problems: Sequence[Problem]) -> Iterator[str]:
    count = "1 module" if len(draft.certain) == 1 else f"{len(draft.certain)} modules"
    yield f"{os.path.relpath(file)}: {count}: {', '.join(draft.certain)}"
    if draft.doubtful:
        yield f"left as comments, as they may be libraries: {', '.join(sorted(draft.doubtful))}"
    yield from map(str, problems)
    if problems:
        yield "next: look for TODO in it, then: hybridwrap validate"
    elif any(module.place for module in draft.certain.values()):
        yield "next: hybridwrap adopt --all    takes the states that exist into the ledger; then: hybridwrap plan"
    else:
        yield "next: hybridwrap plan"
