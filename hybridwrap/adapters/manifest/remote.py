"""Sources of a manifest that are no folders here: where they lie once they are fetched."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from hybridwrap.adapters.manifest.node import Node, dotted
from hybridwrap.adapters.manifest.scope import Scope, Where
from hybridwrap.adapters.manifest.settings import check_constraint, text
from hybridwrap.adapters.remote_sources import Fetched, NotFetched, Remote, RemoteSources, remote_of
from hybridwrap.domain.stack import EngineWish


class Fetching(StrEnum):
    """When sources are fetched: by who only looks never, else where they are missing, or all of them again."""

    NEVER = "never"
    MISSING = "missing"
    AGAIN = "again"


def locate(node: Node, where: Where, engine: EngineWish, scope: Scope) -> tuple[Path, str]:
    """Say where a module's source lies, and for a remote one what it is of. Raise EngineNotUsable, PreflightRefused.

    `node` is the module's, with what lies below it.
    """
    source, version = node.get("source"), node.get("version")
    remote = remote_of(text(source), text(version))
    if source is None or remote is None:
        return scope.beside(source or node, text(source)), ""
    nowhere = RemoteSources(scope.root, scope.stack, scope.environ).place(remote) / "not-fetched"
    if version and not _is_constraint(version, (*where, "version"), scope):
        return nowhere, str(remote)
    if not remote.pinned:
        message = f"{remote} names no ref: what it is can change from one day to the next; add ?ref=…"
        scope.source_findings.warn(source.mark, dotted((*where, "source")), message)
    fetched = _fetched(remote, source, (*where, "source"), engine, node, scope)
    if fetched is None:
        return nowhere, str(remote)
    return fetched.folder, f"{remote} at {fetched.resolved}" if fetched.resolved else str(remote)


def _is_constraint(version: Node, where: Where, scope: Scope) -> bool:
    before = len(scope.findings.errors)
    check_constraint(version, where, scope)
    return len(scope.findings.errors) == before


def _fetched(
    remote: Remote, source: Node, where: Where, engine: EngineWish, node: Node, scope: Scope
) -> Fetched | None:
    key = (remote.source, remote.version)
    if key not in scope.fetched:
        sources = RemoteSources(scope.root, scope.stack, scope.environ)
        look = sources.known if scope.fetching == Fetching.NEVER else sources.take
        found = None if scope.fetching == Fetching.AGAIN else look(remote)
        try:
            if found is None and scope.fetching != Fetching.NEVER:
                found = sources.fetch(remote, engine.program, _env(node))
        except NotFetched as error:
            scope.source_findings.error(source.mark, dotted(where), f"{remote} can't be fetched: {error}")
        scope.fetched[key] = found
    if scope.fetched[key] is None and scope.fetching == Fetching.NEVER:
        message = f"{remote} is not fetched on this host; next: hybridwrap init"
        scope.source_findings.error(source.mark, dotted(where), message)
    return scope.fetched[key]


def _env(node: Node) -> dict[str, str]:
    env = node.get("env")
    return {name: text(child) for name, child in env.fields.items()} if env else {}
