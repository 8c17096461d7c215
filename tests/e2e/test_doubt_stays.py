"""What is unknown stays so by whatever command, until somebody has looked."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.domain.entry import Begin, CloudObject, End
from hybridwrap.domain.status import Outcome, Status
from tests.support.project import Project

pytestmark = pytest.mark.e2e

MANIFEST = "version: 1\nstack: shop\nmodules:\n  m: {source: m}\n"
WHY = "the engine was killed by signal 9"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write(MANIFEST, m='resource "terraform_data" "it" {}\n')
    assert project.apply().code == 0
    ledger = project.ledger()
    ledger.open()
    record, begun = ledger.record("m"), ledger.history("m")[0].body
    assert isinstance(begun, Begin)
    held = ledger.begin(record, replace(begun, run="R2", previous_status=Status.OK), operation="O2")
    objects = (*record.objects, CloudObject("terraform_data.more", "terraform_data", open=True))
    end = End(Outcome.UNKNOWN, Status.UNKNOWN, record.state, objects=objects, reason=WHY)
    ledger.end(held, end, operation="O2", entry_id="E2")
    assert project.statuses() == {"m": "unknown"}
    return project


def test_to_retain_and_adopt_it_does_not_make_it_known(project: Project) -> None:
    assert project.run("retain", "m", "--reason", "later").code == 0
    ran = project.run("adopt", "m")
    assert ran.code == 32, ran.text
    assert "hybridwrap reconcile m" in ran.text
    standing = project.status()["m"]
    assert standing["status"] == "unknown"
    assert WHY in standing["reason"]
    assert project.apply().code == 32


def test_an_engine_command_keeps_the_reason(project: Project) -> None:
    assert project.run("tf", "m", "--", "taint", "terraform_data.it").code == 0
    standing = project.status()["m"]
    assert standing["status"] == "unknown"
    assert WHY in standing["reason"]
