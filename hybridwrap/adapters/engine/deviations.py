"""What a refresh-only plan found changed, out of the engine's own JSON of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import Raw, Struct

from hybridwrap.domain.deviation import Change, Deviation, Marks, changes_between
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.json import Json, loads

_ACTIONS: Mapping[tuple[str, ...], Action] = {
    ("update",): Action.UPDATE,
    ("delete",): Action.DELETE,
    ("create",): Action.CREATE,
}


class _Change(Struct):
    actions: tuple[str, ...]
    before: Raw = Raw(b"null")
    after: Raw = Raw(b"null")
    before_sensitive: Raw = Raw(b"null")
    after_sensitive: Raw = Raw(b"null")


class _Drifted(Struct):
    address: str
    change: _Change
    mode: str = "managed"
    type: str = ""
    deposed: str = ""


class _Plan(Struct):
    resource_drift: tuple[_Drifted, ...] = ()


def deviations_in(document: bytes) -> tuple[Deviation, ...]:
    """Read the output of `show -json`, whatever lines of text there are around it."""
    plan = next((line for line in document.splitlines() if line.startswith(b'{"format_version"')), b"{}")
    return tuple(_deviations(msgspec.json.decode(plan, type=_Plan).resource_drift))


def _deviations(drifted: Iterable[_Drifted]) -> Iterator[Deviation]:
    for each in drifted:
        action = _ACTIONS.get(each.change.actions)
        if action is None or each.mode != "managed":  # an object that only moved is where the state will look for it
            continue
        address = f"{each.address} (deposed {each.deposed})" if each.deposed else each.address
        yield Deviation(address, action, each.type, _changes(each.change) if action is Action.UPDATE else ())


def _changes(change: _Change) -> tuple[Change, ...]:
    secret = Marks(_value(change.before_sensitive)), Marks(_value(change.after_sensitive))
    return changes_between(_value(change.before), _value(change.after), secret)


def _value(raw: Raw) -> Json:
    return loads(bytes(raw))
