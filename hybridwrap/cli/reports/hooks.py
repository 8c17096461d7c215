"""What a report says of hooks: which were called, and which of them failed."""

from __future__ import annotations

from hybridwrap.domain.hooks import HookRun
from hybridwrap.run.report import Report

THE_RUN = "the run"


def failed_hooks(report: Report) -> tuple[tuple[str, HookRun], ...]:
    """Each that failed, with its module; those of the run itself first."""
    called = [(THE_RUN, run) for run in report.hooks]
    called += [(module.module, run) for module in report.modules for run in module.end.hooks]
    return tuple((who, run) for who, run in called if run.failed)
