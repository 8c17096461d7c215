"""`hybridwrap new`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec import Struct

from hybridwrap.adapters.manifest.finding import MANIFEST
from hybridwrap.adapters.manifest.loading import environments_of, read_stack
from hybridwrap.adapters.scaffold.draft import Draft
from hybridwrap.adapters.scaffold.drafting import draft_stack
from hybridwrap.adapters.scaffold.evidence import Patterns
from hybridwrap.adapters.scaffold.finding import FROM_TERRAGRUNT
from hybridwrap.adapters.scaffold.naming import usable
from hybridwrap.adapters.scaffold.writing import manifest_text
from hybridwrap.adapters.source import GENERATED
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.options import NOWHERE, Place
from hybridwrap.counting import count_of
from hybridwrap.errors import InvalidManifest, PreflightRefused, Problem, UsageError

_ADOPT = "hybridwrap adopt --all{0}    takes the states that exist into the ledger; then: hybridwrap plan{0}"
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("new")
@click.argument("folder", required=False, type=FOLDER)
@click.option("--from-terraform", "terraform", type=FOLDER, metavar="DIR", help="The same as to name FOLDER.")
@click.option(
    "--from-terragrunt",
    "terragrunt",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE|DIR",
    help="From what `terragrunt render --all --json --write` left there, or `terragrunt find --json` printed.",
)
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
    terragrunt: Path | None,
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
    if sum(place is not None for place in (folder, terraform, terragrunt)) > 1:
        raise UsageError("name one place: FOLDER, --from-terraform DIR or --from-terragrunt FILE|DIR")
    if terragrunt and (var_files or backend_config):
        raise UsageError("--var-file and --backend-config are for --from-terraform: Terragrunt says what it uses")
    if stack and stack != usable(stack, ""):
        raise UsageError(f"{stack!r} can't be the name of a stack; {usable(stack, 'stack')!r} could")
    found = (
        _from_terragrunt(terragrunt, stack)
        if terragrunt
        else _from_terraform(folder or terraform or Path(), stack, Patterns(var_files, backend_config))
    )
    if to_stdout:
        click.echo(found.text, nl=False)
        return 0
    _write(found)
    return 0


class Found(Struct, frozen=True):
    """A manifest to be written into `root`, what is told of it, and what to type when it has no problems."""

    root: Path
    text: str
    told: tuple[str, ...]
    next: str


def _write(found: Found) -> None:
    file = found.root / MANIFEST
    _write_new(file, found.text)
    problems = _problems(file)
    for line in (f"{os.path.relpath(file)}: {found.told[0]}", *found.told[1:], *map(str, problems)):
        click.echo(line)
    following = "look for TODO in it, then: hybridwrap validate" if problems else found.next
    click.echo(f"next: {as_typed(following, _place(file))}")


def _place(file: Path) -> Place:
    """What a command has to be told to find this manifest from the current folder."""
    here = Path.cwd()
    return NOWHERE if file.parent in (here, *here.parents) else Place(Path(os.path.relpath(file)), None)


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  # symbolic links stay as they are


def _from_terraform(folder: Path, stack: str, patterns: Patterns) -> Found:
    draft = draft_stack(_absolute(folder), stack, patterns)
    return Found(draft.root, manifest_text(draft), tuple(_told(draft)), _next(draft))


def _from_terragrunt(place: Path, stack: str) -> Found:
    from hybridwrap.adapters.terragrunt.drafting import draft_units
    from hybridwrap.adapters.terragrunt.units import read_units
    from hybridwrap.adapters.terragrunt.writing import manifest_text as text_for
    from hybridwrap.adapters.terragrunt.writing import told_losses

    root = _absolute(place if place.is_dir() else place.parent)
    estate = draft_units(read_units(place), root, stack)
    losses = tuple(f"no counterpart: {line}" for line in told_losses(estate))
    return Found(root, text_for(estate), (_counted(list(estate.modules)), *losses), _ADOPT.format(""))


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


def _told(draft: Draft) -> Iterator[str]:
    yield _counted(list(draft.certain))
    if draft.environments:
        yield f"environments: {', '.join(draft.environments)}"
    if draft.doubtful:
        yield f"left as comments, as they may be libraries: {', '.join(sorted(draft.doubtful))}"
    if draft.terragrunt:
        yield f"there are units of Terragrunt, which were not looked at: {FROM_TERRAGRUNT}"
    if _unignored(draft):
        yield f"for .gitignore: {GENERATED}, which modules without a backend block get"


def _counted(names: Sequence[str]) -> str:
    return f"{count_of(len(names), 'module')}: {', '.join(names)}"


def _next(draft: Draft) -> str:
    said = f" -e {draft.environments[0]}" if len(draft.environments) > 1 else ""
    if any(module.interface.backend or module.has_local_state for module in draft.certain.values()):
        return _ADOPT.format(said)
    return f"hybridwrap plan{said}"


def _unignored(draft: Draft) -> bool:
    """Whether git would show a file that is going to be generated."""
    ignored = draft.root / ".gitignore"
    said = ignored.read_text(encoding="utf-8", errors="replace") if ignored.is_file() else ""
    in_git = any((folder / ".git").exists() for folder in (draft.root, *draft.root.parents))
    return in_git and GENERATED not in said and any(not m.interface.backend for m in draft.certain.values())
