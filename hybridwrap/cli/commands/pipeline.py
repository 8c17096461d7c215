"""`hybridwrap pipeline`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import click

from hybridwrap.adapters.pipelines.request import GRAPH, PLANS, Request, Wishes, remembered
from hybridwrap.adapters.pipelines.writing import FILES, file_of, pipeline_text
from hybridwrap.cli.compose import load
from hybridwrap.cli.options import Place, stack_options
from hybridwrap.domain.pipeline import Shape, read_shape
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import PreflightRefused, UsageError

USUAL = "."  # stands for the usual place: no file is called so


def _fit_shape(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
    if text is not None:
        try:
            read_shape(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return text


@click.command("pipeline")
@stack_options
@click.argument("system", type=click.Choice(list(FILES)))
@click.option(
    "--shape",
    metavar="SHAPE",
    callback=_fit_shape,
    help="Who applies: modules, a job for each; waves; workers[=N], each taking what is ready. Default: workers.",
)
@click.option(
    "--approves",
    type=click.Choice([PLANS, GRAPH]),
    help="What an approval is for: the plans that were shown, which need a key of the ledger, or all that the graph "
    "wants. Default: plans, where there is a key.",
)
@click.option("--branch", help="What is merged into it is applied; main. GitLab knows its own.")
@click.option("--repository", metavar="URL", help="Where Argo's jobs clone from.")
@click.option("--image", help="The container that jobs run in; with it, nothing is installed unless --install says so.")
@click.option("--install", metavar="COMMAND", help="What installs hybridwrap and the engine; else pip.")
@click.option(
    "--setup",
    metavar="NAME",
    help="What gives jobs their credentials: an action (GitHub), a job to extend (GitLab), a service account (Argo).",
)
@click.option("--write", is_flag=False, flag_value=USUAL, metavar="[PATH]", help="Write it, into the usual file.")
@click.option("--check", is_flag=False, flag_value=USUAL, metavar="[PATH]", help="Fail when the file is not current.")
def command(
    place: Place,
    system: str,
    shape: str | None,
    approves: str | None,
    branch: str | None,
    repository: str | None,
    image: str | None,
    install: str | None,
    setup: str | None,
    write: str | None,
    check: str | None,
) -> int:
    """Write a pipeline for a CI system from the graph.

    Plan and comment in pull requests, approval and apply after a merge, a nightly look for drift, teardown on typed
    words, one report for all jobs. The file remembers its options: what you don't say stays as it was. The same graph
    gives the same bytes.
    """
    if write and check:
        raise UsageError("--write and --check contradict each other")
    stack = load(place)
    top = _top(stack)
    wishes = Wishes(shape, approves, branch, repository, image, install, setup)
    request = _request(system, stack, top, wishes)
    file = _file(write or check or USUAL, top / file_of(request))
    request = _request(system, stack, top, wishes.over(_older(file, writes=bool(write))))
    text = pipeline_text(request)
    if check:
        return _compared(file, text, f"{request.made_by} --write{'' if check == USUAL else f' {shlex.quote(check)}'}")
    if write:
        return _written(file, text, request, top)
    click.echo(text, nl=False)
    return 0


def _request(system: str, stack: Stack, top: Path, wishes: Wishes) -> Request:
    manifest = Path(os.path.relpath(stack.file, top)).as_posix()
    shape = read_shape(wishes.shape) if wishes.shape else Shape()
    return Request(system, stack, manifest, shape, wishes)


def _top(stack: Stack) -> Path:
    """The top of the repository. Raise PreflightRefused when there is none."""
    found = next((folder for folder in (stack.root, *stack.root.parents) if (folder / ".git").exists()), None)
    if found is None:
        raise PreflightRefused(f"{stack.root} is in no git repository, and a pipeline checks one out", hint="git init")
    return found


def _file(said: str, usual: Path) -> Path:
    return usual if said == USUAL else Path(said)


def _older(file: Path, *, writes: bool) -> Wishes:
    """What the file was made with. Raise PreflightRefused rather than write over somebody else's."""
    text = _read(file)
    known = remembered(text) if text else Wishes()
    if known is None and writes:
        raise PreflightRefused(
            f"{_shown(file)} is there already, and not made by hybridwrap; nothing was written",
            hint="hybridwrap pipeline SYSTEM --write PATH    for another file",
        )
    return known or Wishes()


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise PreflightRefused(f"{_shown(file)} can't be read: {error}") from error


def _compared(file: Path, text: str, again: str) -> int:
    now = _read(file)
    if now == text:
        click.echo(f"{_shown(file)} is current")
        return 0
    name = _shown(file)
    diff = unified_diff(now.splitlines(keepends=True), text.splitlines(keepends=True), name, f"{name} by the graph")
    click.echo("".join(diff), nl=False)
    raise PreflightRefused(
        f"{name} is not what the graph gives today" if now else f"{name} is not there",
        hint=again,
    )


def _written(file: Path, text: str, request: Request, top: Path) -> int:
    if _read(file) == text:
        click.echo(f"{_shown(file)} is current")
        return 0
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise PreflightRefused(f"{_shown(file)} can't be written: {error.strerror}") from error
    jobs = len(request.jobs)
    modules = len(request.stack.modules)
    told = f"{modules} module{'s' * (modules != 1)}, applied by {jobs} job{'s' * (jobs != 1)}"
    click.echo(f"{_shown(file)}: {told}")
    for line in _next(file, request, top):
        click.echo(line)
    return 0


def _next(file: Path, request: Request, top: Path) -> Iterator[str]:
    if not request.stack.ledger.bucket:
        yield "note: the ledger lies in a folder: jobs on several machines need one in S3"
    if not request.wishes.install and not request.wishes.image:
        yield "note: hybridwrap is not on PyPI yet: say where jobs get it, by --install COMMAND or --image IMAGE"
    match request.system:
        case "github":
            yield "next: in the repository's settings, make the environments that its first lines name; then commit it"
        case "gitlab":
            inside = Path(os.path.relpath(file, top)).as_posix()
            if inside not in _read(top / ".gitlab-ci.yml"):
                yield f'next: in .gitlab-ci.yml: include: [{{local: "{inside}"}}]'
        case _:
            yield f"next: kubectl apply -f {_shown(file)}"


def _shown(file: Path) -> str:
    return os.path.relpath(file)
