"""As whom the engines of a stack's modules would act, where the manifest says something about that."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from hybridwrap.adapters.checks.engines import some
from hybridwrap.domain.checkup import Finding, ok, problem
from hybridwrap.domain.identity import Caller
from hybridwrap.domain.ports import Engines
from hybridwrap.domain.stack import Module, Stack
from hybridwrap.errors import CredentialsRefused, NothingHappened

KEY = "AWS_ACCESS_KEY_ID"
SUBJECT = "credentials"


def check_identities(stack: Stack, engines: Engines) -> Iterator[Finding]:
    """Have credentials made, once for all modules that are alike, and compare accounts; what is printed stays here."""
    groups: dict[str, list[Module]] = {}
    for module in stack.modules.values():
        if module.account or module.credentials.command:
            groups.setdefault(repr((module.account, module.credentials, sorted(module.env.items()))), []).append(module)
    for modules in groups.values():
        yield from _alike(modules, engines)


def _alike(modules: Sequence[Module], engines: Engines) -> Iterator[Finding]:
    first, names = modules[0], some([module.name for module in modules])
    try:
        engine = engines.at(first)
    except NothingHappened:  # the engines' part of a checkup says so
        return
    try:
        printed = engine.renew()
        if printed:
            yield ok(SUBJECT, f"{names}: {', '.join(sorted(printed))} from {shlex.join(first.credentials.command)}")
        if first.account or KEY in printed:
            yield _compared(first, names, engine.caller())
    except CredentialsRefused as error:
        yield problem(SUBJECT, f"{names}: {error.message}", error.hint or "repair it, then: hybridwrap doctor")


def _compared(module: Module, names: str, caller: Caller) -> Finding:
    if module.account in ("", caller.account):
        return ok("account", f"{names}: {caller}" + (", as the manifest says" if module.account else ""))
    fix = "log in there, or correct `account`, `env` or `credentials` in the manifest"
    return problem("account", f"{names}: {caller}; the manifest says {module.account}", fix)
