"""A sign of life of an operation, with what it made so far: read from elsewhere when its host is gone."""

from __future__ import annotations

from msgspec import Struct

from hybridwrap.domain.entry import CloudObject


class Beat(Struct, frozen=True):
    """Its age is a hint that is shown, never evidence."""

    module: str
    operation: str
    time: str
    objects: tuple[CloudObject, ...] = ()  # made so far, and begun without an answer
    state_lock: str = ""  # id of the engine's lock on the state, which this operation holds
