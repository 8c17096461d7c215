"""As whom a module's engine acts."""

from __future__ import annotations

from msgspec import Struct


class Caller(Struct, frozen=True):
    """What AWS says of whoever calls it."""

    account: str
    arn: str

    def __str__(self) -> str:
        return f"account {self.account}, {self.arn}"
