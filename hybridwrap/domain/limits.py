"""What a plan may destroy without an explicit word: the manifest's `guard`."""

from __future__ import annotations

from collections.abc import Sequence

from hybridwrap.counting import count_of, first_of
from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.stack import Guard

DESTROYS = frozenset({Action.DELETE, Action.REPLACE})
NAMED = 5


def destroyed_by(actions: Sequence[PlannedChange]) -> tuple[PlannedChange, ...]:
    return tuple(change for change in actions if change.action in DESTROYS)


def over_limit(guard: Guard, actions: Sequence[PlannedChange], allowed: int | None = None) -> str:
    """Say in what a plan goes beyond its guard, "" when it does not; `allowed` objects were agreed to by number."""
    destroyed = destroyed_by(actions)
    protected = [change for change in destroyed if change.type in guard.protected_types]
    if protected:
        named = first_of([change.address for change in protected], NAMED)
        return f"would destroy or replace {named}: guard.protected_types names such"
    if guard.max_destroys is None or len(destroyed) <= max(guard.max_destroys, allowed or 0):
        return ""
    count = count_of(len(destroyed), "object")
    return f"would destroy or replace {count}: guard.max_destroys is {guard.max_destroys}"
