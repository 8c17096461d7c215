"""`--changed` and `--unapplied` on the command line: what a CI system would type, from commit to commit."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hybridwrap.adapters.schemas import load_schema
from tests.support.project import Project
from tests.support.repository import Checkout, repository

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
modules:
  net: {source: net, inputs: {cidr: a}}
  vm: {source: vm, inputs: {id: "{{ modules.net.id }}"}}
  dns: {source: dns, watch: ["zones/*.txt"]}
"""
NET = 'variable "cidr" {}\nresource "terraform_data" "it" {}\noutput "id" { value = terraform_data.it.id }\n'
VM = 'variable "id" {}\nresource "terraform_data" "it" { input = var.id }\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path, dict.fromkeys(("CI", "GITHUB_BASE_REF", "GITHUB_EVENT_NAME", "CI_DEFAULT_BRANCH"), ""))
    project.write(STACK, net=NET, vm=VM, dns="")
    return project


@pytest.fixture
def work(project: Project) -> Checkout:
    work = repository(project.root)
    work.commit("first")
    return work


def listed(project: Project, *options: str) -> dict[str, list[str]]:
    """The modules that are listed, each with its reasons."""
    found = project.call("list", "--json", *options).json
    Draft202012Validator(load_schema("list.v1")).validate(found)
    return {module["module"]: module["reasons"] for module in found["modules"]}


def test_what_a_push_is_about_is_applied_and_what_a_dropped_run_left_over_by_the_next(
    project: Project, work: Checkout
) -> None:
    assert set(listed(project, "--unapplied")) == {"net", "vm", "dns"}
    assert project.apply("--changed").code == 0, "the first commit is compared with nothing"
    assert listed(project, "--unapplied") == {}
    assert "0 of 3 modules not as last applied" in project.call("list", "--unapplied").err

    work.commit("second")
    nothing = project.apply("--changed")
    assert (nothing.code, "nothing changed since" in nothing.err) == (0, True)
    assert len(project.call("history", "--json").json) == 1, "and no run is recorded for it"
    told = project.run("plan", "--changed", "--json", "--detailed-exitcode")
    assert (told.code, told.lines[-1]["modules"]) == (0, {})

    work.write("hybridwrap.yaml", (project.root / "hybridwrap.yaml").read_text().replace("cidr: a", "cidr: b"))
    work.commit("third, whose run is dropped")
    work.write("zones/a.txt", "a")
    work.commit("fourth")
    assert listed(project, "--changed") == {"dns": ["zones/a.txt"]}
    assert listed(project, "--unapplied") == {
        "net": ["inputs have changed: cidr"],
        "dns": [f"its files have changed since {work.git('rev-parse', 'HEAD~3')[:12]}"],
    }
    status = project.call("status", "--json").json
    Draft202012Validator(load_schema("status.v1")).validate(status)
    waiting = {module["module"]: module["unapplied"] for module in status["modules"]}
    assert waiting["vm"] is None
    assert waiting["net"] == {"reasons": ["inputs have changed: cidr"], "merged": True}
    shown = project.call("status").out
    assert "merged, not applied: inputs have changed: cidr" in shown
    assert shown.rstrip().endswith("next: hybridwrap plan --unapplied")
    work.write("net/more.tf", "locals {}")
    assert "changed, not applied: its files have changed since" in project.call("status", "net").out
    (project.root / "net/more.tf").unlink()
    both = project.call("list", "--changed", "--unapplied")
    assert both.out.splitlines()[1].split()[0] == "dns"
    healed = project.apply("--unapplied", "--json")
    assert (healed.code, set(healed.lines[-1]["modules"])) == (0, {"net", "dns"})
    assert listed(project, "--unapplied") == {}


def test_a_json_list_is_fit_for_a_matrix(project: Project, work: Checkout) -> None:
    work.write("net/more.tf", "locals {}")
    found = project.call("list", "--changed=HEAD", "--with-dependents", "--json").json
    assert found["waves"] == [["net"], ["vm"]]
    assert [(module["module"], module["wave"], module["reasons"]) for module in found["modules"]] == [
        ("net", 1, ["net/more.tf"]),
        ("vm", 2, []),
    ]
    assert found["base"] == {"commit": work.git("rev-parse", "HEAD"), "told": "HEAD"}


def test_a_module_that_is_gone_is_named_with_what_to_type(project: Project, work: Checkout) -> None:
    manifest = project.root / "hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("  dns:", "  # dns:"))
    ran = project.run("plan", "--changed=HEAD")
    assert ran.code == 0
    assert "dns is not in the manifest any more" in ran.err
    assert "next: hybridwrap orphans" in ran.err


@pytest.mark.parametrize("argv", [("--changed=nope",), ("--changed=HEAD", "--tag", "nope")])
def test_a_commit_or_tag_that_is_none_is_wrong_usage(project: Project, work: Checkout, argv: tuple[str, ...]) -> None:
    assert work
    assert project.run("plan", *argv).code == 64
