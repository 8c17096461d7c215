"""Names and tags of objects whose end nobody knows: what a person has to look for in the cloud."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.json import canonical, loads
from hybridwrap.domain.ports import LeftFolder, ModuleEngine, OperationFolder
from hybridwrap.domain.redaction import Redaction
from hybridwrap.errors import OutcomeUnknown

NAMES = "names.json"


def keep_names(engine: ModuleEngine, folder: OperationFolder, objects: Iterable[CloudObject], mask: Redaction) -> None:
    """Take the names of open objects out of the plan, before that is removed with the secrets it holds."""
    wanted = {o.address for o in objects if o.open}
    names = engine.repair.planned_names(folder) if wanted else {}
    told = {address: mask.text(text) for address, text in names.items() if address in wanted}
    pass_names_on(folder, told)


def pass_names_on(folder: OperationFolder, names: Mapping[str, str]) -> None:
    """Keep names in a folder; that this is not possible is nobody's business but the reader's."""
    if names:
        with suppress(OutcomeUnknown):
            folder.keep(NAMES, canonical(dict(names)))


def names_in(folder: LeftFolder) -> Mapping[str, str]:
    """What was kept, by address."""
    found = folder.kept(NAMES)
    return {str(address): str(text) for address, text in loads(found).items()} if found else {}
