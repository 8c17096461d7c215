"""Everything that `doctor` looks at, in the order in which one thing needs the other."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

from hybridwrap.adapters.checks.engines import check_engines, check_modules
from hybridwrap.adapters.checks.environment import check_environment
from hybridwrap.adapters.checks.host import check_home, check_left_behind
from hybridwrap.adapters.checks.identities import check_identities
from hybridwrap.adapters.clock import SystemClock
from hybridwrap.adapters.home import home_of
from hybridwrap.adapters.manifest import find_manifest, read_stack
from hybridwrap.cli.compose import Workshop, equip
from hybridwrap.cli.options import Place
from hybridwrap.cli.stores import chosen_by, cipher_of, s3_settings_of
from hybridwrap.counting import count_of
from hybridwrap.domain.checkup import Finding, Verdict, ok, problem, warning
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import HybridwrapError, InvalidManifest, PreflightRefused, UsageError
from hybridwrap.run.preflight import missing_hooks

WHOLE_BUCKET = frozenset({"identity", "bucket", "region", "clock"})
FOLDERS_LOOKED_AT = 3  # of states in one bucket


def findings(place: Place, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look at one thing after the other. Raise UsageError for a file or environment that is named and not there."""
    try:
        home_of(Path.cwd(), environ)
    except PreflightRefused as error:
        yield problem("home", error.message, error.hint, error.exit_code)
        return
    file = place.manifest or _manifest_here()
    if file is None:
        yield warning("manifest", f"there is none in {Path.cwd()} or above", "hybridwrap new    writes one")
        yield from _machine(environ, home_of(Path.cwd(), environ), None)
        return
    stack, told = _read(file, place.environment, environ)
    yield told
    yield from _machine(environ, home_of(file.absolute().parent, environ), stack)
    if stack:
        yield from _stack(stack, environ)


def _manifest_here() -> Path | None:
    try:
        return find_manifest(Path.cwd())
    except UsageError:
        return None


def _read(file: Path, environment: str | None, environ: Mapping[str, str]) -> tuple[Stack | None, Finding]:
    try:
        stack, problems = read_stack(file, environment=environment, environ=environ)
    except InvalidManifest as error:
        stack, problems = None, error.problems
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return stack, problem("manifest", f"{problems[0]}{more}", "hybridwrap validate    says all of it")
    assert stack is not None  # noqa: S101 - without problems there is one
    modules = count_of(len(stack.modules), "module")
    return stack, ok("manifest", f"{file}: {stack.name} in {stack.environment}, {modules}")


def _machine(environ: Mapping[str, str], home: Path, stack: Stack | None) -> Iterator[Finding]:
    yield from check_engines(environ, SystemClock(), home / "cache" / "engines.json")
    yield from check_environment(environ, stack.modules if stack else {})
    yield from check_home(home, stack.name if stack else "")


def _stack(stack: Stack, environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        workshop = equip(stack)
    except HybridwrapError as error:  # a key for the ledger that is none
        yield problem("ledger", error.message, error.hint, error.exit_code)
        return
    yield from check_modules(stack, workshop.tools.engines, environ)
    yield from check_identities(stack, workshop.tools.engines)
    yield from _hooks(workshop)
    yield check_left_behind(workshop.folders)
    place = list(_ledger_place(workshop))
    yield from place
    if all(finding.verdict is not Verdict.PROBLEM for finding in place):
        yield from _ledger(workshop, environ)
    yield from _states(workshop, unfit={stack.ledger.bucket} if _is_unfit(place) else set())


def _hooks(workshop: Workshop) -> Iterator[Finding]:
    tools, stack = workshop.tools, workshop.stack
    every = [stack.hooks, *(module.hooks for module in stack.modules.values())]
    count = len({hook[0] for hooks in every for hook in hooks.all})
    missing = missing_hooks(tools, tuple(stack.modules))
    yield from (problem("hooks", told, "put it there, and make it executable") for told in missing)
    if count and not missing:
        yield ok("hooks", "1 program, which is here" if count == 1 else f"{count} programs, all of them here")


def _is_unfit(place: Sequence[Finding]) -> bool:
    """Whether a ledger's bucket as a whole can't be used: its states need not be looked at then."""
    return any(finding.verdict is Verdict.PROBLEM and finding.subject in WHOLE_BUCKET for finding in place)


def _ledger_place(workshop: Workshop) -> Iterator[Finding]:
    stack, tools = workshop.stack, workshop.tools
    if stack.ledger.folder:
        from hybridwrap.adapters.checks.places import check_folder_ledger

        yield from check_folder_ledger(stack.ledger.folder, chosen_by(stack.ledger))
    else:
        from hybridwrap.adapters.checks.places import Bucket, check_s3_ledger

        bucket = Bucket.of(s3_settings_of(stack.ledger), tools.clock, tools.ids)
        yield from check_s3_ledger(bucket, Keys(stack.name, stack.environment))


def _ledger(workshop: Workshop, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look at the ledger itself: whether there is one, and whether its key is the right one."""
    ledger = workshop.ledger
    try:
        there = f"ledger {ledger.id}" if ledger.exists() else "none yet: the first command that writes makes it"
        yield ok("ledger", f"{ledger.place}: {there}")
        cipher, _ = cipher_of(workshop.stack.ledger, environ)
        if cipher:
            from hybridwrap.adapters.checks.encryption import check_key

            yield check_key(ledger.store, Keys(workshop.stack.name, workshop.stack.environment), cipher)
    except HybridwrapError as error:
        yield problem("ledger", error.message, error.hint, error.exit_code)


def _states(workshop: Workshop, unfit: Container[str]) -> Iterator[Finding]:
    from hybridwrap.adapters.checks.places import Bucket, check_s3_states, folders_of
    from hybridwrap.adapters.checks.states import state_places

    stack, tools = workshop.stack, workshop.tools
    places = state_places(stack, workshop.home)
    if places.local:
        yield ok("states", f"{len(places.local)} in files on this machine")
    if places.others:
        yield ok("states", f"{len(places.others)} where only the engine can look: {', '.join(places.others[:4])}")
    for settings, keys in places.buckets.items():
        folders = list(folders_of(keys))
        yield ok("states", f"{len(keys)} in s3://{settings.bucket}/{', '.join(folders[:FOLDERS_LOOKED_AT])}")
        if settings.bucket in unfit:
            continue
        bucket = Bucket.of(settings, tools.clock, tools.ids)
        known = settings.bucket == stack.ledger.bucket
        yield from check_s3_states(bucket, folders[:FOLDERS_LOOKED_AT], known=known)
