"""Builds everything that a command works with; the only place that knows which adapter stands behind which port."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hybridwrap.adapters import templates
from hybridwrap.adapters.home import home_of
from hybridwrap.adapters.manifest import environments_of, find_manifest, load_stack, read_stack
from hybridwrap.adapters.manifest.remote import Fetching
from hybridwrap.adapters.manifest.var_files import given_values
from hybridwrap.adapters.secret_defaults import secret_defaults
from hybridwrap.cli.elsewhere import state_elsewhere
from hybridwrap.cli.options import Place
from hybridwrap.cli.stores import cipher_of, near_store, store_of
from hybridwrap.domain.changes import Changed
from hybridwrap.domain.duration import seconds_in
from hybridwrap.domain.inputs import Host
from hybridwrap.domain.stack import LedgerSettings, OtherStack, Stack
from hybridwrap.errors import Problem, UsageError

if TYPE_CHECKING:
    from hybridwrap.adapters.operation_folders import Folders
    from hybridwrap.domain.ledger import Ledger
    from hybridwrap.run.context import Tools


def load(place: Place, fetching: Fetching = Fetching.MISSING, given: Collection[str] = ()) -> Stack:
    """Read the stack that a command is about; variables that are `given` are not missing.

    Raise UsageError, InvalidManifest, EngineNotUsable.
    """
    return load_stack(_file(place), environment=place.environment, environ=os.environ, fetching=fetching, given=given)


def look_at(place: Place) -> Stack:
    """Read a stack of which nothing will run: what is wrong with its modules' sources does not matter then."""
    return look_closely(place)[0]


def look_closely(place: Place, fetching: Fetching = Fetching.NEVER) -> tuple[Stack, tuple[Problem, ...]]:
    """Read a stack, and what is wrong with its modules' sources. Raise UsageError, InvalidManifest.

    Where a ledger is named instead of a manifest, it is the stack that this ledger remembers.
    """
    if place.ledger:
        from hybridwrap.cli.from_ledger import stack_in_ledger

        return stack_in_ledger(place, os.environ), ()
    return read_stack(_file(place), environment=place.environment, environ=os.environ, fetching=fetching)


def environments(place: Place) -> tuple[str, ...]:
    """Name the environments of the stack that a command is about. Raise UsageError, InvalidManifest."""
    if place.ledger:
        from hybridwrap.cli.from_ledger import environments_in_ledger

        return environments_in_ledger(place)
    return environments_of(_file(place))


def changed(stack: Stack, ref: str) -> Changed:
    """Compare the working copy with a commit, "" for the usual one. Raise UsageError."""
    from hybridwrap.adapters.stack_changes import changed_since

    return changed_since(stack, ref, os.environ)


def _file(place: Place) -> Path:
    return place.manifest or find_manifest(Path.cwd())


class Workshop(Struct, frozen=True):
    """The tools for one stack on this host; nothing is opened or made yet."""

    tools: Tools
    folders: Folders
    home: Path

    @property
    def stack(self) -> Stack:
        return self.tools.stack

    @property
    def ledger(self) -> Ledger:
        return self.tools.ledger


def equip(stack: Stack, *, parallelism: int = 1) -> Workshop:
    """Raise PreflightRefused for a ledger key that is none."""
    # What only looks at the manifest, such as a completion, is not to wait for these.
    from hybridwrap.adapters.ci_jobs import CiJobs
    from hybridwrap.adapters.clock import SystemClock, Ulids
    from hybridwrap.adapters.engine.engines import StackEngines
    from hybridwrap.adapters.hook_commands import HookCommands
    from hybridwrap.adapters.module_sources import StackSources
    from hybridwrap.adapters.operation_folders import Folders
    from hybridwrap.adapters.probes import StackProber
    from hybridwrap.adapters.writer import this_writer
    from hybridwrap.domain.ledger import Ledger
    from hybridwrap.run.context import Tools
    from hybridwrap.run.others import OtherStacks

    environ, clock = dict(os.environ), SystemClock()
    ids = Ulids(clock)
    home = home_of(stack.root, environ)
    cipher, digest_key = cipher_of(stack.ledger, environ)
    store, cache = near_store(store_of(stack.ledger), stack, home)
    ledger = Ledger(
        store=store,
        stack=stack.name,
        environment=stack.environment,
        writer=this_writer(environ, clock.now()),
        clock=clock,
        ids=ids,
        cipher=cipher,
        cache=cache,
    )
    host = Host(
        render=templates.render,
        environ=environ,
        read_text=lambda path: path.read_bytes().decode(),  # line ends stay as they are
        given=lambda module: given_values(module, stack.root),
        defaults=secret_defaults,
    )
    folders = Folders(home, stack.name)
    tools = Tools(
        stack=stack,
        ledger=ledger,
        engines=StackEngines(stack, home, clock, environ, parallelism=parallelism),
        folders=folders,
        host=host,
        sources=StackSources(stack, home, environ),
        prober=StackProber(stack, environ, clock),
        hooks=HookCommands(stack, environ, clock),
        clock=clock,
        ids=ids,
        ci=CiJobs(environ, clock),
        settle_seconds=_settle_seconds(environ),
        digest_key=digest_key,
        others=OtherStacks(
            stack.others,
            ledger_of=lambda other: _ledger_of(other, ledger, environ),
            state_of=lambda other, module: state_elsewhere(other, module, environ),
        ),
    )
    return Workshop(tools, folders, home)


def ledger_of_copy(stack: Stack, copy: Path) -> Ledger:
    """The ledger of a rehearsal, to be read: it lies in the copy, whatever this environment says of homes."""
    from hybridwrap.adapters.clock import SystemClock, Ulids
    from hybridwrap.adapters.home import NAME
    from hybridwrap.adapters.rehearsal.writing import rehearsed_name
    from hybridwrap.adapters.writer import this_writer
    from hybridwrap.domain.ledger import Ledger

    clock = SystemClock()
    store = store_of(LedgerSettings(copy / NAME / "ledger"))
    writer = this_writer(os.environ, clock.now())
    return Ledger(store, rehearsed_name(stack.name), stack.environment, writer, clock, Ulids(clock))


def _ledger_of(other: OtherStack, ours: Ledger, environ: Mapping[str, str]) -> Ledger:
    """Another stack's ledger, to be read."""
    cipher, _ = cipher_of(other.ledger, environ)
    store = store_of(other.ledger)
    return type(ours)(store, other.name, other.environment, ours.writer, ours.clock, ours.ids, cipher)


def _settle_seconds(environ: Mapping[str, str]) -> float:
    """How long a killed engine's last write may be on its way to where this stack's states lie."""
    from hybridwrap.run.context import SETTLE_SECONDS

    said = environ.get("HYBRIDWRAP_SETTLE")
    try:
        return seconds_in(said) if said else SETTLE_SECONDS
    except ValueError as error:
        raise UsageError(f"HYBRIDWRAP_SETTLE: {error}") from error
