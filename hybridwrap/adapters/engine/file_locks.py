"""Locks between the engines of this host that share a module's folder or a plugin cache.

An `init` writes the dependency lock file of the folder, where others plan; and two of Terraform in one plugin cache
write wrong hashes into it, with exit code 0.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from hybridwrap.adapters.private_folders import make_private

_CACHE_SETTING = re.compile(r'^\s*plugin_cache_dir\s*=\s*"([^"]+)"', re.MULTILINE)


def planning_in(source: Path, home: Path) -> AbstractContextManager[None]:
    """Hold off an init in a module's folder; others may plan there."""
    return _flocked(_lock_of(source, home), fcntl.LOCK_SH)


def initialising_in(source: Path, home: Path) -> AbstractContextManager[None]:
    """Wait until nobody plans or initialises in a module's folder, and keep it so."""
    return _flocked(_lock_of(source, home), fcntl.LOCK_EX)


def filling_cache(env: Mapping[str, str], configuration: Path | None) -> AbstractContextManager[None]:
    """Wait for the plugin cache, if the engine has one that can be written."""
    cache = plugin_cache(env, configuration)
    if cache is None or not os.access(cache, os.W_OK):
        return nullcontext()
    return _flocked(cache / ".hybridwrap.lock", fcntl.LOCK_EX)


def plugin_cache(env: Mapping[str, str], configuration: Path | None) -> Path | None:
    """The folder of the engine's plugin cache: of its environment, else of its CLI configuration file."""
    if env.get("TF_PLUGIN_CACHE_DIR"):
        return Path(env["TF_PLUGIN_CACHE_DIR"])
    found = (
        _CACHE_SETTING.search(configuration.read_text(encoding="utf-8", errors="replace")) if configuration else None
    )
    if not found:
        return None
    return Path(re.sub(r"\$(\w+)|\$\{(\w+)\}", lambda m: env.get(m[1] or m[2], ""), found[1]))


def _lock_of(source: Path, home: Path) -> Path:
    return home / "cache" / "locks" / hashlib.sha256(os.fsencode(source)).hexdigest()[:32]


@contextmanager
def _flocked(path: Path, kind: int) -> Iterator[None]:
    make_private(path.parent)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, kind)
        yield
    finally:
        os.close(file)
