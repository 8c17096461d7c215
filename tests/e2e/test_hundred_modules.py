"""A stack of a hundred modules: what need not be planned is not, and costs nothing."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.project import Project, Ran
from tests.support.stacks import Part, reference, write_stack

pytestmark = pytest.mark.e2e

LINK = """
variable "up" {
  type    = string
  default = ""
}
resource "terraform_data" "it" {
  input = var.up
  provisioner "local-exec" { command = "COMMAND" }
}
output "id" { value = terraform_data.it.id }
"""


def test_of_a_hundred_modules_only_what_a_failure_left_is_planned_and_then_none(tmp_path: Path) -> None:
    """Twenty rows of five; the third link of one row fails, and half of the next row depends on it, too."""
    rows, links, failing = 20, 5, "r07l2"
    layers: list[dict[str, Part]] = []
    for link in range(links):
        layer = {}
        for row in range(rows):
            name = f"r{row:02}l{link}"
            command = "test -e ../../fixed" if name == failing else "true"
            inputs = {"up": reference(f"r{row:02}l{link - 1}", "id")} if link else {}
            if name == "r08l3":
                inputs = {"up": reference(failing, "id")}
            layer[name] = Part(LINK.replace("COMMAND", command), inputs)
        layers.append(layer)
    project = Project(write_stack(tmp_path / "hundred", layers).path)
    assert project.apply().code == 4
    descendants = ["r07l3", "r07l4", "r08l3", "r08l4"]
    assert [name for name, status in project.statuses().items() if status == "pending"] == descendants
    (project.root / "fixed").touch()

    ran = project.run("resume", "--auto-approve", "--json")

    assert ran.code == 0, ran.text
    phases = {line["module"] for line in ran.lines if line["type"] == "phase"}
    assert phases == {failing, *descendants}, "no engine was started for any other module"
    assert set(project.statuses().values()) == {"ok"}

    assert "100 unchanged" in project.apply("--skip-unchanged").text
    ran, work = with_its_work(lambda: project.apply("--skip-unchanged"))
    assert "100 unchanged" in ran.text
    _, work_of_status = with_its_work(lambda: project.run("status"))
    assert work <= 5 * work_of_status, "no engine was asked; one start of it would cost as much as the status does"


def with_its_work(run: Callable[[], Ran]) -> tuple[Ran, float]:
    """Run a command, and say for how many seconds it worked: a clock would tell what else this machine had to do."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ran, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
