"""Asks for what a bucket may not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def or_absent(ask: Callable[[], Any], absent: str) -> Mapping[str, Any]:
    """The answer, nothing when the server says that there is no such configuration."""
    from botocore.exceptions import ClientError

    try:
        found: Mapping[str, Any] = ask()
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") == absent:
            return {}
        raise
    return found
