"""What `init` left in a module's data folder, and whether it still fits.

A stamp there holds the digest of all that `init` depended on; with the data folder it goes away.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.engine.setup import Setup
from hybridwrap.adapters.source import GENERATED, lock_digest
from hybridwrap.adapters.whole_file import put_whole
from hybridwrap.domain.json import Json, canonical, loads

_STAMP = "hybridwrap-init.json"
_BACKEND_RECORD = "terraform.tfstate"  # the engine's name for the resolved backend settings
_DEFAULT_CONFIGURATIONS = {"terraform": (".terraformrc",), "opentofu": (".tofurc", ".terraformrc")}
_STEERING = ("TF_PLUGIN_CACHE_DIR", "TF_REATTACH_PROVIDERS")


class Stamp(Struct, frozen=True):
    everything: str  # digest of all that init depends on
    backend: str  # digest of what was wished of the backend


def stamp_now(setup: Setup, source: str) -> Stamp:
    """Digest what an init would depend on now; `source` is the digest of the module's source as it would see it."""
    configuration = cli_configuration(setup.env, setup.identity.product)
    backend = backend_digest(setup)
    everything = (
        (setup.identity.product, setup.identity.version, backend),
        (source, lock_digest(setup.source), _contents([setup.source / GENERATED])),
        _contents([configuration] if configuration else []),
        _steering(setup),
    )
    return Stamp(_digest(everything), backend)


def backend_digest(setup: Setup) -> str:
    """Digest what is wished of the backend."""
    backend = setup.backend
    return _digest((backend.type, sorted(backend.arguments.items()), _contents(backend.files)))


def stamped(setup: Setup) -> Stamp | None:
    """The stamp that the last init left, None when there is none that can be read."""
    try:
        found = loads((setup.data / _STAMP).read_bytes())
        return Stamp(found["everything"], found["backend"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_stamp(setup: Setup, source: str) -> None:
    stamp = stamp_now(setup, source)
    put_whole(setup.data / _STAMP, canonical({"everything": stamp.everything, "backend": stamp.backend}))


def forget_stamp(setup: Setup) -> None:
    (setup.data / _STAMP).unlink(missing_ok=True)


def recorded_settings(setup: Setup) -> Mapping[str, Json] | None:
    """The backend settings that the last init resolved and stored, None before the first one."""
    try:
        found = loads((setup.data / _BACKEND_RECORD).read_bytes())["backend"]["config"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return {name: value for name, value in found.items() if value is not None}


def forget_backend(setup: Setup) -> None:
    (setup.data / _BACKEND_RECORD).unlink(missing_ok=True)


def current_settings(setup: Setup) -> Mapping[str, Json] | None:
    """The backend's settings: as init resolved them, or as they are written when that was for other wishes."""
    stamp = stamped(setup)
    resolved = recorded_settings(setup) if stamp and stamp.backend == backend_digest(setup) else None
    return setup.backend.settings if resolved is None else resolved


def cli_configuration(env: Mapping[str, str], product: str) -> Path | None:
    """The CLI configuration file that the engine will read, None when there is none."""
    home = Path(env.get("HOME") or "/")
    named = [Path(env["TF_CLI_CONFIG_FILE"])] if env.get("TF_CLI_CONFIG_FILE") else []
    candidates = named or [home / name for name in _DEFAULT_CONFIGURATIONS[product]]
    return next((file for file in candidates if file.exists()), None)


def _steering(setup: Setup) -> list[tuple[str, str]]:
    """The variables of the environment that an init depends on."""
    constant = (f"TF_VAR_{name}" for name, variable in setup.module.interface.variables.items() if variable.const)
    return sorted((name, setup.env[name]) for name in (*_STEERING, *constant) if name in setup.env)


def _contents(files: Sequence[Path]) -> list[str]:
    return [hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "" for file in files]


def _digest(facts: object) -> str:
    return hashlib.sha256(repr(facts).encode()).hexdigest()
