"""Names and tags of planned objects, out of the engine's own JSON of a plan; what is sensitive is left there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hybridwrap.domain.json import Json, canonical, loads

_CREATES = "create"
_NAMES = ("name", "name_prefix", "bucket", "identifier", "title", "description")
_LABELS = ("tags", "labels")


def names_in(document: bytes) -> dict[str, str]:
    """By address, what an object would be called: `name web-1, tags team=shop`; objects without any are left out."""
    try:
        changes = loads(document).get("resource_changes") or []
    except (ValueError, AttributeError):
        return {}
    told = {str(change.get("address")): ", ".join(_told(change.get("change") or {})) for change in changes}
    return {address: text for address, text in told.items() if text}


def _told(change: Mapping[str, Any]) -> Iterator[str]:
    values, hidden = change.get("after") or {}, change.get("after_sensitive") or {}
    if _CREATES not in (change.get("actions") or []) or hidden is True:
        return
    for key in values:
        if (key in _NAMES or key.endswith("_name")) and not hidden.get(key) and values[key]:
            yield f"{key} {_text(values[key])}"
    for key in _LABELS:
        if labels := _labels(values.get(key), hidden.get(key)):
            yield f"{key} {labels}"


def _labels(values: Json, hidden: Json) -> str:
    if not isinstance(values, dict) or hidden is True:
        return ""
    secret = hidden if isinstance(hidden, dict) else {}
    return " ".join(f"{name}={_text(value)}" for name, value in sorted(values.items()) if not secret.get(name))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value).decode()
