"""The other stacks whose outputs a manifest uses: where their ledgers lie, and which environments are meant."""

from __future__ import annotations

from msgspec.structs import replace

from hybridwrap.adapters.home import HOME_VARIABLE
from hybridwrap.adapters.manifest.environment import declared_environments, in_environment
from hybridwrap.adapters.manifest.node import Findings, Node, empty
from hybridwrap.adapters.manifest.parts import read_main
from hybridwrap.adapters.manifest.scope import Scope, Where
from hybridwrap.adapters.manifest.settings import read_ledger, text
from hybridwrap.adapters.manifest.wording import did_you_mean
from hybridwrap.domain.stack import LedgerSettings, OtherStack
from hybridwrap.errors import InvalidManifest, UsageError


class Unreadable(ValueError):
    """Another stack's manifest does not say where its ledger lies; the text says why."""


def read_others(root: Node, own: LedgerSettings, scope: Scope) -> dict[str, OtherStack]:
    """Read what `stacks` declares; one that cannot be found is an error of this manifest, whose ledger is `own`."""
    declared = root.get("stacks") or empty(root.mark)
    found: dict[str, OtherStack] = {}
    for name, node in declared.fields.items():
        where: Where = ("stacks", name)
        try:
            other = _by_manifest(node, where, scope) if node.get("manifest") else _by_ledger(name, node, scope)
        except Unreadable as error:
            scope.error(node.get("manifest") or node, where, str(error))
            continue
        if (other.name, other.environment, other.ledger) == (scope.stack, scope.environment, own):
            scope.error(node, where, "is this very stack: write modules.MODULE.OUTPUT")
        found[name] = other
    return found


def _by_manifest(node: Node, where: Where, scope: Scope) -> OtherStack:
    if strange := node.get("ledger") or node.get("stack"):
        scope.error(strange, where, "its manifest says that: leave it out")
    child = node.fields["manifest"]
    written = scope.fill(child, (*where, "manifest"))
    file = scope.beside(child, written)
    try:
        main = read_main(file).node
    except UsageError as error:
        raise Unreadable(f"{written} can't be read: there is no such file") from error
    except InvalidManifest as error:
        raise Unreadable(f"{written} is no manifest: {error.problems[0].message}") from error
    environment = _environment(node, where, declared_environments(main), scope)
    ledger = _ledger_of(main, Scope(file, text(main.get("stack")), environment, _at_home(scope)), written)
    return OtherStack(text(main.get("stack")), environment, ledger, file, scope.from_root(child, written))


def _environment(node: Node, where: Where, there: tuple[str, ...], scope: Scope) -> str:
    """The one that is said; else the one with our own name, or the only one."""
    said = node.get("environment")
    wanted = scope.fill(said, (*where, "environment")) if said else scope.environment
    if wanted in there:
        return wanted
    if not said and len(there) == 1:
        return there[0]
    raise Unreadable(f'it has no environment "{wanted}"{did_you_mean(wanted, there)}; say `environment`')


def _ledger_of(main: Node, there: Scope, written: str) -> LedgerSettings:
    """Read where a ledger lies from a manifest whose form nobody has checked."""
    if not there.stack:
        raise Unreadable(f"{written} names no stack")
    try:
        ledger = read_ledger(in_environment(main, there.environment, Findings()), there)
    except (AttributeError, KeyError, TypeError) as error:
        raise Unreadable(
            f"{written} says its ledger in a wrong form; next: hybridwrap validate -f {written}"
        ) from error
    if there.findings.errors:
        raise Unreadable(f"{written}: {there.findings.errors[0].message}")
    return ledger


def _at_home(scope: Scope) -> dict[str, str]:
    """The environment without the folder that is ours alone."""
    return {name: value for name, value in scope.environ.items() if name != HOME_VARIABLE}


def _by_ledger(alias: str, node: Node, scope: Scope) -> OtherStack:
    where: Where = ("stacks", alias)
    ledger = node.get("ledger")
    if ledger is None or not (ledger.get("s3") or ledger.get("folder")):
        raise Unreadable("name its manifest, or its ledger by `s3` or `folder`")
    name, said = text(node.get("stack"), alias), node.get("environment")
    environment = scope.fill(said, (*where, "environment")) if said else scope.environment
    there = replace(scope, stack=name, environment=environment)
    return OtherStack(name, environment, read_ledger(replace(node, value={"ledger": ledger}), there))
