"""The JSON Schemas that are shipped with hybridwrap."""

from __future__ import annotations

from pathlib import Path

import hybridwrap
from hybridwrap.domain.json import Json, loads

PACKAGE = Path(hybridwrap.__file__).parent


PLACES = (PACKAGE / "schemas", PACKAGE.parent / "schemas")  # in the wheel, or beside the package in a checkout


def schemas() -> tuple[str, ...]:
    """Name all schemas, such as `stack.v1`."""
    return tuple(sorted({file.stem for place in PLACES for file in place.glob("*.json")}))


def load_schema(name: str) -> Json:
    """Read a schema by name."""
    places = [folder / f"{name}.json" for folder in PLACES]
    found = next((place for place in places if place.is_file()), places[0])
    return loads(found.read_bytes())
