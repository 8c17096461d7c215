"""The modules of a manifest, from nodes to their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.adapters.manifest.hooks import read_hooks
from hybridwrap.adapters.manifest.identity import read_account, read_credentials
from hybridwrap.adapters.manifest.layers import Layered
from hybridwrap.adapters.manifest.node import Node, dotted, empty, overlay, plain
from hybridwrap.adapters.manifest.remote import locate
from hybridwrap.adapters.manifest.scope import PLACEHOLDER, Scope, Where
from hybridwrap.adapters.manifest.settings import (
    read_engine,
    read_guard,
    read_retry,
    read_state,
    read_verify,
    seconds,
    text,
    texts,
)
from hybridwrap.adapters.manifest.values import read_input
from hybridwrap.adapters.own_variables import OWN_VARIABLES, instead_of
from hybridwrap.adapters.remote_sources import without_secrets
from hybridwrap.adapters.templates import is_template
from hybridwrap.domain.stack import EngineWish, Interface, LedgerSettings, Module, OtherStack


class Draft(Struct, frozen=True):
    """A module as declared, before its source was read; `node` has the defaults below the module's own fields."""

    name: str
    node: Node
    own_inputs: Mapping[str, Node]
    default_inputs: Mapping[str, Node]
    source: Path
    engine: EngineWish
    origin: str = ""  # of a remote source, what was fetched

    @property
    def where(self) -> tuple[str, ...]:
        return ("modules", *self.name.split("."))

    @property
    def shown(self) -> str:
        """The source as the manifest has it."""
        return without_secrets(text(self.node.get("source")))

    def inputs(self, interface: Interface | None) -> dict[str, Node]:
        """The module's own inputs over those defaults whose variable it declares."""
        known = interface.variables if interface else {}
        found = {name: node for name, node in self.default_inputs.items() if name in known}
        return found | {name: overlay(found.get(name), node) or node for name, node in self.own_inputs.items()}


class Built(Struct, frozen=True):
    """A manifest in one environment; a module whose source could not be read has no interface here."""

    drafts: Mapping[str, Draft]
    modules: Mapping[str, Module]
    interfaces: Mapping[str, Interface]
    ledger: LedgerSettings
    others: Mapping[str, OtherStack] = {}


def draft_modules(layered: Layered, scope: Scope) -> dict[str, Draft]:
    """Lay the defaults below every module that is not left out."""
    root = layered.root
    modules = root.get("modules") or empty(root.mark)
    return {
        name: _draft(name, node, layered.defaults_of(name), root, scope)
        for name, node in modules.fields.items()
        if (enabled := node.get("enabled")) is None or enabled.value
    }


def _draft(name: str, node: Node, defaults: Node, root: Node, scope: Scope) -> Draft:
    source = node.get("source")
    if source is None:  # only an environment names it
        scope.error(node, ("modules", name), '"source" is missing')
    own, common = (found.fields if (found := part.get("inputs")) else {} for part in (node, defaults))
    engine, whole = read_engine(root, node, scope), overlay(defaults, node) or node
    folder, origin = locate(whole, ("modules", *name.split(".")), engine, scope)
    return Draft(name, whole, own, common, folder, engine, origin)


def build_module(draft: Draft, interface: Interface | None, root: Node, scope: Scope) -> Module:
    node, name = draft.node, draft.name
    inputs = draft.inputs(interface)
    return Module(
        name=name,
        source=draft.source,
        origin=draft.origin,
        interface=interface or Interface(),
        inputs={n: read_input(child, (*draft.where, "inputs", n), scope, name) for n, child in inputs.items()},
        depends_on=texts(node.get("depends_on")),
        owner=text(node.get("owner")),
        var_files=tuple(_paths(draft, "var_files", scope)),
        env=env_of(node, draft.where, scope),
        credentials=read_credentials(overlay(root.get("credentials"), node.get("credentials")), scope).of(name),
        account=read_account(node.get("account") or root.get("account")),
        state=read_state(root, draft.node, scope, name),
        backend_config=tuple(_paths(draft, "backend_config", scope)),
        workspace=workspace_of(draft, scope),
        engine=draft.engine,
        tags=texts(node.get("tags")),
        protected=bool(plain(flag)) if (flag := node.get("protected")) else False,
        on_destroy=text(node.get("on_destroy"), "destroy"),
        retry=read_retry(node.get("retry"), (*draft.where, "retry"), scope),
        timeout_seconds=seconds(node.get("timeout")),
        verify=read_verify(node.get("verify"), (*draft.where, "verify"), scope, name),
        guard=read_guard(node.get("guard")),
        watch=tuple(map(str, _paths(draft, "watch", scope))),
        hooks=read_hooks(node.get("hooks")),
        declared_at=scope.place(node),
    )


def with_reads(modules: Mapping[str, Module], reads: Mapping[str, Mapping[str, str]]) -> Mapping[str, Module]:
    """Give modules their edges of kind `state`: whose states they read by themselves, and where."""
    return {name: replace(m, reads=reads[name]) if name in reads else m for name, m in modules.items()}


def workspace_of(draft: Draft, scope: Scope) -> str:
    node = draft.node.get("workspace")
    return scope.fill(node, (*draft.where, "workspace"), draft.name) if node else ""


def _paths(draft: Draft, field: str, scope: Scope) -> Iterator[Path]:
    for _, path in path_nodes(draft, field, scope):
        yield path


def path_nodes(draft: Draft, field: str, scope: Scope) -> Iterator[tuple[Node, Path]]:
    """The files that a field names, each with the node that does."""
    node = draft.node.get(field)
    for at, child in enumerate(node.items if node else ()):
        written = scope.fill(child, (*draft.where, field, at), draft.name)
        if not PLACEHOLDER.search(written):  # else that is the error
            yield child, scope.beside(child, written)


def env_of(owner: Node | None, where: Where, scope: Scope) -> dict[str, str]:
    """Read the `env` of a module or of the defaults."""
    node = owner.get("env") if owner else None
    if node is None:
        return {}
    for name, child in node.fields.items():
        if OWN_VARIABLES.fullmatch(name):
            told = f"{name} cannot be set here{instead_of(name)}"
            scope.findings.error(child.key, dotted((*where, "env", name)), told)
        if is_template(text(child)):
            scope.error(child, (*where, "env", name), "a template can only be an input")
    return {name: text(child) for name, child in node.fields.items()}
