"""`report --detailed-exitcode`: a job that only reports ends as the run did."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.domain.run import RunEnd, RunStart
from tests.support.ledgers import writer
from tests.support.project import Project

TIME = "2026-01-01T00:00:00.000Z"


@pytest.mark.parametrize(("ended", "code"), [(0, 0), (4, 4), (32, 32), (None, 20)])
def test_a_report_exits_as_the_run_did_when_it_is_asked_to(tmp_path: Path, ended: int | None, code: int) -> None:
    project = Project(tmp_path)
    project.write("version: 1\nstack: shop\nmodules: {}\n")
    ledger = project.ledger()
    ledger.open()
    ledger.start_run(RunStart("01K7", "apply", TIME, writer(), ("apply",), (), {}))
    if ended is not None:
        ledger.end_run(RunEnd("01K7", TIME, ended, {}))
    assert project.call("report").code == 0
    assert project.call("report", "--detailed-exitcode").code == code
