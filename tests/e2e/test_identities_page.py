"""Every transcript on the page about identities is what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.test_identity import ACCOUNT, OTHER, keys_of, on_aws, prints, script
from tests.support.pages import Check, Screen
from tests.support.project import Project
from tests.support.s3_servers import Server

pytestmark = pytest.mark.e2e

STACK = f"""version: 1
stack: shop
account: "{ACCOUNT}"
credentials: {{command: [./credentials, "{{module}}"]}}
modules:
  network: {{source: network}}
  vm: {{source: vm, inputs: {{subnet_id: "{{{{ modules.network.subnet_id }}}}"}}}}
"""
NETWORK = 'output "subnet_id" { value = "subnet-1" }\n'
VM = 'variable "subnet_id" {}\nresource "terraform_data" "vm" { input = var.subnet_id }\n'


@pytest.fixture
def project(moto: Server, tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    project = on_aws(moto, root)
    project.write(STACK, network=NETWORK, vm=VM)
    return project


def test_no_credentials(project: Project, check: Check) -> None:
    script(project, "credentials", "#!/bin/sh\necho 'the session of ana is over: log in again' >&2\nexit 1\n")
    screen = Screen(project)
    screen.type("hybridwrap apply --auto-approve")
    check("identities-no-credentials", screen)


def test_wrong_account(project: Project, moto: Server, check: Check) -> None:
    script(project, "credentials", prints(keys_of(moto, OTHER)))
    screen = Screen(project)
    screen.type("hybridwrap apply --auto-approve")
    screen.type("hybridwrap history")
    check("identities-wrong-account", screen)
