"""`hybridwrap new`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from hybridwrap.adapters.manifest.finding import MANIFEST
from hybridwrap.adapters.manifest.loading import environments_of, read_stack
from hybridwrap.adapters.scaffold.draft import Draft
from hybridwrap.adapters.scaffold.drafting import draft_stack
from hybridwrap.adapters.scaffold.evidence import Patterns
from hybridwrap.adapters.scaffold.writing import manifest_text
from hybridwrap.adapters.source import GENERATED
from hybridwrap.errors import InvalidManifest, PreflightRefused, Problem, UsageError

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("new")
@click.argument("folder", required=False, type=FOLDER)
@click.option("--from-terraform", "terraform", type=FOLDER, metavar="DIR", help="The same as to name FOLDER.")
@click.option(
    "--var-file",
    "var_files",
    multiple=True,
    metavar="PATTERN",
    help="How variable files are called, as env/{environment}.tfvars: seen from each module, else from FOLDER.",
)
@click.option(
    "--backend-config",
    multiple=True,
    metavar="PATTERN",
    help="How the files are called that complete backend blocks, as backend/{environment}.tfbackend.",
)
@click.option("--stack", default="", metavar="NAME", help="Name of the stack; else that of the folder.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the manifest instead of writing it.")
def command(
    folder: Path | None,
    terraform: Path | None,
    var_files: tuple[str, ...],
    backend_config: tuple[str, ...],
    stack: str,
    to_stdout: bool,
) -> int:
    """Write a manifest for root modules that exist.

    Each folder with configuration that no other one calls is a module; those below `examples` and `tests` are left out.
    Variable files, backend files and workspaces say which environments there are. What can't be read off the code
    stands there as a TODO, and `validate` names it. An existing manifest is never touched, and no other file is.
    """
    if folder and terraform:
        raise UsageError("name the folder once: FOLDER, or --from-terraform DIR")
    root = Path(os.path.abspath(folder or terraform or "."))  # noqa: PTH100  # symbolic links stay as they are
    draft = draft_stack(root, stack, Patterns(var_files, backend_config))
    text = manifest_text(draft)
    if to_stdout:
        click.echo(text, nl=False)
        return 0
    file = root / MANIFEST
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
    """What is wrong in any environment, each thing once."""
    found: dict[str, Problem] = {}
    for environment in environments_of(file):
        try:
            problems: Sequence[Problem] = read_stack(file, environment=environment, environ=os.environ)[1]
        except InvalidManifest as error:
            problems = error.problems
        found |= {str(problem): problem for problem in problems}
    return tuple(found.values())


def _told(file: Path, draft: Draft, problems: Sequence[Problem]) -> Iterator[str]:
    count = "1 module" if len(draft.certain) == 1 else f"{len(draft.certain)} modules"
    yield f"{os.path.relpath(file)}: {count}: {', '.join(draft.certain)}"
    if draft.environments:
        yield f"environments: {', '.join(draft.environments)}"
    if draft.doubtful:
        yield f"left as comments, as they may be libraries: {', '.join(sorted(draft.doubtful))}"
    yield from map(str, problems)
    if _unignored(draft):
        yield f"for .gitignore: {GENERATED}, which modules without a backend block get"
    if problems:
        yield "next: look for TODO in it, then: hybridwrap validate"
        return
    said = f" -e {draft.environments[0]}" if len(draft.environments) > 1 else ""
    if any(module.interface.backend or module.has_local_state for module in draft.certain.values()):
        what = "takes the states that exist into the ledger"
        yield f"next: hybridwrap adopt --all{said}    {what}; then: hybridwrap plan{said}"
    else:
        yield f"next: hybridwrap plan{said}"


def _unignored(draft: Draft) -> bool:
    """Whether git would show a file that is going to be generated."""
    ignored = draft.root / ".gitignore"
    said = ignored.read_text(encoding="utf-8", errors="replace") if ignored.is_file() else ""
    in_git = any((folder / ".git").exists() for folder in (draft.root, *draft.root.parents))
    return in_git and GENERATED not in said and any(not m.interface.backend for m in draft.certain.values())
