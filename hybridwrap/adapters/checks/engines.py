"""Engines: which are there, which one each module gets, and whether it will do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from hybridwrap.adapters.checks.environment import check_plugin_cache
from hybridwrap.adapters.engine import programs
from hybridwrap.adapters.engine.process import Processes
from hybridwrap.adapters.engine.programs import NAMES, Program
from hybridwrap.adapters.engine.versions import Versions
from hybridwrap.counting import count_of
from hybridwrap.domain.checkup import Finding, ok, problem, warning
from hybridwrap.domain.entry import EngineIdentity
from hybridwrap.domain.ports import Clock, Engines
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import EngineNotUsable, NothingHappened

SHOWN = 4  # names of modules in a line


def check_engines(environ: Mapping[str, str], clock: Clock, cache: Path) -> Iterator[Finding]:
    """Name each engine that is on this machine."""
    versions = Versions(cache, Processes(clock))
    found = False
    for name in programs.AUTO:
        try:
            program = programs.find(name, search=environ.get("PATH", ""), base=Path.cwd())
            identity = versions.identify(program, environ, Path.cwd())
        except EngineNotUsable:
            continue
        found = True
        yield _engine(program, identity)
    if not found:
        fix = "install Terraform or OpenTofu, or: pip install 'hybridwrap[embedded]'"
        yield problem("engine", "neither terraform nor tofu is on PATH, and there is no embedded one", fix, 40)


def _engine(program: Program, identity: EngineIdentity) -> Finding:
    told = f"{NAMES[identity.product]} {identity.version}: {program}"
    if programs.is_old(identity):
        return warning("engine", f"{told}, which is too old", f"{programs.OLDEST[identity.product]} or newer")
    return ok("engine", told)


def check_modules(stack: Stack, engines: Engines, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Set up the engine of each module, as every command does before it starts one."""
    fit: dict[EngineIdentity, list[str]] = {}
    for module in (module for module in stack.modules.values() if module.source.is_dir()):
        try:
            identity = engines.at(module).identity
        except NothingHappened as error:
            yield problem(f"module {module.name}", error.message, error.hint, error.exit_code)
        else:
            fit.setdefault(identity, []).append(module.name)
            if identity.product == "opentofu" and _keeps_local_state(stack, module.name):
                yield _forgetful(module.name)
    for identity, names in fit.items():
        engine = f"{NAMES[identity.product]} {identity.version}"
        yield ok("modules", f"{some(names)} with {engine}, which their rules allow")
        yield check_plugin_cache(environ, identity.product, len(names))


def _keeps_local_state(stack: Stack, name: str) -> bool:
    module = stack.modules[name]
    return (module.interface.backend.type if module.interface.backend else module.state.backend) == "local"


def _forgetful(name: str) -> Finding:
    text = "OpenTofu writes a local state every 20 seconds only: killed in a first apply, it loses nearly all of it"
    return warning(f"module {name}", text, "state: {s3: …}    in the manifest, or Terraform")


def some(names: list[str]) -> str:
    """Count modules, and name the first of them."""
    count = count_of(len(names), "module")
    more = ", …" if len(names) > SHOWN else ""
    return f"{count} ({', '.join(names[:SHOWN])}{more})"
