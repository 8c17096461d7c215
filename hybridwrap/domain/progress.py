"""How far a plan was carried out: by the plan, the events and the state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from hybridwrap.domain.engine_run import Action, PlannedChange, Stream
from hybridwrap.domain.state import Found, instances_of
from hybridwrap.domain.trace import Fate, Step, trace, unsaved

# The steps that events show of a planned action; of the others they show none, and only the state tells.
_STEPS: Final = {
    Action.CREATE: {Action.CREATE},
    Action.UPDATE: {Action.UPDATE},
    Action.DELETE: {Action.DELETE},
    Action.REPLACE: {Action.CREATE, Action.DELETE},
    Action.NOOP: {Action.CREATE},  # a replacement that forgets the old object
}
_LEAVES: Final = frozenset([Action.REMOVE, Action.FORGET])


class Progress(Struct, frozen=True):
    """Planned changes by how far they came, each in the order of the plan."""

    done: tuple[PlannedChange, ...] = ()
    failed: tuple[PlannedChange, ...] = ()  # also what was done by half and is not at work any more
    in_doubt: tuple[PlannedChange, ...] = ()  # begun without an end, or done and not in the state
    not_begun: tuple[PlannedChange, ...] = ()


def progress(planned: Iterable[PlannedChange], stream: Stream, state_after: Found) -> Progress:
    """Part a plan by how far it came; where the state can't be read, by the events alone."""
    steps = trace(stream)
    by_address: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        by_address[step.address].append(step)
    instances = instances_of(state_after)
    lost = {step.address for step in unsaved(steps, instances)} if instances is not None else frozenset[str]()
    held = {instance.address for instance in instances or ()}
    parts: dict[str, list[PlannedChange]] = defaultdict(list)
    for change in planned:
        if change.action is Action.READ or (change.action is Action.NOOP and not change.reason):
            continue
        part = _told(change, by_address[change.address]) or _shown(change, held)
        parts["in_doubt" if part == "done" and change.address in lost else part].append(change)
    return Progress(**{part: tuple(changes) for part, changes in parts.items()})


def _told(change: PlannedChange, steps: Sequence[Step]) -> str:
    """What the events say of a change, "" when nothing."""
    fates = {step.fate for step in steps}
    if Fate.OPEN in fates:
        return "in_doubt"
    if Fate.FAILED in fates:
        return "failed"
    done = {step.action for step in steps}
    return "" if not done else "done" if done >= _STEPS.get(change.action, set()) else "failed"


def _shown(change: PlannedChange, held: Iterable[str]) -> str:
    """What the state says of a change that has no events: moves and imports are there then, forgotten ones are not."""
    if change.action in _STEPS:
        return "not_begun"
    return "done" if (change.address in held) != (change.action in _LEAVES) else "not_begun"
