"""Whether a CI system runs this."""

from __future__ import annotations

from collections.abc import Mapping


def in_ci(environ: Mapping[str, str]) -> bool:
    """Whether `CI` is set, as CI systems do, to something other than no."""
    return environ.get("CI", "").lower() not in {"", "0", "false"}
