"""The transcripts of the pages on changes and lock files are what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fakecloud.serving import platform_name, write_mirror_configuration
from tests.support.pages import Check, Screen
from tests.support.project import Project
from tests.support.repository import Checkout, repository

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
modules:
  network: {source: modules/network, inputs: {cidr: 10.0.0.0/16}}
  vm:      {source: modules/vm, inputs: {subnet: "{{ modules.network.subnet }}"}}
  dns:     {source: modules/dns, watch: ["zones/*.txt"]}
  audit:   {source: modules/audit}
"""
NETWORK = """
variable "cidr" {}
resource "terraform_data" "it" { input = var.cidr }
output "subnet" { value = terraform_data.it.id }
"""
VM = """
variable "subnet" {}
resource "terraform_data" "it" { input = [var.subnet, file("${path.module}/cloud-init.yaml")] }
"""
NOT_SAID = ("CI", "GITHUB_BASE_REF", "GITHUB_EVENT_NAME", "CI_DEFAULT_BRANCH", "CI_PIPELINE_SOURCE")
IGNORED = ".hybridwrap/\nhybridwrap_override.tf.json\n"
THING = "registry.terraform.io/acme/thing"
LOCKED = f"""
terraform {{
  required_providers {{
    thing = {{ source = "{THING}" }}
  }}
}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    """A stack in a repository; its only commit is applied."""
    project = Project(tmp_path, dict.fromkeys(NOT_SAID, ""))
    sources = {"modules/network": NETWORK, "modules/vm": VM, "modules/dns": "", "modules/audit": ""}
    project.write(STACK, **sources)
    (tmp_path / "modules/vm/cloud-init.yaml").write_text("#cloud-config\n")
    (tmp_path / ".gitignore").write_text(IGNORED)
    repository(tmp_path).commit()
    assert project.apply().code == 0
    return project


def edit(project: Project, name: str, old: str, new: str) -> None:
    text = (project.root / name).read_text()
    assert old in text
    (project.root / name).write_text(text.replace(old, new))


def test_a_branch(shop: Project, check: Check) -> None:
    work = Checkout(shop.root)
    work.git("checkout", "--quiet", "-b", "bigger-network")
    edit(shop, "hybridwrap.yaml", "10.0.0.0/16", "10.0.0.0/12")
    work.commit()
    work.write("zones/example.txt", "www 10.0.0.1\n")
    screen = Screen(shop)
    screen.type("hybridwrap list --changed")
    screen.type("hybridwrap list --changed --with-dependents")
    check("a branch", screen)


def test_a_dropped_run(shop: Project, check: Check) -> None:
    work = Checkout(shop.root)
    edit(shop, "modules/vm/cloud-init.yaml", "#cloud-config", "#cloud-config\npackages: [nginx]")
    work.commit()
    work.commit("the next push, about something else")
    screen = Screen(shop)
    screen.type("hybridwrap plan --changed")
    screen.type("hybridwrap status")
    screen.type("hybridwrap apply --unapplied --auto-approve")
    check("a dropped run", screen)


def test_a_missing_checksum(tmp_path: Path, check: Check) -> None:
    for platform in (platform_name(), "plan9_mips"):
        folder = tmp_path / "mirror" / THING / "1.0.0" / platform
        folder.mkdir(parents=True)
        (folder / "terraform-provider-thing_v1.0.0").write_text(platform)
    write_mirror_configuration(tmp_path / "rc", THING)
    project = Project(tmp_path, {"TF_CLI_CONFIG_FILE": str(tmp_path / "rc"), "CI": "true"})
    project.write("{version: 1, stack: shop, modules: {vm: {source: modules/vm}}}", **{"modules/vm": LOCKED})
    assert project.run("lock", "--fs-mirror", "mirror", "--platform", "plan9_mips").code == 0
    screen = Screen(project)
    screen.type("hybridwrap plan vm")
    words = ("lock", "--platform", platform_name(), "vm")
    ran = project.run(*words, "--fs-mirror", "mirror")
    screen.note(f"hybridwrap {' '.join(words)}", ran.out + ran.err, ran.code)
    screen.lines = [line.replace(platform_name(), "linux_amd64") for line in screen.lines]
    check("a missing checksum", screen)
