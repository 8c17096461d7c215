"""Standings, stacks and overviews as a test wants them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hybridwrap.cli.overview import Overview
from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.run import Run
from hybridwrap.domain.stack import LedgerSettings, Module, Stack
from hybridwrap.domain.status import Status
from hybridwrap.run.standing import Standing, summary_of

ROOT = Path("/stack")
NO_CAPACITY = Diagnostic("error", "InsufficientInstanceCapacity", "", "aws_instance.web", "main.tf", 21)


def standing(
    module: str, status: Status = Status.OK, *needs: str, owner: str = "", reason: str = "", waits_for: str = ""
) -> Standing:
    """A module that was applied by ana, with two outputs, unless it never was."""
    errors = (NO_CAPACITY,) if status is Status.ERROR else ()
    was = Status.OK if status is Status.PENDING else None
    outputs = {
        "id": Output(Provenance.KNOWN, value="1"),
        "name": Output(Provenance.STALE if errors else Provenance.KNOWN),
    }
    seen = status is not Status.NONE
    return Standing(
        module=module,
        status=status,
        was=was,
        reason=reason or (summary_of(errors) if errors else f"waits for {waits_for}" if waits_for else ""),
        waits_for=waits_for,
        since="2026-01-01T00:00:00Z" if seen else "",
        by="ana@laptop" if seen else "",
        run="R1" if seen else "",
        depends_on=needs,
        owner=owner,
        outputs=outputs if seen else {},
        errors=errors,
        log=f"/log/{module}/events.jsonl" if errors else "",
        source=f"modules/{module}",
    )


def overview_of(*found: Standing, environment: str = "prod", runs: tuple[Run, ...] = ()) -> Overview:
    declared = {s.module: Module(s.module, ROOT / s.source, depends_on=s.depends_on, owner=s.owner) for s in found}
    stack = Stack("shop", environment, ROOT / "hybridwrap.yaml", declared, LedgerSettings(), ("dev", "prod"))
    return Overview(stack, "s3://acme/hybridwrap/", datetime(2026, 1, 2, tzinfo=UTC), found, runs)
