"""A transient error is tried again with a new plan; a plan that would destroy something new is not carried out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from hybridwrap.domain.entry import Begin, End
from hybridwrap.domain.status import Outcome
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.project import FAKECLOUD, Project, interrupt, wait

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  web:
    source: web
    retry: {on: ["quota exceeded", "did not become ready", "no answer", "inconsistent result"], attempts: 3, wait: WAIT}
"""
WEB = (
    FAKECLOUD
    + """
resource "fakecloud_network" "net" { name = "net" }
resource "fakecloud_server" "web" {
  name = "web"
  tags = { network = fakecloud_network.net.id }
}
output "ip" { value = fakecloud_server.web.ip }
"""
)


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str]) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, fakecloud_env)


def write(project: Project, engine: str, wait_time: str = "0") -> None:
    project.write(STACK.replace("ENGINE", engine).replace("WAIT", wait_time), web=WEB)


def outcomes(project: Project) -> list[Outcome]:
    return [entry.body.outcome for entry in project.ledger().history("web") if isinstance(entry.body, End)]


def test_attempts_end_with_the_last_one_and_each_is_an_operation(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    write(project, engine_program)
    cloud.inject("web", "fail-before")

    ran = project.apply()

    assert ran.code == 4, ran.text
    assert outcomes(project) == [Outcome.FAILED] * 3
    begun = [entry for entry in project.ledger().history("web") if isinstance(entry.body, Begin)]
    assert len({entry.operation for entry in begun}) == 3
    assert len({entry.body.run for entry in begun if isinstance(entry.body, Begin)}) == 1
    assert "attempt 1 of 3 failed" in ran.text
    assert "attempt 3 of 3" not in ran.text
    assert len(cloud.calls(Operation.CREATE, name="net")) == 1, "what was made is not made again"


def test_a_later_attempt_that_works_makes_the_module_ok(project: Project, cloud: Cloud, engine_program: str) -> None:
    write(project, engine_program, "1s")
    cloud.inject("web", "fail-once-before")
    ran = project.apply()
    assert ran.code == 0, ran.text
    assert outcomes(project) == [Outcome.FAILED, Outcome.SUCCEEDED]


def test_a_signal_ends_the_wait_and_nothing_is_tried_again(project: Project, cloud: Cloud, engine_program: str) -> None:
    write(project, engine_program, "1h")
    cloud.inject("web", "fail-before")
    process = project.start("apply", "--auto-approve", "--json")
    assert process.stdout is not None
    for line in process.stdout:
        if "next try in 1h" in line:
            break
    interrupt(process)
    ran = wait(process)
    assert ran.code == 130, ran.text
    assert "not tried again: stopped by SIGINT" in ran.text
    assert outcomes(project) == [Outcome.FAILED]
    assert project.statuses() == {"web": "error"}


def test_a_plan_that_would_replace_something_new_is_shown_and_not_carried_out(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    write(project, engine_program)
    cloud.inject("web", "partial")

    ran = project.apply()

    assert ran.code == 4, ran.text
    assert outcomes(project) == [Outcome.FAILED]
    assert "not tried again: the new plan would replace fakecloud_server.web" in ran.text
    assert len(cloud.calls(Operation.DELETE)) == 0


def test_nothing_is_tried_again_while_nobody_knows_what_was_made(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    write(project, engine_program)
    cloud.inject("net", "gone")
    ran = project.apply()
    assert ran.code == 4, ran.text
    assert "Provider produced inconsistent result after apply" in ran.text, "which the manifest calls transient"
    assert len(outcomes(project)) == 1
    assert len(cloud.calls(Operation.CREATE, name="net")) == 1
