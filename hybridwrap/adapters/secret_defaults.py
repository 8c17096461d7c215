"""Default values of sensitive variables, to be hidden; read anew by each process, so that no cache has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from hybridwrap.adapters import hcl
from hybridwrap.adapters.source import all_config
from hybridwrap.domain.json import Json
from hybridwrap.errors import InvalidManifest


@cache
def secret_defaults(folder: Path) -> Mapping[str, Json]:
    """Read the defaults of the sensitive variables of the module in a folder, as far as they are literals."""
    found: dict[str, Json] = {}
    try:
        blocks = [block for file in all_config(folder) for block in hcl.read(file, file.name).named("variable")]
    except (InvalidManifest, OSError):  # said by whoever wants to run the module
        return {}
    for block in blocks:
        default = block.attributes.get("default")
        if block.labels and default and default.literal and block.value("sensitive") is True:
            found[block.labels[0]] = default.value
    return found
