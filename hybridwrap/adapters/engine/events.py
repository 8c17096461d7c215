"""Reads the engine's event stream: a line that can be understood becomes a typed fact, any other is kept as text.

Nothing in a stream is fatal: it is evidence of what was really done, also when its last line is torn.
"""

from __future__ import annotations

import re
from collections import deque
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Final

import msgspec
from msgspec import Raw, Struct

from hybridwrap.domain.engine_run import (
    Action,
    ChangeSummary,
    Diagnostic,
    Hook,
    OutputChange,
    PlannedChange,
    Stream,
)
from hybridwrap.domain.ports import EngineEvent

KEPT_LINES: Final = 200
KEPT_LENGTH: Final = 2_000  # characters of a line that is no event
TORN_LENGTH: Final = 100  # of one that began as an event: a torn state dump would go on with secrets
_LONGEST_CHARACTER: Final = 4  # bytes, in UTF-8


class _Object(Struct):
    addr: str
    resource_type: str = ""


class _Hook(Struct):
    resource: _Object
    action: str = ""
    id_key: str = ""
    id_value: str = ""
    provisioner: str = ""


class _Invocation(Struct):
    action: _Object


class _Change(Struct):
    resource: _Object
    action: str
    reason: str = ""


class _Output(Struct):
    action: str = ""  # a plan has actions, the end of an apply has values instead
    sensitive: bool = False


class _Position(Struct):
    line: int


class _Range(Struct):
    filename: str
    start: _Position


class _Diagnostic(Struct):
    severity: str
    summary: str
    detail: str = ""
    address: str = ""
    range: _Range | None = None


class _Line(Struct):
    """The frame of every event; what is in it is read only for the types that matter."""

    type: str = ""
    message: str = msgspec.field(default="", name="@message")
    time: str = msgspec.field(default="", name="@timestamp")
    terraform: str = ""
    tofu: str = ""
    hook: Raw = Raw()
    change: Raw = Raw()
    changes: Raw = Raw()
    outputs: Raw = Raw()
    diagnostic: Raw = Raw()
    state: Raw = Raw()


_line = msgspec.json.Decoder(_Line).decode
_hook = msgspec.json.Decoder(_Hook).decode
_invocation = msgspec.json.Decoder(_Invocation).decode
_change = msgspec.json.Decoder(_Change).decode
_changes = msgspec.json.Decoder(dict[str, int | str]).decode
_outputs = msgspec.json.Decoder(dict[str, _Output]).decode
_diagnostic = msgspec.json.Decoder(_Diagnostic).decode

_ACTIONS: Final = {action.value: action for action in Action}
_PHASES: Final = ("start", "progress", "complete", "errored")
_HOOKS: Final = {f"{what}_{phase}": phase for what in ("apply", "provision", "action") for phase in _PHASES}
_OF_NO_CONSEQUENCE: Final = frozenset(
    ["", "refresh_start", "refresh_complete", "init_output", *(f"ephemeral_op_{phase}" for phase in _PHASES)]
)

# An escape sequence of a terminal, a carriage return, or any other control character but newline and tab.
_CONTROL: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\r\n?|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _printable(text: str) -> str:
    return _CONTROL.sub(_replacement, text)


def _replacement(control: re.Match[str]) -> str:
    if control[0].startswith("\r"):
        return "\n"
    return "" if len(control[0]) > 1 else "\N{REPLACEMENT CHARACTER}"


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
        seen = self._seen.copy()
        seen.take(self._unfinished.line)
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
            output_changes=self.output_changes,
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
        line = _parsed(text) if text.startswith(b"{") else None
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
        if shown := _printable(shown).strip():
            self.plain_lines.append(shown)

    def _event(self, line: _Line) -> EngineEvent | None:
        if line.type in _HOOKS:
            return self._step(line)
        match line.type:
            case "planned_change":
                self.planned.append(planned := _planned(line))
                return planned
            case "resource_drift":
                self.drifted.append(_planned(line))
            case "diagnostic":
                self.diagnostics.append(found := _found(_diagnostic(line.diagnostic)))
                return found
            case "change_summary":
                self.summaries.append(summary := _summary(line))
                return summary
            case _:
                self._state_of_things(line)
        return None

    def _state_of_things(self, line: _Line) -> None:
        match line.type:
            case "version":
                self.product = "opentofu" if line.tofu else "terraform"
                self.version = line.tofu or line.terraform
            case "outputs":
                self.output_changes |= _output_changes(line)
            case "log":
                self._log(line)
            case "state_lock_acquire" | "state_lock_release":
                self.lock_steps.append(line.type.rpartition("_")[2])
            case other if other not in _OF_NO_CONSEQUENCE:
                self.unknown_types[other] = None

    def _log(self, line: _Line) -> None:
        if line.state:
            self.state_dump = bytes(line.state)
        if line.message.lstrip().startswith("Two interrupts received."):
            self.interrupts = 2
        elif line.message.lstrip().startswith("Interrupt received."):
            self.interrupts = max(self.interrupts, 1)

    def _step(self, line: _Line) -> Hook:
        hook = _invoked(line) if line.type.startswith("action_") else _stepped(line)
        if hook.phase != "progress":
            self.hooks.append(hook)
        return hook


def _parsed(text: bytes) -> _Line | None:
    valid = text if text.isascii() else text.decode(errors="replace").encode()
    try:
        return _line(valid)
    except (msgspec.DecodeError, RecursionError):
        return None


def _planned(line: _Line) -> PlannedChange:
    change = _change(line.change)
    action = _ACTIONS.get(change.action, Action.OTHER)
    return PlannedChange(change.resource.addr, action, change.resource.resource_type, change.reason)


def _stepped(line: _Line) -> Hook:
    hook = _hook(line.hook)
    return Hook(
        address=hook.resource.addr,
        action=_ACTIONS.get(hook.action, Action.OTHER),
        phase=_HOOKS[line.type],
        type=hook.resource.resource_type,
        id_key=hook.id_key,
        id_value=hook.id_value,
        provisioner=hook.provisioner,
        time=line.time,
    )


def _invoked(line: _Line) -> Hook:
    return Hook(_invocation(line.hook).action.addr, Action.OTHER, _HOOKS[line.type], time=line.time)


def _found(told: _Diagnostic) -> Diagnostic:
    """The snippet stays behind: it can hold values."""
    return Diagnostic(
        severity=told.severity,
        summary=_printable(told.summary),
        detail=_printable(told.detail),
        address=told.address,
        file=told.range.filename if told.range else "",
        line=told.range.start.line if told.range else 0,
    )


def _summary(line: _Line) -> ChangeSummary:
    words = _changes(line.changes)
    return ChangeSummary(
        operation=str(words.get("operation", "")),
        changes={word: count for word, count in words.items() if isinstance(count, int)},
    )


def _output_changes(line: _Line) -> dict[str, OutputChange]:
    return {
        name: OutputChange(_ACTIONS.get(output.action, Action.OTHER), output.sensitive)
        for name, output in _outputs(line.outputs).items()
        if output.action
    }
