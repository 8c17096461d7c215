"""Where a unit's state lies, as a manifest says it, and what of `remote_state` a manifest does not say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.terragrunt.units import Unit
from hybridwrap.domain.json import Json

# What Terragrunt does with the bucket and its lock table, which is no setting of the engine's backend.
_ITS_OWN = (
    *("accesslogging_", "bucket_sse_", "disable_", "dynamodb_table_tags", "enable_lock_table_ssencryption"),
    *("s3_bucket_tags", "skip_bucket_"),
)
_SECRET = ("access_key", "secret_key", "token", "sse_customer_key")


class Kept(Struct, frozen=True):
    """`backend` is "" where Terragrunt leaves the state to the module; `problem` says what a manifest can't."""

    backend: str = ""
    settings: Mapping[str, Json] = {}
    dropped: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    problem: str = ""


def kept_state(unit: Unit, root: Path, *, has_source: bool) -> Kept:
    """Say where a unit's state lies, for a manifest in the folder `root`."""
    state = unit.block("remote_state")
    backend, config = state.get("backend"), unit.block("remote_state", "config")
    if not isinstance(backend, str):
        return _by_itself(unit, root, has_source=has_source)
    known = {name: value for name, value in config.items() if value is not None}
    if backend == "local":
        return _local(unit, root, str(known.get("path") or "terraform.tfstate"), has_source=has_source)
    if backend != "s3":
        told = ", ".join(f"{name}={value}" for name, value in sorted(known.items()) if isinstance(value, str))
        return Kept(backend, problem=f"write {told} into a file and name it in backend_config")
    dropped = tuple(sorted(name for name in known if name.startswith(_ITS_OWN)))
    secret = tuple(sorted(name for name in known if name in _SECRET))
    if "lock_table" in known:
        known.setdefault("dynamodb_table", known.pop("lock_table"))
    settings = {name: value for name, value in sorted(known.items()) if name not in (*dropped, *secret)}
    return Kept(backend, settings, dropped, secret)


def _by_itself(unit: Unit, root: Path, *, has_source: bool) -> Kept:
    """A state of which Terragrunt says nothing: beside the code, which it copies when that lies elsewhere."""
    if has_source:
        return Kept("local", problem="without remote_state it lies in .terragrunt-cache: move it to a place that stays")
    file = unit.folder / "terraform.tfstate"
    return Kept("local", {"path": os.path.relpath(file, root)}) if file.is_file() else Kept()


def _local(unit: Unit, root: Path, path: str, *, has_source: bool) -> Kept:
    if has_source and not Path(path).is_absolute():
        return Kept("local", problem=f"its state {path} lies in .terragrunt-cache: move it to a place that stays")
    return Kept("local", {"path": os.path.relpath(unit.folder / path, root)})


def common_settings(states: list[Kept]) -> Mapping[str, Json]:
    """What all states in S3 have in common but their keys; nothing where they lie in several buckets."""
    s3 = [state.settings for state in states if state.backend == "s3"]
    if not s3:
        return {}
    same = {n: v for n, v in s3[0].items() if n != "key" and all(n in other and other[n] == v for other in s3)}
    return same if "bucket" in same else {}
