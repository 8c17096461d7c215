"""Kinds of failures that tell a person what to do, whichever words the provider or engine has for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hybridwrap.domain.engine_run import Diagnostic

IN_USE: Final = "not empty, or still in use"
NO_STATE: Final = "a state that it reads can't be read"
_KINDS: Final = (
    (
        re.compile(r"BucketNotEmpty|DependencyViolation|ResourceInUse|DeleteConflict|StatusCode: 409|not empty|in use"),
        IN_USE,
    ),
    (re.compile(r"Unable to find remote state|Error loading state error"), NO_STATE),
)
_PROTECTED: Final = "nstance cannot be destroyed"  # "Instance …", "Resource instance …"
_NAMED: Final = re.compile(r"Resource (?:instance )?(\S+) has lifecycle.prevent_destroy")


def kind_of(errors: Sequence[Diagnostic]) -> str:
    """What kind of failure this is, "" for one that says no more than its own words."""
    texts = [f"{error.summary}\n{error.detail}" for error in errors]
    return next((kind for pattern, kind in _KINDS if any(pattern.search(text) for text in texts)), "")


def protected_by_source(errors: Sequence[Diagnostic]) -> tuple[str, ...]:
    """What the engine refused to destroy because of `prevent_destroy`."""
    refused = [error for error in errors if error.summary.endswith(_PROTECTED)]
    names = [_NAMED.search(error.detail) for error in refused]
    return tuple(name[1] if name else error.address for name, error in zip(names, refused, strict=True))
