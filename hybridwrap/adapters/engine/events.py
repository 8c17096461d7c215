"""Reads the engine's event stream: a line that can be understood becomes a typed fact, any other is kept as text.

Nothing in a stream is fatal: it is evidence of what was really done, also when its last line is torn.
"""

from __future__ import annotations

from collections import deque
from copy import copy
from dataclasses import dataclass, field, fields, replace  # noqa: TID251  of a dataclass
from typing import Final

import msgspec

from hybridwrap.adapters.engine.event_lines import (
    HOOKS,
    OF_NO_CONSEQUENCE,
    Line,
    change_summary,
    diagnostic,
    hook,
    output_changes,
    parsed,
    planned_change,
    printable,
    refreshed,
)
from hybridwrap.domain.engine_run import ChangeSummary, Diagnostic, Hook, OutputChange, PlannedChange, Stream
from hybridwrap.domain.ports import EngineEvent

KEPT_LINES: Final = 200
KEPT_LENGTH: Final = 2_000  # characters of a line that is no event
TORN_LENGTH: Final = 100  # of one that began as an event: a torn state dump would go on with secrets
_LONGEST_CHARACTER: Final = 4  # bytes, in UTF-8


class EventReader:
    """Takes the stream in pieces of any size, as they come."""

    def __init__(self) -> None:
        self._seen = _Seen()
        self._unfinished = _Unfinished()

    def feed(self, chunk: bytes) -> list[EngineEvent]:
        """Take the next bytes; return what they complete, progress of long steps included."""
        first, newline, others = chunk.partition(b"\n")
        self._unfinished.add(first)
        if not newline:
            return []
        *lines, last = others.split(b"\n")
        events = [self._seen.take(line) for line in [self._unfinished.line, *lines]]
        self._unfinished = _Unfinished()
        self._unfinished.add(last)
        return [event for event in events if event is not None]

    def stream(self) -> Stream:
        """Say what was read so far; a torn last line counts as it stands."""
        if not (torn := self._unfinished.line):
            return self._seen.stream()
        seen = self._seen.copy()
        seen.take(torn)
        return seen.stream()


def read_stream(data: bytes) -> Stream:
    reader = EventReader()
    reader.feed(data)
    return reader.stream()


class _Unfinished:
    """The start of a line whose end has not come yet; of a line that is no event only as much as is shown of it."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def add(self, piece: bytes) -> None:
        if piece and (self._is_event or self._length < KEPT_LENGTH * _LONGEST_CHARACTER):
            self._pieces.append(piece)
            self._length += len(piece)

    @property
    def line(self) -> bytes:
        return b"".join(self._pieces)

    @property
    def _is_event(self) -> bool:
        return bool(self._pieces) and self._pieces[0].startswith(b"{")


@dataclass(slots=True)
class _Seen:
    """What the lines so far said."""

    product: str = ""
    version: str = ""
    planned: list[PlannedChange] = field(default_factory=list)
    drifted: list[PlannedChange] = field(default_factory=list)
    looked_for: dict[str, str] = field(default_factory=dict)  # address -> id, while it is being refreshed
    vanished: dict[str, str] = field(default_factory=dict)
    output_changes: dict[str, OutputChange] = field(default_factory=dict)
    hooks: list[Hook] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    summaries: list[ChangeSummary] = field(default_factory=list)
    state_dump: bytes | None = None
    interrupts: int = 0
    lock_steps: list[str] = field(default_factory=list)
    unknown_types: dict[str, None] = field(default_factory=dict)
    plain_lines: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))

    def copy(self) -> _Seen:
        return replace(self, **{part.name: copy(getattr(self, part.name)) for part in fields(self)})

    def stream(self) -> Stream:
        return Stream(
            product=self.product,
            version=self.version,
            planned=tuple(self.planned),
            drifted=tuple(self.drifted),
            vanished=dict(self.vanished),
            output_changes=dict(self.output_changes),
            hooks=tuple(self.hooks),
            diagnostics=tuple(self.diagnostics),
            summaries=tuple(self.summaries),
            state_dump=self.state_dump,
            interrupts=self.interrupts,
            lock_steps=tuple(self.lock_steps),
            unknown_types=tuple(self.unknown_types),
            plain_lines=tuple(self.plain_lines),
        )

    def take(self, text: bytes) -> EngineEvent | None:
        line = parsed(text) if text.startswith(b"{") else None
        if line is None:
            self._keep(text)
            return None
        try:
            return self._event(line)
        except msgspec.DecodeError:
            self.unknown_types[line.type] = None  # known by name, of another shape than we know
            return None

    def _keep(self, text: bytes) -> None:
        length = TORN_LENGTH if text.startswith(b"{") else KEPT_LENGTH
        shown = text[: length * _LONGEST_CHARACTER].decode(errors="replace")[:length]
        if shown := printable(shown).strip():
            self.plain_lines.append(shown)

    def _event(self, line: Line) -> EngineEvent | None:
        if line.type in HOOKS:
            return self._step(line)
        match line.type:
            case "planned_change":
                self.planned.append(change := planned_change(line))
                return change
            case "resource_drift":
                self.drifted.append(planned_change(line))
            case "diagnostic":
                self.diagnostics.append(found := diagnostic(line))
                return found
            case "change_summary":
                self.summaries.append(summary := change_summary(line))
                return summary
            case _:
                self._state_of_things(line)
        return None

    def _state_of_things(self, line: Line) -> None:
        match line.type:
            case "version":
                self.product = "opentofu" if line.tofu else "terraform"
                self.version = line.tofu or line.terraform
            case "outputs":
                self.output_changes |= output_changes(line)
            case "refresh_start" | "refresh_complete":
                self._refresh(line)
            case "log":
                self._log(line)
            case "state_lock_acquire" | "state_lock_release":
                self.lock_steps.append(line.type.rpartition("_")[2])
            case other if other not in OF_NO_CONSEQUENCE:
                self.unknown_types[other] = None

    def _refresh(self, line: Line) -> None:
        """An object with an id that comes back without one is gone."""
        address, found = refreshed(line)
        if line.type == "refresh_start":
            self.looked_for[address] = found
        elif (id_ := self.looked_for.pop(address, "")) and not found:
            self.vanished[address] = id_

    def _log(self, line: Line) -> None:
        if line.state:
            self.state_dump = bytes(line.state)
        if line.message.lstrip().startswith("Two interrupts received."):
            self.interrupts = 2
        elif line.message.lstrip().startswith("Interrupt received."):
            self.interrupts = max(self.interrupts, 1)

    def _step(self, line: Line) -> Hook:
        step = hook(line)
        if step.phase != "progress":
            self.hooks.append(step)
        return step
