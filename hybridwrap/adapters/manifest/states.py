"""Where the modules' states lie, as far as the text tells: each in a place of its own, and clear of the ledger."""

from __future__ import annotations

from collections.abc import Mapping

from hybridwrap.adapters.engine.backend import place_of, settle_backend
from hybridwrap.adapters.engine.layout import Layout
from hybridwrap.adapters.home import home_of
from hybridwrap.adapters.manifest.modules import Draft
from hybridwrap.adapters.manifest.node import dotted
from hybridwrap.adapters.manifest.scope import Scope
from hybridwrap.counting import first_of
from hybridwrap.domain.stack import LedgerSettings, Module
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import InvalidManifest, PreflightRefused

SHOWN = 3  # names in one message

Places = Mapping[str, StatePlace]


def find_places(drafts: Mapping[str, Draft], modules: Mapping[str, Module], scope: Scope) -> Places:
    """Say where each module's state lies; one that the engine alone can tell is left out."""
    layout = Layout(scope.root.resolve(), home_of(scope.root, scope.environ).resolve(), scope.environment)
    found = {name: _place(drafts[name], module, layout, scope) for name, module in modules.items()}
    return {name: place for name, place in found.items() if place is not None}


def _place(draft: Draft, module: Module, layout: Layout, scope: Scope) -> StatePlace | None:
    try:
        backend = settle_backend(module, layout)
    except PreflightRefused as error:
        _error(draft, scope, f"{error.message}; {error.hint}")
        return None
    except InvalidManifest as error:  # a file of `backend_config`
        scope.source_findings.take(error.problems)
        return None
    if module.interface.backend and not backend.arguments and (own := draft.node.get("state")):
        message = "has no effect: the module's own backend block decides; remove one of them"
        scope.source_findings.error(own.key, dotted((*draft.where, "state")), message)
    if backend.settings is None:
        return None
    place = place_of(
        backend.type, backend.settings, module.workspace or "default", module.source.resolve(), layout.root
    )
    if place.backend == "s3" and not place.bucket:
        _error(draft, scope, "its S3 state has no bucket; say it in `state: {s3: {bucket: …}}`")
    return place if place.path else None


def check_places(drafts: Mapping[str, Draft], places: Places, ledger: LedgerSettings, scope: Scope) -> None:
    """Find two modules with one state, and a ledger among the states."""
    owners: dict[StatePlace, str] = {}
    for name, place in places.items():
        other = owners.setdefault(place, name)
        if other != name:
            _error(drafts[name], scope, f'shares its state with module "{other}": {place}; give each one of its own')
        if ledger.bucket and ledger.bucket == place.bucket and collide(ledger.prefix, place.path):
            message = f"the state {place} and the ledger under {ledger.prefix or 'no prefix'} can overwrite each other"
            _error(drafts[name], scope, f"{message}; give the ledger another prefix")


def check_environments(
    drafts: Mapping[str, Draft], places: Places, elsewhere: Mapping[str, Places], scope: Scope
) -> None:
    """Find modules whose state is also that of the same module in another environment."""
    for environment, found in elsewhere.items():
        shared = [name for name, place in places.items() if found.get(name) == place]
        if shared:
            what = f"the state of {shared[0]}" if len(shared) == 1 else f"the states of {first_of(shared, SHOWN)}"
            message = f'environments "{scope.environment}" and "{environment}" share {what}: {places[shared[0]]}'
            advice = "put {environment} into `state`, `backend_config` or `workspace`"
            _error(drafts[shared[0]], scope, f"{message}; {advice}")


def collide(prefix: str, key: str) -> bool:
    """Whether a ledger's keys, below `<prefix>v1/`, can meet a state's: `<key>`, `<key>.tflock`, `env:/…`."""
    own = f"{prefix}v1/"
    return own.startswith(("env:/", f"{key}/", f"{key}.tflock/")) or key.startswith(own)


def _error(draft: Draft, scope: Scope, message: str) -> None:
    mark = (draft.node.get("state") or draft.node).key
    scope.source_findings.error(mark, dotted(draft.where), message)
