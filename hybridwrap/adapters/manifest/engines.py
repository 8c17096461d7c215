"""Which product a module will run with, as far as it matters for reading its source."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from hybridwrap.domain.stack import EngineWish


def takes_tofu(wish: EngineWish, environ: Mapping[str, str]) -> bool:
    """Whether the engine will most likely be OpenTofu, which loads `.tofu` files."""
    if wish.program != "auto":
        return "tofu" in Path(wish.program).name
    return _auto_is_tofu(environ.get("PATH", ""))


@cache
def _auto_is_tofu(path: str) -> bool:
    return not shutil.which("terraform", path=path) and bool(shutil.which("tofu", path=path))
