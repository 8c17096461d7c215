"""What the engine's state, read before and after an operation, says for and against its events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from hybridwrap.counting import first_of
from hybridwrap.domain.engine_run import Action, Stream
from hybridwrap.domain.state import EngineState, Found, Instance, Unreadable, instances_of
from hybridwrap.domain.trace import Fate, Step, unsaved

_NAMED: Final = 3  # objects in a sentence


class Absence(Struct, frozen=True):
    """The first level of absence: what the engine itself can say. It says nothing about objects it never knew."""

    ended_well: bool  # there is a final summary
    same_lineage: bool
    readable: bool
    left: tuple[Instance, ...] = ()  # current and deposed
    forgotten: tuple[str, ...] = ()  # addresses of objects that live on unmanaged

    @property
    def holds(self) -> bool:
        return self.ended_well and self.same_lineage and self.readable and not self.left and not self.forgotten


def absence(stream: Stream, before: EngineState | None, after: Found) -> Absence:
    """Judge absence after a destroy."""
    there = after if isinstance(after, EngineState) else None
    instances = instances_of(after)
    return Absence(
        ended_well=stream.final is not None,
        same_lineage=not _exists(before) or (there is not None and before is not None and _kin(before, there)),
        readable=instances is not None,
        left=instances or (),
        forgotten=stream.forgotten,
    )


def unchanged(before: EngineState | None, after: Found) -> bool:
    """Whether the same state lies there; only for one that could be read both times."""
    if isinstance(after, Unreadable):
        return False
    if not _exists(before) or not _exists(after):
        return _exists(before) == _exists(after)
    return before is not None and after is not None and _kin(before, after) and before.serial == after.serial


def surprise(before: EngineState | None, after: Found, steps: Sequence[Step]) -> str:
    """Say in what the state contradicts the events, "" when it does not."""
    if isinstance(after, Unreadable):
        return f"the engine's state can't be read: {after.reason}"
    if after is not None and after.zero_bytes:
        return "the engine's state file is there and holds nothing"
    if before is not None and _exists(before):
        if after is None:
            return f"the engine's state (serial {before.serial}) is gone"
        if not _kin(before, after):
            return f"the engine's state is another one: lineage {before.lineage} -> {after.lineage}"
        if after.serial < before.serial:
            return f"the engine's state went backwards: serial {before.serial} -> {after.serial}"
    return _not_saved(before, after, steps)


def _not_saved(before: EngineState | None, after: EngineState | None, steps: Sequence[Step]) -> str:
    instances = instances_of(after)
    lost = () if instances is None else unsaved(steps, instances)
    if unchanged(before, after):
        lost = lost or tuple(step for step in steps if _must_show(step))
    if not lost:
        return ""
    told = list(dict.fromkeys(f"{step.address} ({step.action})" for step in lost))
    return f"the engine reported what its state does not hold: {first_of(told, _NAMED)}"


def _must_show(step: Step) -> bool:
    """Whether a step changes the state for certain; an update may find nothing to change."""
    return step.fate is Fate.DONE and step.action in {Action.CREATE, Action.DELETE}


def _exists(state: EngineState | None) -> bool:
    return state is not None and not state.zero_bytes


def _kin(before: EngineState, after: EngineState) -> bool:
    """Whether they are one state at two times; the oldest formats have no lineage."""
    return before.lineage in {"", after.lineage}
