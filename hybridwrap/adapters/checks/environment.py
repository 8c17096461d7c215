"""Variables of the environment that change what an engine does, and the plugin cache that they name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from hybridwrap.adapters.engine.environment import engine_environment
from hybridwrap.adapters.engine.file_locks import plugin_cache
from hybridwrap.adapters.engine.initialised import cli_configuration
from hybridwrap.domain.checkup import Finding, ok, warning
from hybridwrap.domain.inputs import TF_VAR
from hybridwrap.domain.stack import Module

REATTACH = "TF_REATTACH_PROVIDERS"
LOUD = ("TF_LOG", "TF_LOG_CORE", "TF_LOG_PROVIDER")


def check_environment(environ: Mapping[str, str], modules: Mapping[str, Module]) -> Iterator[Finding]:
    """Name what is set and matters; what would mislead an engine is said with the engines."""
    found = [*_not_passed_on(environ, modules), *_noted(environ), *_inputs(environ, modules)]
    yield from found or [ok("variables", "none is set that would change what an engine does")]


def _noted(environ: Mapping[str, str]) -> Iterator[Finding]:
    for name in (name for name in LOUD if environ.get(name)):
        yield warning(name, f"is {environ[name]}: logs grow large, and may hold secrets", f"unset {name}")
    if environ.get(REATTACH):
        text = "providers that are already running are used instead of installed ones"
        yield warning(REATTACH, text, f"unset {REATTACH}    unless you are debugging one")


def _inputs(environ: Mapping[str, str], modules: Mapping[str, Module]) -> Iterator[Finding]:
    used = {name for module in modules.values() for name in module.interface.variables}
    given = sorted(name for name in environ if name.startswith(TF_VAR) and name.removeprefix(TF_VAR) in used)
    if given:
        yield ok("variables", f"inputs where the manifest is silent: {', '.join(given)}")


def _not_passed_on(environ: Mapping[str, str], modules: Mapping[str, Module]) -> Iterator[Finding]:
    anything = next(iter(modules.values()), Module("", Path()))
    for told in engine_environment(environ, anything)[1]:
        name, _, text = told.partition(" ")
        yield warning(name, text, f"unset {name}")


def check_plugin_cache(environ: Mapping[str, str], product: str, count: int) -> Finding:
    """Look at the plugin cache; without one every module downloads its own providers."""
    cache = plugin_cache(environ, cli_configuration(environ, product))
    if cache is None:
        text = "none: each module keeps a copy of its providers"
        fix = 'export TF_PLUGIN_CACHE_DIR="$HOME/.terraform.d/plugin-cache"    and make that folder'
        return warning("plugin cache", text, fix) if count > 1 else ok("plugin cache", text)
    if not cache.is_dir():
        return warning("plugin cache", f"{cache} is not there: the engine stops at it", f"mkdir -p {cache}")
    if not os.access(cache, os.W_OK):
        return ok("plugin cache", f"{cache}, which can only be read: inits need not wait for each other")
    if product == "terraform":
        text = f"{cache}: hybridwrap lets one init at a time write there, as two of Terraform's write wrong hashes"
        return ok("plugin cache", f"{text}; so must everybody else who uses it")
    return ok("plugin cache", str(cache))
