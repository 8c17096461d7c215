"""A run that many processes share under the name in `HYBRIDWRAP_RUN`, as a rule the CI system's own id of the run."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.ledger import Ledger
from hybridwrap.errors import UsageError
from hybridwrap.run.context import Part
from hybridwrap.run.selection import Selection

VARIABLE = "HYBRIDWRAP_RUN"
Command = Callable[..., Any]


class Sharing(Struct, frozen=True):
    """How a call takes part in a run that others work on, too."""

    join: bool = False
    among: tuple[str, ...] = ()


ALONE = Sharing()


class SharedRun(Struct, frozen=True):
    command: str
    name: str
    sharing: Sharing = ALONE

    def part(self, part: str) -> Part:
        return Part(part, self.name, self.sharing.join, frozenset(self.sharing.among) or None)


def sharing_options(command: Command) -> Command:
    """Add how to share the work of a run; the command gets one `sharing`."""

    @click.option(
        "--join", is_flag=True, help=f"Take what is ready, with all others of this {VARIABLE}, until nothing is left."
    )
    @click.option(
        "--run-modules",
        "among",
        multiple=True,
        metavar="MODULE",
        envvar="HYBRIDWRAP_RUN_MODULES",
        help=f"What all jobs of this {VARIABLE} are about; only these are waited for. Else the whole stack.",
    )
    @functools.wraps(command)
    def with_sharing(join: bool, among: tuple[str, ...], **rest: Any) -> Any:
        return command(sharing=Sharing(join, among), **rest)

    return with_sharing


def shared_run(command: str, sharing: Sharing = ALONE, *, asks: bool = False) -> SharedRun | None:
    """The run that this call is a part of, None for one of its own. Raise UsageError where somebody would be asked."""
    name = os.environ.get(VARIABLE, "")
    if name and asks:
        raise UsageError(
            f"{VARIABLE} is set: a run of many processes can't ask anybody",
            hint=f"hybridwrap {command} --auto-approve, or without {VARIABLE}",
        )
    if sharing.join and not name:
        raise UsageError(f"--join needs {VARIABLE}: the name of the run that all of them work on")
    return SharedRun(command, name, sharing) if name else None


def among(shared: SharedRun, modules: tuple[str, ...]) -> SharedRun:
    """The same run, of which these are the modules, unless others were said."""
    return shared if shared.sharing.among else replace(shared, sharing=replace(shared.sharing, among=modules))


def selection_of(shared: SharedRun | None, ledger: Ledger, selection: Selection) -> Selection:
    """What is to be done: who joins a run that has begun does what that is about, whatever it was called with."""
    if shared is None or not shared.sharing.join or not ledger.exists():
        return selection
    run = ledger.shared_runs.known(shared.command, shared.name)
    document = ledger.shared_runs.document(run) if run else None
    return replace(Selection(), names=document.modules) if document else selection
