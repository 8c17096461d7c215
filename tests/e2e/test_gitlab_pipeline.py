"""GitLab's pipeline, really run on this machine by gitlab-ci-local: one job for each module, one report for all."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.ci_tools import gitlab_ci_local
from tests.support.engines import engines
from tests.support.pages import Check, Screen
from tests.support.project import Project

pytestmark = pytest.mark.e2e
MANIFEST = """
version: 1
stack: shop
engine: {program: PROGRAM}
modules:
  network: {source: modules/network}
  vm: {source: modules/vm, inputs: {subnet_id: "{{ modules.network.subnet_id }}"}}
  health: {source: modules/health, inputs: {vm_id: "{{ modules.vm.id }}"}}
"""
NETWORK = """
resource "terraform_data" "network" {}
output "subnet_id" { value = "subnet-${substr(terraform_data.network.id, 0, 8)}" }
"""
VM = """
variable "subnet_id" { type = string }
resource "terraform_data" "vm" {
  triggers_replace = var.subnet_id
  provisioner "local-exec" { command = "test -e ../../capacity" }
}
output "id" { value = "vm-${substr(terraform_data.vm.id, 0, 8)}" }
"""
HEALTH = """
variable "vm_id" { type = string }
resource "terraform_data" "health" { triggers_replace = var.vm_id }
"""
PIPELINE = ".gitlab/hybridwrap-shop.yml"


class GitLab:
    """A clone whose pipelines run here."""

    def __init__(self, project: Project, program: Sequence[str]) -> None:
        self.project = project
        self._program = program
        self._env = {**project.env, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=ana", "-c", "user.email=ana@shop.example")
        subprocess.run(
            [str(shutil.which("git")), *who, *words],
            cwd=self.project.root,
            env=self._env,
            check=True,
            capture_output=True,
        )

    def pipeline(self, *manual: str, **variables: str) -> tuple[int, str]:
        """Run a pipeline with its manual jobs approved; the exit code, and all that its jobs said."""
        given = [word for name, value in variables.items() for word in ("--variable", f"{name}={value}")]
        approved = [word for name in manual for word in ("--manual", name)]
        ran = subprocess.run(
            [*self._program, "--force-shell-executor", "--concurrency", "1", *approved, *given],
            cwd=self.project.root,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        return ran.returncode, ran.stdout


@pytest.fixture
def gitlab(tmp_path: Path) -> GitLab:
    program = gitlab_ci_local()
    if shutil.which("rsync") is None:
        pytest.skip("gitlab-ci-local needs rsync: apt install rsync")
    project = Project(tmp_path)
    manifest = MANIFEST.replace("PROGRAM", next(name for name, engine in engines().items() if engine))
    project.write(manifest, **{"modules/network": NETWORK, "modules/vm": VM, "modules/health": HEALTH})
    found = GitLab(project, program)
    found.git("init", "--quiet", "--initial-branch", "main")
    found.git("remote", "add", "origin", "https://gitlab.example/acme/shop.git")
    wrote = project.call("pipeline", "gitlab", "--shape", "modules", "--install", "true", "--write")
    assert wrote.code == 0, wrote.text
    (tmp_path / ".gitlab-ci.yml").write_text(f'include: [{{local: "{PIPELINE}"}}]\n')
    found.git("add", ".")
    found.git("commit", "--quiet", "--message", "a stack")
    return found


def said_by(job: str, log: str) -> str:
    return "".join(f"{line}\n" for line in re.findall(rf"^{re.escape(job)} +> ?(.*)$", log, re.MULTILINE))


def test_a_pipeline_of_gitlab_applies_a_stack_job_by_job_and_tears_it_down(gitlab: GitLab, check: Check) -> None:
    code, said = gitlab.pipeline("shop: approve")
    assert code != 0
    screen = Screen(gitlab.project)
    screen.note("hybridwrap report --detailed-exitcode --publish gitlab", said_by("shop: report", said), 4)
    check("pipeline-gitlab", screen)
    assert gitlab.project.statuses() == {"network": "ok", "vm": "error", "health": "pending"}

    (gitlab.project.root / "capacity").touch()
    code, said = gitlab.pipeline("shop: approve")
    assert code == 0, said
    assert "longest chain: network > vm > health" in said
    assert gitlab.project.statuses() == {"network": "ok", "vm": "ok", "health": "ok"}
    runs = [run["command"] for run in gitlab.project.call("history", "--json").json]
    assert runs == ["apply", "apply"]  # one for each pipeline, whatever the number of its jobs

    code, said = gitlab.pipeline(CI_PIPELINE_SOURCE="schedule")
    assert code == 0, said
    assert "3 unchanged" in said

    code, said = gitlab.pipeline("shop: destroy", HYBRIDWRAP_DESTROY="destroy everything")
    assert set(gitlab.project.statuses().values()) == {"ok"}
    code, said = gitlab.pipeline("shop: destroy", HYBRIDWRAP_DESTROY="destroy shop")
    assert code == 0, said
    assert set(gitlab.project.statuses().values()) == {"destroyed"}
