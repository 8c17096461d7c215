"""What the processes of a shared run have done and are at, as one of them sees it by listings.

Keeps: a sign of life decides who plans a module, never who may change it: that is the slot of `begin` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from hybridwrap.domain.merging import LEFT
from hybridwrap.domain.run_listing import Told, Turn
from hybridwrap.run.context import Context, Part

SILENT_SECONDS = 20.0  # four signs of life that did not come


class Heard(Struct, frozen=True):
    """The newest that came from a part, and when."""

    news: tuple[str, int]
    at: float  # of the monotonic clock


class Crew:
    def __init__(self, context: Context, part: Part, ended_well: frozenset[str]) -> None:
        self._runs = context.tools.ledger.shared_runs
        self._clock = context.tools.clock
        self._run = context.run
        self._part = part
        self._well = ended_well
        self._told: dict[str, list[Told]] = {}
        self._takers: dict[str, str] = {}  # key of a turn -> part
        self._turns_seen: dict[str, float] = {}  # key of a turn -> when it was seen first
        self._heard: dict[str, Heard] = {}
        self._met: set[str] = set()  # parts that gave a sign of life while we were there
        self.look()
        self._over_before_us = self._listing.ended

    def look(self) -> None:
        """Look again. Raise LedgerUnreachable."""
        self._listing = self._runs.look(self._run)
        now = self._clock.monotonic()
        told = Counter(each.part for each in self._listing.told)
        self._told.clear()
        for word in self._listing.told:
            self._told.setdefault(word.module, []).append(word)
        for turn in self._listing.turns.values():
            self._turns_seen.setdefault(turn.key, now)
        for part in self._listing.begun:
            news = (self._listing.signs.get(part, ""), told[part])
            before = self._heard.get(part)
            if before is None or before.news != news:
                self._heard[part] = Heard(news, now)
                if before is not None:
                    self._met.add(part)

    def word(self, module: str) -> Told | None:
        """How another process says that a module ended, as far as that is the last word."""
        words = [each for each in self._words(module) if not self._may_be_tried_again(each)]
        return max(words, key=lambda each: each.part, default=None)

    def ended_well(self, module: str) -> bool:
        word = self.word(module)
        return word is not None and word.result in self._well

    def is_at_work_on(self, module: str) -> bool:
        """Whether some other process has taken a module up, and may yet end it."""
        turn = self._listing.turns.get(module)
        if turn is None or self.word(module):
            return False
        if not self._told.get(module) and self._clock.monotonic() - self._turns_seen[turn.key] < SILENT_SECONDS:
            return True  # whoever it is: nobody has been silent for long enough
        taker = self._taker(turn)
        told = any(each.part == taker for each in self._words(module))
        return not (told or taker == self._part.id or self._is_over(taker))

    def may_be_tried_again_later(self, module: str) -> bool:
        """Whether a module that ended badly may be taken up again, once it is clear that who says so is gone."""
        word = self.word(module)
        return word is not None and self._tries_again(word) and self._may_be_long_gone(word.part)

    def take(self, module: str) -> bool:
        """Take a module up, unless another process was faster."""
        turn = self._listing.turns.get(module)
        return self._runs.take(self._run, self._part.id, module, turn.number + 1 if turn else 1)

    def _words(self, module: str) -> Iterator[Told]:
        return (told for told in self._told.get(module, ()) if told.result not in LEFT)

    def _tries_again(self, word: Told) -> bool:
        return self._part.joins and word.part != self._part.id and word.result not in self._well

    def _may_be_tried_again(self, word: Told) -> bool:
        """A bad end of a process that was gone before this one began: somebody has repeated its job."""
        if not self._tries_again(word):
            return False
        return word.part in self._over_before_us or (self._may_be_long_gone(word.part) and self._is_silent(word.part))

    def _may_be_long_gone(self, part: str) -> bool:
        return part not in self._listing.ended and part not in self._met

    def _is_over(self, part: str) -> bool:
        return part in self._listing.ended or self._is_silent(part)

    def _is_silent(self, part: str) -> bool:
        heard = self._heard.get(part)
        return heard is not None and self._clock.monotonic() - heard.at >= SILENT_SECONDS

    def _taker(self, turn: Turn) -> str:
        if turn.key not in self._takers:
            self._takers[turn.key] = self._runs.taken_by(turn)
        return self._takers[turn.key]
