"""Names and tags of objects whose end nobody knows: what a person has to look for in the cloud."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.json import canonical, loads
from hybridwrap.domain.ports import LeftFolder, ModuleEngine, OperationFolder
from hybridwrap.domain.redaction import Redaction

NAMES = "names.json"


def keep_names(engine: ModuleEngine, folder: OperationFolder, objects: Iterable[CloudObject], mask: Redaction) -> None:
    """Take the names of open objects out of the plan, before that is removed with the secrets it holds."""
    wanted = {o.address for o in objects if o.open}
    names = engine.repair.planned_names(folder) if wanted else {}
    told = {address: mask.text(text) for address, text in names.items() if address in wanted}
    if told:
        folder.keep(NAMES, canonical(told))


def names_in(folder: LeftFolder) -> Mapping[str, str]:
    """What was kept, by address."""
    found = folder.kept(NAMES)
    return {str(address): str(text) for address, text in loads(found).items()} if found else {}
