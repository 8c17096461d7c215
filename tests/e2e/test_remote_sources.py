"""Modules whose source lies in a git repository or a registry: fetched, run in place, recorded, and fetched again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project
from tests.support.repository import Checkout, repository

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  net: {source: "git::file://LIBRARY//vpc?ref=v1", inputs: {cidr: a}}
  vm: {source: vm, inputs: {id: "{{ modules.net.id }}"}}
"""
VPC = """
variable "cidr" {
  type     = string
  nullable = false
}
module "names" { source = "../names" }
resource "terraform_data" "vpc" { input = "${module.names.prefix}-${var.cidr}" }
output "id" { value = terraform_data.vpc.output }
"""
VM = 'variable "id" {}\nresource "terraform_data" "it" { input = var.id }\n'
FAKE_ENGINE = """#!/bin/sh
mkdir -p .terraform/modules/it/inner
echo 'variable "cidr" {}' > .terraform/modules/it/inner/main.tf
echo '{"Modules": [{"Key": "it", "Dir": ".terraform/modules/it/inner", "Version": "5.1.2"}]}' \\
  > .terraform/modules/modules.json
"""


@pytest.fixture
def library(tmp_path: Path) -> Checkout:
    """A repository of modules with a tag."""
    library = repository(tmp_path / "library")
    library.write("vpc/main.tf", VPC)
    library.write("names/main.tf", 'output "prefix" { value = "one" }\n')
    library.commit()
    library.git("tag", "v1")
    library.write("names/main.tf", 'output "prefix" { value = "two" }\n')
    library.commit()
    library.git("tag", "v2")
    return library


def project_with(tmp_path: Path, library: Checkout, program: str = "auto") -> Project:
    (tmp_path / "stack").mkdir()
    project = Project(tmp_path / "stack")
    project.write(STACK.replace("ENGINE", program).replace("LIBRARY", str(library.root)), vm=VM)
    return project


def replace_in_manifest(project: Project, old: str, new: str) -> None:
    manifest = project.root / "hybridwrap.yaml"
    assert old in manifest.read_text()
    manifest.write_text(manifest.read_text().replace(old, new))


def net_id(project: Project) -> Any:
    return project.outputs()["net"]["id"]["value"]


def source_recorded(project: Project) -> Any:
    log = sorted((project.root / ".hybridwrap/ledger").rglob("log/net/*.json"))
    return json.loads(log[-2].read_text())["body"]["source"]


def test_a_module_of_a_repository_is_applied_from_its_tag_and_torn_down_without_it(
    tmp_path: Path, library: Checkout, engine_program: str
) -> None:
    project = project_with(tmp_path, library, engine_program)
    before = project.call("status")
    assert (before.code, project.statuses()["net"]) == (0, "none"), "nobody has to fetch to look"
    assert project.apply().code == 0
    assert net_id(project) == "one-a"
    address = f"git::file://{library.root}//vpc?ref=v1 at {library.git('rev-parse', 'v1')}"
    assert source_recorded(project)["origin"] == address
    assert project.call("list", "--json").json["modules"][0]["source"] == address

    work = repository(project.root)
    base = work.commit()
    replace_in_manifest(project, "ref=v1", "ref=v2")
    changed = project.call("list", f"--changed={base}", "--unapplied", "--json").json
    assert {module["module"]: module["reasons"] for module in changed["modules"]} == {
        "net": ["hybridwrap.yaml: source", "its files have changed"]
    }
    assert project.apply().code == 0
    assert net_id(project) == "two-a"

    shutil.rmtree(project.root / ".hybridwrap/remote")
    shutil.rmtree(library.root)
    gone = project.run("destroy", "--auto-approve")
    assert gone.code == 0, gone.text
    assert "its source comes from the copy in the ledger" in gone.text
    assert set(project.statuses().values()) == {"destroyed"}


def test_a_branch_that_moves_is_followed_when_somebody_says_so(tmp_path: Path, library: Checkout) -> None:
    project = project_with(tmp_path, library)
    replace_in_manifest(project, "ref=v1", "ref=main")
    assert project.apply().code == 0
    library.write("names/main.tf", 'output "prefix" { value = "three" }\n')
    library.commit()
    assert project.apply().code == 0
    assert net_id(project) == "two-a"
    upgraded = project.run("init", "--upgrade", "net")
    assert upgraded.code == 0, upgraded.text
    assert project.apply().code == 0
    assert net_id(project) == "three-a"


def test_a_source_without_a_ref_is_warned_of(tmp_path: Path, library: Checkout) -> None:
    project = project_with(tmp_path, library)
    replace_in_manifest(project, "?ref=v1", "")
    ran = project.call("validate")
    assert ran.code == 0
    assert "names no ref: what it is can change from one day to the next" in ran.err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("git::file://LIBRARY?ref=v1", "holds no .tf file"),
        ("git::file://LIBRARY//vpc?ref=v9", "can't be fetched: error downloading"),
        ("git::file://LIBRARY//nothing?ref=v1", 'can\'t be fetched: subdir "nothing" not found'),
        ("git::file://LIBRARY/nowhere?ref=v1", "does not appear to be a git repository"),
        ("git::https://ana:hunter2@127.0.0.1:9/x.git?ref=v1", "git::https://ana:…@127.0.0.1:9/x.git?ref=v1 can't be"),
        ("acme/vpc/aws", "no folder acme/vpc/aws; for a module of a registry say its `version`, too"),
        ('acme/vpc/aws", version: "one', "net.version: not a version constraint"),
    ],
)
def test_a_source_that_can_not_be_had_is_an_error_in_its_place(
    tmp_path: Path, library: Checkout, source: str, message: str
) -> None:
    project = project_with(tmp_path, library)
    replace_in_manifest(
        project, f"git::file://{library.root}//vpc?ref=v1", source.replace("LIBRARY", str(library.root))
    )
    ran = project.call("validate")
    assert ran.code == 10
    assert message in ran.err
    assert "hybridwrap.yaml:6:" in ran.err
    assert "hunter2" not in ran.text
    assert project.call("status").code == (10 if "net.version" in message else 0)


def test_a_module_of_a_registry_goes_to_the_engine_with_its_version_and_what_it_got_is_shown(tmp_path: Path) -> None:
    project = Project(tmp_path)
    module = '{source: acme/vpc/aws, version: "~> 5.0", inputs: {cidr: a}}'
    project.write(f"{{version: 1, stack: shop, engine: {{program: ./engine}}, modules: {{net: {module}}}}}")
    (tmp_path / "engine").write_text(FAKE_ENGINE)
    (tmp_path / "engine").chmod(0o755)
    assert project.call("list", "--json").json["modules"][0]["source"] == "acme/vpc/aws ~> 5.0 at 5.1.2"
    (root,) = tmp_path.glob(".hybridwrap/remote/*/5.1.2/main.tf.json")
    assert json.loads(root.read_text()) == {"module": {"it": {"source": "acme/vpc/aws", "version": "~> 5.0"}}}
    (tmp_path / "engine").unlink()
    assert project.call("validate").code == 0, "what is fetched needs no engine"
