"""All checks of a manifest that was built."""

from __future__ import annotations

from msgspec.structs import replace

from hybridwrap.adapters.manifest.edges import check_edges
from hybridwrap.adapters.manifest.environment import declared_environments
from hybridwrap.adapters.manifest.interfaces import check_interfaces
from hybridwrap.adapters.manifest.layers import Layered, layer
from hybridwrap.adapters.manifest.modules import Built, build_module, draft_modules, with_reads
from hybridwrap.adapters.manifest.node import Findings
from hybridwrap.adapters.manifest.parts import Files
from hybridwrap.adapters.manifest.scope import Scope
from hybridwrap.adapters.manifest.state_reads import Reads, find_reads
from hybridwrap.adapters.manifest.states import Places, check_environments, check_places, find_places


def check(files: Files, layered: Layered, built: Built, scope: Scope) -> Reads:
    """Find everything that can be known wrong before anything runs, and who reads whose state."""
    places = find_places(built.drafts, built.modules, scope)
    reads = find_reads(built.modules, places, scope)
    built = replace(built, modules=with_reads(built.modules, reads))
    check_edges(built, layered.root, scope)
    check_interfaces(built, scope)
    check_places(built.drafts, places, built.ledger, scope)
    others = [name for name in declared_environments(files.main.node) if name != scope.environment]
    check_environments(built.drafts, places, {name: _places_in(name, files, built, scope) for name in others}, scope)
    return reads


def _places_in(environment: str, files: Files, built: Built, scope: Scope) -> Places:
    """Where the states of the same modules lie in another environment, whose own troubles are not the matter here."""
    there = replace(scope, environment=environment, findings=Findings(), source_findings=Findings(), fetching="never")
    layered = layer(files, environment, there.findings)
    there = replace(there, families=layered.families)
    drafts = {
        name: draft
        for name, draft in draft_modules(layered, there).items()
        if name in built.drafts and draft.source == built.drafts[name].source
    }
    modules = {name: build_module(d, built.interfaces.get(name), layered.root, there) for name, d in drafts.items()}
    return find_places(drafts, modules, there)
