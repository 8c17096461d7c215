"""The last word of a command that reads: what of the ledger could not be read, once all else is printed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hybridwrap.domain.damage import Damage
from hybridwrap.errors import LedgerDamaged


def damage_of(found: Sequence[Damage], modules: Collection[str]) -> tuple[Damage, ...]:
    """What concerns the modules, and what belongs to no module."""
    return tuple(damage for damage in found if not damage.module or damage.module in modules)


def refuse_damage(found: Sequence[Damage]) -> None:
    """Raise LedgerDamaged where anything is, so that a script notices."""
    if not found:
        return
    told = [damage.error.message for damage in found]
    message = told[0] if len(told) == 1 else "\n  ".join((f"{len(told)} objects of the ledger are damaged:", *told))
    raise LedgerDamaged(message, hint=found[0].hint)
