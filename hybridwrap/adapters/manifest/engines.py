"""Which product a module will run with, as far as it matters for reading its source."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from hybridwrap.domain.stack import EngineWish


def takes_tofu(wish: EngineWish, environ: Mapping[str, str]) -> bool:
    """Whether the engine will most likely be OpenTofu, which loads `.tofu` files."""
    if wish.program != "auto":
        return "tofu" in Path(wish.program).name
    return _only_tofu(environ.get("PATH", ""))


@cache
def _only_tofu(path: str) -> bool:
    folders = path.split(os.pathsep)
    terraform, tofu = (
        any(os.access(f"{folder}/{name}", os.X_OK) for folder in folders) for name in ("terraform", "tofu")
    )
    return tofu and not terraform
