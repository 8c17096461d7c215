"""What an engine state holds, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hybridwrap.domain.json import Json


class StatePlace(Struct, frozen=True):
    """Where an engine keeps the state of one module, in the engine's own terms."""

    backend: str  # local, s3, ...
    path: str  # of a file relative to the manifest's folder, or the object's key
    bucket: str = ""
    workspace: str = "default"

    def __str__(self) -> str:
        place = f"s3://{self.bucket}/{self.path}" if self.backend == "s3" else f"{self.path} ({self.backend})"
        return place if self.workspace == "default" else f"{place} (workspace {self.workspace})"


class StateOutput(Struct, frozen=True):
    value: Json
    type: Json
    sensitive: bool


class Instance(Struct, frozen=True):
    """One object of a managed resource."""

    address: str
    type: str
    provider: str
    id: str = ""  # attribute `id`, empty when there is none
    tainted: bool = False
    deposed: str = ""  # the deposed key, empty for the current object


class EngineState(Struct, frozen=True):
    """One engine state; `readable` is False for an encrypted envelope, of which only serial and lineage are known.

    No state at all is None; lineage "" and serial 0 with `zero_bytes` is what a kill in a save leaves behind.
    """

    lineage: str
    serial: int
    engine_version: str = ""
    outputs: Mapping[str, StateOutput] = {}
    instances: tuple[Instance, ...] = ()
    instance_providers: bool = False  # a provider stands on an instance: only OpenTofu can read it
    failed_checks: tuple[str, ...] = ()
    readable: bool = True
    zero_bytes: bool = False  # the file is there and empty: the engine takes it for no state, we know better


class Unreadable(Struct, frozen=True):
    """What lies in a state's place and is none."""

    reason: str


Found = EngineState | Unreadable | None


def instances_of(found: Found) -> tuple[Instance, ...] | None:
    """The objects of a state, none where there is no state; None where nobody can tell."""
    if found is None:
        return ()
    return found.instances if isinstance(found, EngineState) and found.readable else None
