"""The JSON Schemas that are shipped with hybridwrap."""

from __future__ import annotations

from pathlib import Path

import hybridwrap
from hybridwrap.domain.json import Json, loads

PACKAGE = Path(hybridwrap.__file__).parent


def load_schema(name: str) -> Json:
    """Read a schema by name, such as `stack.v1`; it lies in the wheel, or beside the package in a checkout."""
    places = [folder / f"{name}.json" for folder in (PACKAGE / "schemas", PACKAGE.parent / "schemas")]
    found = next((place for place in places if place.is_file()), places[0])
    return loads(found.read_bytes())
