"""`exec`: any program, where a module's engine would work and with what that would get."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
environments: {dev: {}, prod: {modules: {vm: {inputs: {size: large}}}}}
modules:
  network: {source: network}
  vm:
    source: vm
    env: {REGION: eu}
    credentials: {command: ["echo", '{"API_TOKEN": "t-1"}']}
    inputs: {size: small, tags: {team: web}, password: {from_env: PASSWORD}}
  app: {source: app, inputs: {subnet: "{{ modules.network.subnet }}"}}
"""
NETWORK = 'output "subnet" { value = "s-1" }\n'
VM = """
variable "size" { type = string }
variable "tags" { type = map(string) }
variable "password" {
  type      = string
  sensitive = true
}
"""
APP = 'variable "subnet" { type = string }\n'
TELL = "import json, os; print(json.dumps([os.getcwd(), dict(os.environ)]))"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path, {"PASSWORD": "pw", "TF_CLI_ARGS": "-x"})
    project.write(STACK, network=NETWORK, vm=VM, app=APP)
    return project


def test_a_program_gets_what_the_engine_would_and_its_exit_code_counts(project: Project) -> None:
    ran = project.run("exec", "-e", "prod", "vm", "--", sys.executable, "-c", f"{TELL}; raise SystemExit(7)")
    assert ran.code == 7, ran.text
    folder, env = json.loads(ran.out)
    assert folder == str(project.root / "vm")
    wanted = {
        "REGION": "eu",
        "API_TOKEN": "t-1",
        "TF_VAR_size": "large",
        "TF_VAR_tags": '{"team":"web"}',
        "TF_VAR_password": "pw",
        "HYBRIDWRAP_MODULE": "vm",
        "HYBRIDWRAP_ENVIRONMENT": "prod",
        "HYBRIDWRAP_STACK": "shop",
    }
    assert {name: env.get(name) for name in wanted} == wanted
    assert "prod" in env["TF_DATA_DIR"]
    assert "TF_CLI_ARGS" not in env
    assert not (project.root / ".hybridwrap" / "ledger").exists()


def test_a_module_whose_inputs_are_not_there_yet_is_no_obstacle(project: Project) -> None:
    ran = project.run("exec", "-e", "dev", "app", "--", "pwd")
    assert ran.code == 0, ran.text
    assert ran.out.strip() == str(project.root / "app")
    assert "without its inputs: network.subnet is not there yet" in ran.err


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["vm", "--", "terraform", "destroy"], "next: hybridwrap tf -e dev vm -- destroy"),
        (["vm", "--", "/opt/bin/tofu"], "is not run past the ledger"),
        (["vm", "--", "no-such-program"], "no-such-program can't be run"),
        (["vm"], "no program is named"),
        (["--", "pwd"], "no module is named"),
        (["vmm", "--", "pwd"], "did you mean vm?"),
    ],
)
def test_what_can_not_be_run_is_said(project: Project, argv: list[str], told: str) -> None:
    ran = project.run("exec", "-e", "dev", *argv)
    assert ran.code == 64, ran.text
    assert told in ran.err
