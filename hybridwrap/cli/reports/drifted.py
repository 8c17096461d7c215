"""The drift that a report tells of: as it was known, and as it was accepted, on the day of the run."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hybridwrap.cli.reports.wording import moment
from hybridwrap.domain.codec import plain
from hybridwrap.domain.drift import Difference
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.json import Json
from hybridwrap.run.report import ModuleReport, Report

WORDS = {Action.UPDATE: "changed", Action.DELETE: "gone", Action.CREATE: "there again"}


class Drifted(Struct, frozen=True):
    """One object that is not as the state says."""

    module: str
    difference: Difference
    accepted: bool

    @property
    def what(self) -> str:
        attributes = ", ".join(self.difference.attributes)
        return f"{WORDS.get(self.difference.action, str(self.difference.action))} {attributes}".rstrip()

    @property
    def since(self) -> str:
        return moment(self.difference.since)


def drifted_in(report: Report, module: ModuleReport) -> Iterator[Drifted]:
    drift = module.record.drift
    if drift:
        new = {difference.address for difference in drift.new(report.last_seen[:10])}
        for difference in drift.differences:
            yield Drifted(module.module, difference, difference.address not in new)


def drift_json(report: Report, module: ModuleReport) -> Json:
    """What the ledger knows of a module's drift, None when it knows of none."""
    drift = module.record.drift
    if drift is None or not drift.differences:
        return None
    return {
        "result": str(drift.result(report.last_seen[:10])),
        "checked": drift.checked,
        "differences": [{**plain(each.difference), "accepted": each.accepted} for each in drifted_in(report, module)],
    }
