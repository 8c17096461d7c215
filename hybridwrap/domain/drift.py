"""Drift: what a look at real objects found to be other than the engine's state says, and what of it is accepted."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.engine_run import Action

_BELOW = (".", "[")  # what follows an address or attribute when something inside of it is named


class DriftResult(StrEnum):
    """What is to be said of a module's drift in one word."""

    NONE = "none"
    NEW = "new"
    ACCEPTED = "accepted"


class Difference(Struct, frozen=True):
    """One object that is not as the state says: changed (update), gone (delete), or there again (create).

    `attributes` are dotted paths of what differs, without values; of an object that is gone there are none.
    """

    address: str
    action: Action
    type: str = ""
    attributes: tuple[str, ...] = ()
    since: str = ""  # when it was first seen

    @property
    def places(self) -> tuple[str, ...]:
        """The attributes with the address before them."""
        return tuple(f"{self.address}.{name}" for name in self.attributes)


class Acceptance(Struct, frozen=True):
    """Somebody's decision that something may differ: an address, or an address with an attribute, and all below it."""

    target: str
    until: str  # the last day, in UTC: YYYY-MM-DD
    reason: str
    by: str = ""
    time: str = ""

    def covers(self, place: str) -> bool:
        return place == self.target or place.startswith(tuple(self.target + sign for sign in _BELOW))

    def concerns(self, difference: Difference) -> bool:
        """Whether it covers the object or any attribute of it that differs."""
        return any(map(self.covers, (difference.address, *difference.places)))


class Drift(Struct, frozen=True):
    """What the last look that found a change has found; `checked` is empty when the module was changed since."""

    checked: str = ""
    differences: tuple[Difference, ...] = ()
    accepted: tuple[Acceptance, ...] = ()

    def new(self, today: str) -> tuple[Difference, ...]:
        """What no acceptance covers that still holds on a day (YYYY-MM-DD), attribute by attribute."""
        holding = [each for each in self.accepted if today <= each.until]
        found = (_uncovered(difference, holding) for difference in self.differences)
        return tuple(difference for difference in found if difference)

    def result(self, today: str) -> DriftResult:
        if not self.differences:
            return DriftResult.NONE
        return DriftResult.NEW if self.new(today) else DriftResult.ACCEPTED

    def seen(self, found: Iterable[Difference], now: str) -> Drift:
        """Go on to what another look found; what was seen before keeps the time of that."""
        before = {difference.address: difference.since for difference in self.differences}
        dated = (replace(difference, since=before.get(difference.address, now)) for difference in found)
        return Drift(now, tuple(sorted(dated, key=lambda difference: difference.address)), self.accepted)

    def says(self, found: Iterable[Difference]) -> bool:
        """Whether another look found the same."""
        return {replace(d, since="") for d in self.differences} == {replace(d, since="") for d in found}

    def accepting(self, acceptance: Acceptance) -> Drift:
        """Add a decision; it replaces an earlier one about the same."""
        others = tuple(each for each in self.accepted if each.target != acceptance.target)
        return replace(self, accepted=(*others, acceptance))

    def withdrawing(self, target: str) -> Drift:
        """Leave out a decision: what it covered counts again."""
        return replace(self, accepted=tuple(each for each in self.accepted if each.target != target))

    def after_change(self) -> Drift | None:
        """Keep what stands once the module itself was changed: decisions, not findings; None when there are none."""
        return Drift(accepted=self.accepted) if self.accepted else None


def _uncovered(difference: Difference, holding: list[Acceptance]) -> Difference | None:
    if any(each.covers(difference.address) for each in holding):
        return None
    if not difference.attributes:
        return difference
    places = zip(difference.attributes, difference.places, strict=True)
    left = tuple(name for name, place in places if not any(each.covers(place) for each in holding))
    return replace(difference, attributes=left) if left else None
