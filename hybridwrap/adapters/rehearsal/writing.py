"""Writes the copy: a manifest, a stand-in for each module, and what makes some of them fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from hybridwrap.adapters.manifest.finding import MANIFEST
from hybridwrap.adapters.private_folders import make_private
from hybridwrap.adapters.rehearsal.hcl_text import FILE, SCRIPT, module_text
from hybridwrap.adapters.scaffold.yaml_text import yaml
from hybridwrap.domain.families import family_of
from hybridwrap.domain.json import Json
from hybridwrap.domain.rehearsal import Failure
from hybridwrap.domain.stack import EngineWish, Module, Stack
from hybridwrap.domain.stand_ins import StandIn
from hybridwrap.errors import PreflightRefused

REHEARSALS = "rehearsals"  # the folder of copies for which nobody named one
SOURCES = "stand-ins"
KILL = "kill\n"  # what is in the file of a failure that is a kill, as long as one is on its way
WAITS = ".waits"  # ends the name of the file in which a command that is going to be killed says who it is
LONGEST_STACK = 54
HEAD = """\
# A rehearsal of stack {stack} in {environment}, written by `hybridwrap rehearse`: its graph, with stand-ins for its
# modules. Nothing here is real; remove this folder whenever you like.
version: 1
"""
SCRIPT_TEXT = """\
# What stand-ins run: MODULE apply|destroy. A file in failures/ makes it fail, or wait until it is killed.
failure="${0%/*}/failures/$1.$2"
[ -e "$failure" ] || exit 0
if [ "$(cat "$failure")" = kill ]; then
  echo $$ > "$failure.new" && mv "$failure.new" "$failure.waits"
  sleep 300
fi
echo "this drill wants it so; the repair is: rm failures/$1.$2"
exit 1
"""


def write_copy(folder: Path, stack: Stack, made: Mapping[str, StandIn], failures: Iterable[Failure]) -> None:
    """Write a copy in which those fail that are not killed, into a new or empty folder. Raise PreflightRefused."""
    try:
        if folder.exists() and any(folder.iterdir()):
            raise PreflightRefused(
                f"{folder} is not empty; nothing was written", hint="hybridwrap rehearse --folder NEW"
            )
        make_private(folder)
        folder.chmod(0o700)
        for name, stand_in in made.items():
            make_private(source := folder / SOURCES / name)
            (source / FILE).write_text(module_text(stand_in), encoding="utf-8")
        make_private(folder / "failures")
        for failure in (failure for failure in failures if not failure.kill):
            failure_file(folder, failure).write_text("fail\n", encoding="utf-8")
        (folder / SCRIPT).write_text(SCRIPT_TEXT, encoding="utf-8")
        (folder / MANIFEST).write_text(_manifest(stack, made), encoding="utf-8")
    except OSError as error:
        raise PreflightRefused(f"{error.filename or folder} can't be written: {error.strerror}") from error


def failure_file(folder: Path, failure: Failure) -> Path:
    """The file whose removal repairs a failure."""
    return folder / "failures" / f"{failure.module}.{failure.command}"


def rehearsed_name(stack: str) -> str:
    """The stack's name in the copy: no screen is to be taken for the real one's."""
    return f"{stack[:LONGEST_STACK]}-rehearsal"


def _manifest(stack: Stack, made: Mapping[str, StandIn]) -> str:
    lines = [*HEAD.format(stack=stack.name, environment=stack.environment).splitlines()]
    lines.append(f"stack: {yaml(rehearsed_name(stack.name))}")
    if stack.environment != "default":
        lines.append(f"environments: {{{yaml(stack.environment)}: {{}}}}")
    lines.append("modules:" if made else "modules: {}")
    for family in dict.fromkeys(filter(None, map(family_of, made))):
        keys = ", ".join(f"{yaml(name.partition('.')[2])}: {{}}" for name in made if family_of(name) == family)
        lines.append(f"  {yaml(family)}: {{source: {SOURCES}, for_each: {{{keys}}}}}")
    for name, stand_in in made.items():
        lines.append(f"  {yaml(name)}:")
        lines += (f"    {field}: {yaml(value)}" for field, value in _fields(stand_in, stack))
    return "\n".join(lines) + "\n"


def _fields(stand_in: StandIn, stack: Stack) -> Iterator[tuple[str, Json]]:
    module = stand_in.module
    said: dict[str, Json] = {
        "inputs": dict(stand_in.inputs),
        "depends_on": list(stand_in.needs),
        "owner": module.owner,
        "tags": list(module.tags),
        "protected": module.protected,
        "engine": _engine(module.engine, stack.root),
        **_ways(module),
    }
    yield "source", f"{SOURCES}/{module.name}"
    yield from ((field, value) for field, value in said.items() if value)


def _ways(module: Module) -> Mapping[str, Json]:
    """How it is run; a drill does not wait between two attempts."""
    retry = {"on": list(module.retry.on), "attempts": module.retry.attempts, "wait": "0s"} if module.retry.on else {}
    return {
        "on_destroy": module.on_destroy if module.on_destroy != "destroy" else "",
        "retry": retry,
        "timeout": _number(module.timeout_seconds or 0.0),
    }


def _number(seconds: float) -> Json:
    return int(seconds) if seconds.is_integer() else Decimal(str(seconds))


def _engine(wish: EngineWish, root: Path) -> Mapping[str, Json]:
    program = str((root / wish.program).absolute()) if "/" in wish.program else wish.program
    return {
        name: value for name, value in (("program", program), ("version", wish.version)) if value not in ("", "auto")
    }
