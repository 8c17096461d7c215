"""Kinds of failures that tell a person what to do, whichever words the provider or engine has for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote
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
_THERE: Final = re.compile(r"already exist|AlreadyExist|AlreadyOwnedByYou|\w\.Duplicate\b|needs to be imported")
_PROTECTED: Final = "nstance cannot be destroyed"  # "Instance …", "Resource instance …"
_NAMED: Final = re.compile(r"Resource (?:instance )?(\S+) has lifecycle.prevent_destroy")


def kind_of(errors: Sequence[Diagnostic]) -> str:
    """What kind of failure this is, "" for one that says no more than its own words."""
    texts = [f"{error.summary}\n{error.detail}" for error in errors]
    return next((kind for pattern, kind in _KINDS if any(pattern.search(text) for text in texts)), "")


def there_already(errors: Sequence[Diagnostic]) -> tuple[str, ...]:
    """Addresses of what could not be made because something of that name is there: no try is of use."""
    return tuple(e.address for e in errors if e.address and _THERE.search(f"{e.summary}\n{e.detail}"))


def taken_in(named: str, errors: Sequence[Diagnostic]) -> str:
    """What to type when something is there already: of one object, the next one is found by the next try."""
    there = there_already(errors)
    command = f"hybridwrap tf {named} -- import {quote(there[0])} ID" if there else ""
    return command and f"{command}    if it is yours (else delete or rename it); then hybridwrap resume"


def protected_by_source(errors: Sequence[Diagnostic]) -> tuple[str, ...]:
    """What the engine refused to destroy because of `prevent_destroy`."""
    refused = [error for error in errors if error.summary.endswith(_PROTECTED)]
    names = [_NAMED.search(error.detail) for error in refused]
    return tuple(name[1] if name else error.address for name, error in zip(names, refused, strict=True))
