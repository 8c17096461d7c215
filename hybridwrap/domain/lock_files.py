"""Dependency lock files: for which platforms they are to have the checksums of providers."""

from __future__ import annotations

import re

from msgspec import Struct

PLATFORM = re.compile(r"[a-z0-9]+_[a-z0-9]+")
ALL = ("linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64")  # where hybridwrap runs


class LockWish(Struct, frozen=True):
    """`fs_mirror` is a folder, `net_mirror` a URL to take packages from instead of their registries."""

    platforms: tuple[str, ...] = ALL
    fs_mirror: str = ""
    net_mirror: str = ""
