"""Drift for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from hybridwrap.cli.lines import faint, fitted, local_moment
from hybridwrap.domain.codec import plain
from hybridwrap.domain.deviation import Change, Deviation
from hybridwrap.domain.drift import Acceptance, Difference, DriftResult
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.json import Json, canonical
from hybridwrap.run.drift import Look

SIGNS = {Action.UPDATE: ("~", "yellow"), Action.DELETE: ("-", "red"), Action.CREATE: ("+", "green")}
SHOWN = 48  # characters of a value


def look_text(look: Look) -> str:
    """Name each object that differs, what of it differs and since when, and who accepted what."""
    head = click.style(look.module, bold=True)
    since = {difference.address: difference.since for difference in look.drift.differences}
    new = {difference.address: difference for difference in look.new}
    lines = [f"{head}  {_in_all(look)}"]
    for deviation in look.deviations:
        lines += _object(deviation, new.get(deviation.address), since[deviation.address])
    lines += [f"  {_decision(each)}" for each in look.accepted]
    return "\n".join(lines)


def _in_all(look: Look) -> str:
    count = len(look.drift.differences)
    objects = "1 object is" if count == 1 else f"{count} objects are"
    accepted = "; all of it is accepted" if look.result is DriftResult.ACCEPTED else ""
    return f"{objects} not as the state says{accepted}"


def _object(deviation: Deviation, new: Difference | None, since: str) -> Iterator[str]:
    sign, colour = SIGNS[deviation.action]
    gone = "  gone" if deviation.action is Action.DELETE else ""
    accepted = "" if new else "  accepted"
    told = f"{deviation.address}{gone}{accepted}"
    yield f"  {click.style(sign, fg=colour)} {told}  {faint(f'since {local_moment(since)}')}"
    for change in deviation.changes:
        accepted = "" if new is None or change.path in new.attributes else "  accepted"
        yield f"      {change.path}: {_values(change)}{accepted}"


def _values(change: Change) -> str:
    if change.hidden:
        return "(not shown)"
    before, after = (fitted(canonical(value).decode(), SHOWN) for value in (change.before, change.after))
    return f"{before} -> {after}"


def _decision(acceptance: Acceptance) -> str:
    until = f"until {acceptance.until} by {acceptance.by or 'somebody'}"
    return faint(f"accepted {until}: {acceptance.target}: {acceptance.reason}")


def look_json(look: Look) -> Mapping[str, Json]:
    """The fields of an event of type drift; a value that is hidden is left out."""
    new = {difference.address: difference for difference in look.new}
    since = {difference.address: difference.since for difference in look.drift.differences}
    return {
        "module": look.module,
        "result": str(look.result),
        "objects": [_object_json(each, new.get(each.address), since[each.address]) for each in look.deviations],
        "accepted": [plain(each) for each in look.accepted],
    }


def _object_json(deviation: Deviation, new: Difference | None, since: str) -> Json:
    return {
        "address": deviation.address,
        "action": str(deviation.action),
        "type": deviation.type,
        "since": since,
        "new": new is not None,
        "attributes": [_attribute_json(change, new) for change in deviation.changes],
    }


def _attribute_json(change: Change, new: Difference | None) -> Json:
    told = {"path": change.path, "new": new is not None and change.path in new.attributes}
    return told if change.hidden else {**told, "before": change.before, "after": change.after}
