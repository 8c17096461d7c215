"""A report for programs (schema report.v1)."""

from __future__ import annotations

from collections.abc import Mapping

from hybridwrap.cli.reports.drifted import drift_json
from hybridwrap.cli.reports.next import next_commands, next_for, placed
from hybridwrap.cli.reports.wording import tally, told
from hybridwrap.cli.standing_json import output_json
from hybridwrap.domain.codec import plain
from hybridwrap.domain.entry import CloudObject, Entry, RecordedInput
from hybridwrap.domain.json import Json, pretty
from hybridwrap.domain.run import Run
from hybridwrap.run.report import ModuleReport, Report


def render(report: Report) -> str:
    return pretty(as_json(report)) + "\n"


def as_json(report: Report) -> Json:
    return {
        "version": 1,
        "stack": report.stack,
        "environment": report.environment,
        "run": _run(report),
        "counts": tally(report),
        "critical_path": list(report.critical_path),
        "modules": [_module(report, module) for module in report.modules],
        "still_pending": {name: plain(pending) for name, pending in report.carried.items()},
        "next": list(next_commands(report)),
    }


def _run(report: Report) -> Json:
    start = report.start
    return {
        "run": start.run,
        "command": start.command,
        "argv": list(start.argv),
        "saved": start.saved,
        "by": str(start.writer),
        "ci_url": start.writer.ci_url,
        "hybridwrap": start.writer.version,
        "began": start.time,
        "ended": report.ended or None,
        "last_seen": report.last_seen,
        "seconds": round(report.seconds, 3),
        "exit_code": report.exit_code,
        "name": start.shared or None,
        "parts": [_part(part) for part in report.parts],
        "hooks": [plain(run) for run in report.hooks],
    }


def _part(part: Run) -> Json:
    """What one process did of a shared run."""
    start, end = part.start, part.end
    return {
        "part": start.part,
        "argv": list(start.argv),
        "by": str(start.writer),
        "ci_url": start.writer.ci_url,
        "began": start.time,
        "ended": end.time if end else None,
        "exit_code": end.exit_code if end else None,
        "modules": {name: told.result for name, told in sorted(part.ends.items())},
    }


def _module(report: Report, module: ModuleReport) -> Json:
    end = module.end
    return {
        "module": module.module,
        "depends_on": list(module.needs),
        "result": module.result,
        "status": str(module.status),
        "reason": end.reason,
        "hint": placed(report, end.hint),
        "waits_for": end.waits_for,
        "began": module.began or None,
        "ended": module.ended or None,
        "seconds": round(module.seconds, 3),
        "waited": {"seconds": round(end.waited, 3), "for": end.waited_for} if end.waited else None,
        "exit_code": end.exit_code,
        "operation": end.operation,
        "planned": [{**plain(change), "fate": module.share.fate(change)} for change in module.planned],
        "counts": dict(end.counts),
        "hooks": [plain(run) for run in end.hooks],
        "errors": [{**plain(error), "place": module.place(error)} for error in end.errors],
        "steps": [plain(step) for step in module.share.steps],
        "entries": [_entry(entry) for entry in module.share.entries],
        **_recorded(report, module),
        "since": plain(module.since) if module.since else None,
        "next": list(next_for(report, module)),
    }


def _recorded(report: Report, module: ModuleReport) -> dict[str, Json]:
    """What the ledger says of the module itself."""
    record, end = module.record, module.share.end
    return {
        "inputs": {name: _input(given) for name, given in sorted(module.inputs.items())},
        "outputs": {name: output_json(output) for name, output in sorted(record.outputs.items())},
        "objects": {
            "known": [_object(each) for each in record.objects if not each.open],
            "open": [_object(each) for each in record.objects if each.open],
        },
        "engine": plain(module.engine) if module.engine else None,
        "source": plain(module.source) if module.source else None,
        "state": plain(record.state) if record.state else None,
        "drift": drift_json(report, module),
        "warnings": list(end.warnings) if end else [],
        "signals": [plain(signal) for signal in end.signals] if end else [],
        "evidence": list(module.share.evidence),
        "failed_command": list(end.failed_command) if end else [],
        "durations": dict(end.durations) if end else {},
        "log": {"path": end.log, "host": module.share.entries[-1].writer.host} if end and end.log else None,
        "last_sign": module.beat.time if module.beat else None,
    }


def _input(given: RecordedInput) -> Mapping[str, Json]:
    """One input; a sensitive one has no value."""
    told_of = {"sensitive": given.sensitive, "reference": given.reference}
    return told_of if given.sensitive else {**told_of, "value": given.value}


def _object(each: CloudObject) -> Mapping[str, Json]:
    return {"address": each.address, "type": each.type, "id": each.id}


def _entry(entry: Entry) -> Mapping[str, Json]:
    return {"seq": entry.seq, "kind": str(entry.kind), "time": entry.time, "by": str(entry.writer), "text": told(entry)}
