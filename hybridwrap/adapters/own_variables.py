"""Variables of an engine's environment that hybridwrap sets itself: nobody else may."""

from __future__ import annotations

import re

OWN_VARIABLES = re.compile(r"TF_(CLI_ARGS.*|DATA_DIR|INPUT|STATE_PERSIST_INTERVAL|WORKSPACE|VAR_.*)")


def instead_of(name: str) -> str:
    """Say what to do instead of setting one of them."""
    field = {"TF_WORKSPACE": "workspace"}.get(name, "inputs" if name.startswith("TF_VAR_") else "")
    return f"; say it in `{field}`" if field else ": hybridwrap sets it itself"
