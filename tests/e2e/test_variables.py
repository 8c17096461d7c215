"""Values that only the caller has, by -var and -var-file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import Project

MANIFEST = "version: 1\nstack: shop\nengine: {program: ENGINE}\nmodules: {vm: {source: vm}, db: {source: db}}\n"
NEEDY = 'variable "size" { type = number }\noutput "size" { value = var.size }\n'


@pytest.fixture
def project(tmp_path: Path, engine_program: str) -> Project:
    project = Project(tmp_path)
    project.write(MANIFEST.replace("ENGINE", engine_program), vm=NEEDY, db='variable "name" { default = "x" }\n')
    return project


def test_a_value_that_the_caller_gives_is_not_missing_for_that_command(project: Project) -> None:
    bare = project.apply()
    assert (bare.code, 'needs a value for "size", which has no default' in bare.text) == (10, True)

    assert project.apply("-var", "size=3").code == 0
    assert project.call("output", "vm", "--json").json["vm"]["size"]["value"] == 3
    assert project.apply().code == 10

    (project.root / "big.tfvars").write_text("size = 8\n")
    assert project.apply("-var-file", "big.tfvars", "vm").code == 0
    assert project.call("output", "vm", "--json").json["vm"]["size"]["value"] == 8


def test_a_value_for_a_module_that_is_not_selected_is_an_error(project: Project) -> None:
    ran = project.apply("-var", "size=3", "db")
    assert (ran.code, 'no selected module declares the variable "size"' in ran.text) == (64, True)
