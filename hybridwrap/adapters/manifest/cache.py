"""What the last check of a manifest found out, kept while manifest and sources stay the same: it saves the check."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct, to_builtins

from hybridwrap import __version__
from hybridwrap.adapters.home import home_of, make_home
from hybridwrap.adapters.manifest.engines import takes_tofu
from hybridwrap.adapters.manifest.modules import Draft, path_nodes
from hybridwrap.adapters.manifest.parts import Files
from hybridwrap.adapters.manifest.scope import Scope
from hybridwrap.adapters.source import fingerprint
from hybridwrap.adapters.whole_file import put_whole
from hybridwrap.domain.inputs import TF_VAR
from hybridwrap.domain.json import Json, canonical, loads
from hybridwrap.domain.stack import BackendBlock, DeclaredOutput, Interface, Reference, StateRead, Variable
from hybridwrap.errors import PreflightRefused


class Checked(Struct, frozen=True):
    """A check without errors; `manifest` and `sources` are digests of what it was made from."""

    manifest: str = ""
    sources: str = ""
    interfaces: Mapping[str, Interface] = {}
    references: Mapping[str, tuple[Reference, ...]] = {}  # of templates
    warnings: tuple[str, ...] = ()
    reads: Mapping[str, Mapping[str, str]] = {}  # of states of other modules


def manifest_digest(files: Files) -> str:
    """Digest the text of all files, and which ones they are."""
    total = hashlib.sha256(__version__.encode() + b"\0")
    for part in files.all:
        name = os.path.relpath(part.file, files.main.file.parent)
        total.update(f"{name}\0{len(part.data)}\0".encode("utf-8", "surrogateescape") + part.data)
    return total.hexdigest()


def sources_digest(drafts: Collection[Draft], scope: Scope) -> str:
    """Digest everything besides the manifest that a check depends on."""
    from_files = [
        path for d in drafts for field in ("var_files", "backend_config") for _, path in path_nodes(d, field, scope)
    ]
    exported = {name for name in scope.environ if name.startswith(TF_VAR)}
    outside = sorted(exported.union(TF_VAR + name for name in scope.given))
    engines = {d.name: takes_tofu(d.engine, scope.environ) for d in drafts}
    digest = fingerprint((d.source for d in drafts), from_files)
    return hashlib.sha256(canonical([digest, outside, engines])).hexdigest()


def _file(scope: Scope) -> Path:
    name = hashlib.sha256(f"{scope.file}\0{scope.environment}".encode("utf-8", "surrogateescape")).hexdigest()
    return home_of(scope.root, scope.environ) / "cache" / f"manifest-{name[:16]}.json"


def recall(scope: Scope) -> Checked:
    """Read the last check; one that is absent, unreadable or of another form is no check."""
    try:
        return _from_json(loads(_file(scope).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Checked()


def remember(checked: Checked, scope: Scope) -> None:
    """Write a check where that is possible; without it the next start is slower, and nothing else."""
    file = _file(scope)
    try:
        make_home(home_of(scope.root, scope.environ), scope.stack)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        put_whole(file, canonical(_to_json(checked)))
    except (OSError, PreflightRefused):
        return


def _to_json(checked: Checked) -> Json:
    return {
        "manifest": checked.manifest,
        "sources": checked.sources,
        "interfaces": {name: to_builtins(interface) for name, interface in checked.interfaces.items()},
        "references": {t: [[r.module, r.output] for r in found] for t, found in checked.references.items()},
        "warnings": list(checked.warnings),
        "reads": {name: dict(found) for name, found in checked.reads.items()},
    }


def _from_json(tree: Json) -> Checked:
    return Checked(
        str(tree["manifest"]),
        str(tree["sources"]),
        {name: _interface(found) for name, found in tree["interfaces"].items()},
        {text: tuple(Reference(*pair) for pair in found) for text, found in tree["references"].items()},
        tuple(tree["warnings"]),
        {name: dict(found) for name, found in tree["reads"].items()},
    )


def _interface(tree: Json) -> Interface:
    return Interface(
        variables={name: Variable(**found) for name, found in tree["variables"].items()},
        outputs={name: DeclaredOutput(**found) for name, found in tree["outputs"].items()},
        backend=BackendBlock(**tree["backend"]) if tree["backend"] else None,
        cloud=tree["cloud"],
        required_version=tuple(tree["required_version"]),
        protected=tuple(tree["protected"]),
        state_reads=tuple(StateRead(**found) for found in tree["state_reads"]),
    )
