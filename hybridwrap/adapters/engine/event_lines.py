"""The lines of an event stream in their shape on the wire, and what each of them says."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import Raw, Struct

from hybridwrap.domain.charter import stamp
from hybridwrap.domain.engine_run import Action, ChangeSummary, Diagnostic, Hook, OutputChange, PlannedChange


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


class Line(Struct):
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


_line = msgspec.json.Decoder(Line).decode
_hook = msgspec.json.Decoder(_Hook).decode
_invocation = msgspec.json.Decoder(_Invocation).decode
_change = msgspec.json.Decoder(_Change).decode
_changes = msgspec.json.Decoder(dict[str, int | str]).decode
_outputs = msgspec.json.Decoder(dict[str, _Output]).decode
_diagnostic = msgspec.json.Decoder(_Diagnostic).decode

_ACTIONS: Final = {action.value: action for action in Action}
_PHASES: Final = ("start", "progress", "complete", "errored")
HOOKS: Final = {f"{what}_{phase}": phase for what in ("apply", "provision", "action") for phase in _PHASES}
OF_NO_CONSEQUENCE: Final = frozenset(["", "init_output", *(f"ephemeral_op_{phase}" for phase in _PHASES)])

# An escape sequence of a terminal, a carriage return, or any other control character but newline and tab.
_CONTROL: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\r\n?|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    return _CONTROL.sub(_replacement, text)


def _replacement(control: re.Match[str]) -> str:
    if control[0].startswith("\r"):
        return "\n"
    return "" if len(control[0]) > 1 else "\N{REPLACEMENT CHARACTER}"


def parsed(text: bytes) -> Line | None:
    """Read a line's frame, None when it is no event. What is in it may still raise msgspec.DecodeError."""
    valid = text if text.isascii() else text.decode(errors="replace").encode()
    try:
        return _line(valid)
    except (msgspec.DecodeError, RecursionError):
        return None


def planned_change(line: Line) -> PlannedChange:
    change = _change(line.change)
    action = _ACTIONS.get(change.action, Action.OTHER)
    return PlannedChange(change.resource.addr, action, change.resource.resource_type, change.reason)


def hook(line: Line) -> Hook:
    if line.type.startswith("action_"):
        return Hook(_invocation(line.hook).action.addr, Action.OTHER, HOOKS[line.type], time=_in_utc(line.time))
    told = _hook(line.hook)
    return Hook(
        address=told.resource.addr,
        action=_ACTIONS.get(told.action, Action.OTHER),
        phase=HOOKS[line.type],
        type=told.resource.resource_type,
        id_key=told.id_key,
        id_value=told.id_value,
        provisioner=told.provisioner,
        time=_in_utc(line.time),
    )


def refreshed(line: Line) -> tuple[str, str]:
    """Address and id of an object that is, or was, looked for."""
    told = _hook(line.hook)
    return told.resource.addr, told.id_value


def _in_utc(local: str) -> str:
    """The engine tells the time of the host's zone; "" for what is no time."""
    try:
        return stamp(datetime.fromisoformat(local).astimezone(UTC))
    except ValueError:
        return ""


def diagnostic(line: Line) -> Diagnostic:
    """The snippet stays behind: it can hold values."""
    told = _diagnostic(line.diagnostic)
    return Diagnostic(
        severity=told.severity,
        summary=printable(told.summary),
        detail=printable(told.detail),
        address=told.address,
        file=told.range.filename if told.range else "",
        line=told.range.start.line if told.range else 0,
    )


def change_summary(line: Line) -> ChangeSummary:
    words = _changes(line.changes)
    return ChangeSummary(
        operation=str(words.get("operation", "")),
        changes={word: count for word, count in words.items() if isinstance(count, int)},
    )


def output_changes(line: Line) -> dict[str, OutputChange]:
    return {
        name: OutputChange(_ACTIONS.get(output.action, Action.OTHER), output.sensitive)
        for name, output in _outputs(line.outputs).items()
        if output.action
    }
