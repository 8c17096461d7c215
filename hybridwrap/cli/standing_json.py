"""`status --json` (schema status.v1)."""

from __future__ import annotations

from collections.abc import Sequence

from hybridwrap.domain.drift import Drift
from hybridwrap.domain.drift_checks import last_checked
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.run import Run
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.unapplied import Unapplied
from hybridwrap.run.standing import Standing


def standings_json(stack: Stack, standings: Sequence[Standing], runs: Sequence[Run], today: str) -> Json:
    """Tell all that is known; `today` (YYYY-MM-DD) decides which acceptances of drift hold."""
    return {
        "version": 1,
        "stack": stack.name,
        "environment": stack.environment,
        "modules": [{**_module(each), "drift": _drift(each, runs, today)} for each in standings],
        "runs": [_run(run) for run in runs],
    }


def _module(standing: Standing) -> Json:
    was = {"was": str(standing.was)} if standing.was is not None else {}
    return {
        "module": standing.module,
        "status": str(standing.status),
        **was,
        "reason": standing.reason,
        "since": standing.since,
        "by": standing.by,
        "run": standing.run,
        "operation": standing.operation,
        "phase": standing.phase,
        "depends_on": list(standing.depends_on),
        "owner": standing.owner or None,
        "outputs": {name: output_json(output) for name, output in standing.outputs.items()},
        "objects": {
            "known": [{"address": o.address, "id": o.id} for o in standing.known],
            "open": [{"address": o.address, "id": o.id} for o in standing.open],
        },
        "warnings": list(standing.warnings),
        "unapplied": _unapplied(standing.unapplied),
        "damage": {"key": standing.damage.key, "why": standing.damage.why} if standing.damage else None,
    }


def _unapplied(found: Unapplied | None) -> Json:
    return {"reasons": list(found.reasons), "merged": found.merged} if found else None


def _drift(standing: Standing, runs: Sequence[Run], today: str) -> Json:
    """How it was found to be, None when nobody has looked since it was changed."""
    checked, drift = last_checked(standing, runs), standing.drift or Drift()
    if not checked:
        return None
    new = drift.new(today)
    return {
        "result": str(drift.result(today)),
        "checked": checked,
        "since": min((difference.since for difference in drift.differences), default=None),
        "new": [difference.address for difference in new],
    }


def output_json(output: Output) -> Json:
    """One output; a sensitive one has no value."""
    told = {"provenance": str(output.provenance), "sensitive": output.sensitive}
    return told if output.sensitive else {**told, "value": output.value}


def _run(run: Run) -> Json:
    return {
        "run": run.start.run,
        "command": run.start.command,
        "time": run.start.time,
        "by": str(run.start.writer),
        "ended": run.end.time if run.end else None,
        "exit_code": run.end.exit_code if run.end else None,
    }
