"""What of a ledger can't be read, or is not what was written there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote

from msgspec import Struct

from hybridwrap.errors import LedgerDamaged


class Damage(Struct, frozen=True):
    """One object; `module` is empty where it belongs to none."""

    key: str
    why: str
    module: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.why} ({self.key})" if self.key else self.why

    @property
    def error(self) -> LedgerDamaged:
        return LedgerDamaged(f"{self.module or 'the ledger'} is damaged: {self}", hint=self.hint, key=self.key)


def damage_in(module: str, error: LedgerDamaged) -> Damage:
    """Say of a module's log what is wrong with it; what a newer hybridwrap wrote has a way out of its own."""
    why = error.message.removeprefix(f"{module} ")
    repair = f"hybridwrap ledger repair {quote(module)}"
    return Damage(error.key, why, module, repair if error.hint == LedgerDamaged.hint else error.hint)


def damage_of_document(key: str, error: LedgerDamaged) -> Damage:
    return Damage(key, error.message.removeprefix(f"{key}: "), hint=error.hint)


@contextmanager
def named(key: str) -> Iterator[None]:
    """Have what is found damaged in here name its object."""
    try:
        yield
    except LedgerDamaged as error:
        error.key = error.key or key
        raise
