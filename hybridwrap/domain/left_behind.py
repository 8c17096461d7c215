"""What an operation leaves on its host when its hybridwrap is gone, and what its locks prove."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from msgspec import Struct


class Liveness(StrEnum):
    """What the locks of an operation say about its processes."""

    RUNNER = "hybridwrap is at work"
    ENGINE = "the engine is at work, its hybridwrap is gone"
    DEAD = "engine and hybridwrap are gone"
    NOT_VISIBLE = "its lock files can't be seen from here"


class Claim(Struct, frozen=True):
    """Which slot an operation is about to take: written into its folder before the ledger is asked.

    As long as it lies there, the operation is not finished; until another entry fills the slot, it may still be held.
    """

    ledger: str  # id of the ledger
    module: str
    seq: int  # of the slot for `begin` or `takeover`
    whole: bool = True  # False: the plan has targets, its success proves nothing about the rest


class Unfinished(Struct, frozen=True):
    """A folder with a claim, as it lies there; its locks were not looked at."""

    path: Path
    claim: bytes
    has_result: bool

    @property
    def operation(self) -> str:
        return self.path.name
