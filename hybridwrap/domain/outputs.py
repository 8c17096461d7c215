"""Outputs of a module, each with where its value comes from."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from hybridwrap.domain.json import Json


class Provenance(StrEnum):
    KNOWN = "known"  # of the last good apply, or proven new by a failed one
    STALE = "stale"  # older than the last mutation
    PARTIAL = "partial"  # read from the state of an unfinished operation, not proven
    MISSING = "missing"  # declared and not there


class Output(Struct, frozen=True):
    """One output; `value` is None when it is sensitive or missing, `type` is the engine's own type expression."""

    provenance: Provenance
    sensitive: bool = False
    value: Json = None
    type: Json = None
