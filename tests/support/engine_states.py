"""A small engine state, as it lies on a disk."""

from __future__ import annotations

import json

STATE = json.dumps(
    {
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": 1,
        "lineage": "6e1f",
        "outputs": {"id": {"value": "1", "type": "string"}},
        "resources": [],
    }
)
