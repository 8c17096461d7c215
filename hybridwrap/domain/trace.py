"""What became of every object that the events name: each begun mutation, paired with its end or found without one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.engine_run import Action, Hook, Stream
from hybridwrap.domain.state import Instance


class Fate(StrEnum):
    DONE = "done"
    FAILED = "failed"
    OPEN = "open"  # begun, and nobody knows how it ended


class Step(Struct, frozen=True):
    """One mutation of one object; the id is the new one of a create, the old one of a delete, "" when not told."""

    address: str
    action: Action
    fate: Fate
    type: str = ""
    id_key: str = ""
    id: str = ""
    provisioner: str = ""
    began: str = ""  # as the engine tells the time, RFC 3339 in UTC
    ended: str = ""


# The engine says so when a provider went away in mid-call, was cancelled, or gave no object back: it may have made one.
_UNANSWERED: Final = frozenset(
    [
        "Plugin did not respond",
        "Plugin error",
        "Provider produced inconsistent result after apply",
        "Request cancelled",
        "operation canceled",
    ]
)


def trace(stream: Stream) -> tuple[Step, ...]:
    """Pair starts with ends, in the order of the ends; those without an end come last."""
    begun: list[Hook] = []
    steps: list[Step] = []
    for hook in stream.mutations:
        if hook.phase == "start":
            begun.append(hook)
        else:
            steps.append(_ended(hook, _taken(begun, hook), stream))
    return (*steps, *(_unended(start, stream) for start in begun))


def _taken(begun: list[Hook], end: Hook) -> Hook:
    """Take the oldest start that the end belongs to; an end without a start stands for itself."""
    for index, start in enumerate(begun):
        if (start.address, start.action, start.provisioner) == (end.address, end.action, end.provisioner):
            return begun.pop(index)
    return end


def _ended(end: Hook, start: Hook, stream: Stream) -> Step:
    told = end if end.id_value else start
    step = _step(told, Fate.DONE if end.phase == "complete" else Fate.FAILED)
    step = replace(step, began=start.time if start is not end else "", ended=end.time)
    doubtful = step.fate is Fate.FAILED and _unanswered(stream, step.address)
    return replace(step, fate=Fate.OPEN) if doubtful else step


def _unended(start: Hook, stream: Stream) -> Step:
    """A failed delete of a deposed object has no end: an engine that lived to say so has also kept it in the state."""
    refused = start.action is Action.DELETE and stream.errors and not _unanswered(stream, start.address)
    return _step(start, Fate.FAILED if refused else Fate.OPEN)


def _step(hook: Hook, fate: Fate) -> Step:
    told = (hook.address, hook.action, fate, hook.type, hook.id_key, hook.id_value, hook.provisioner)
    return Step(*told, began=hook.time)


def _unanswered(stream: Stream, address: str) -> bool:
    errors = stream.errors
    return any(e.summary in _UNANSWERED for e in errors) and not any(
        e.address == address and e.summary not in _UNANSWERED for e in errors
    )


def unsaved(steps: Iterable[Step], instances: Iterable[Instance]) -> tuple[Step, ...]:
    """The steps that ended well and that a state with these instances knows nothing of."""
    held = _Held.of(tuple(instances))
    return tuple(step for step in steps if step.fate is Fate.DONE and _contradicts(step, held))


def _contradicts(step: Step, held: _Held) -> bool:
    match step.action:
        case Action.CREATE:
            return not held.has(step)
        case Action.DELETE:
            return bool(step.id) and (step.address, step.id) in held.ids
        case _:
            return False


class _Held(Struct, frozen=True):
    """The objects of a state, to be asked for by address and id."""

    ids: frozenset[tuple[str, str]]
    current: dict[str, Instance]

    @classmethod
    def of(cls, instances: tuple[Instance, ...]) -> _Held:
        return cls(
            ids=frozenset((i.address, i.id) for i in instances),
            current={i.address: i for i in instances if not i.deposed},
        )

    def has(self, step: Step) -> bool:
        """Whether the object of a create is there: by id, or by address where one of the two tells no id."""
        if (step.address, step.id) in self.ids:
            return True
        current = self.current.get(step.address)
        return current is not None and (step.id_key != "id" or not current.id)
