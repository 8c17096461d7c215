"""Lock files: checksums for all platforms, and in CI an error with the one command where some are missing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.fakecloud.serving import platform_name, write_mirror_configuration
from tests.support.project import Project

pytestmark = pytest.mark.e2e

THING = "registry.terraform.io/acme/thing"
OTHER = "registry.terraform.io/acme/other"
ELSEWHERE = "plan9_mips"
STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  one: {source: one}
  twin: {source: one}
  none: {source: none}
"""


def needs(*sources: str) -> str:
    lines = "".join(f'    p{at} = {{ source = "{source}" }}\n' for at, source in enumerate(sources))
    return f'terraform {{\n  required_providers {{\n{lines}  }}\n}}\nmodule "child" {{ source = "../none" }}\n'


@pytest.fixture
def project(tmp_path: Path, engine_program: str) -> Project:
    """A stack with providers in a mirror, for this platform and another one; nothing is locked."""
    for source in (THING, OTHER):
        for platform in (platform_name(), ELSEWHERE):
            folder = tmp_path / "mirror" / source / "1.0.0" / platform
            folder.mkdir(parents=True)
            (folder / f"terraform-provider-{source.rpartition('/')[2]}_v1.0.0").write_text(platform)
    write_mirror_configuration(tmp_path / "rc", "registry.terraform.io/acme/*")
    project = Project(tmp_path, {"TF_CLI_CONFIG_FILE": str(tmp_path / "rc"), "CI": ""})
    project.write(STACK.replace("ENGINE", engine_program), one=needs(THING), none="locals {}\n")
    return project


def lock_file(project: Project) -> Path:
    return project.root / "one/.terraform.lock.hcl"


def checksums(project: Project) -> list[str]:
    return re.findall(r'"(h1:[^"]+)"', lock_file(project).read_text())


def follow(project: Project, told: str) -> str:
    """Type the command that an error names, with the mirror in place of a registry."""
    command: str
    (command,) = re.findall(r"^next: (hybridwrap lock .*)$", told, flags=re.MULTILINE)
    ran = project.run(*shlex.split(command)[1:], "--fs-mirror", "mirror")
    assert ran.code == 0, ran.text
    return command


def test_each_folder_is_locked_once_for_all_platforms_and_only_where_it_needs_a_provider(project: Project) -> None:
    words = ("lock", "--fs-mirror", "mirror", "--platform", platform_name(), "--platform", ELSEWHERE)
    first = project.run(*words)
    assert first.code == 0, first.text
    assert "shares that of one" in first.out
    assert "to be committed: one/.terraform.lock.hcl\n" in first.err
    assert len(checksums(project)) == 2
    assert not (project.root / "none/.terraform.lock.hcl").exists()
    written = lock_file(project).read_bytes()
    again = project.run(*words, "--json")
    assert set(again.lines[-1]["modules"].values()) == {"unchanged"}
    assert lock_file(project).read_bytes() == written
    assert project.run("init", CI="true").code == 0


def test_in_ci_a_lock_file_is_taken_as_it_is_and_what_it_lacks_is_an_error_with_the_command_that_adds_it(
    project: Project,
) -> None:
    assert project.run("lock", "one", "--fs-mirror", "mirror", "--platform", ELSEWHERE).code == 0
    ran = project.run("plan", "one", CI="true")
    assert ran.code == 4
    assert follow(project, ran.text) == f"hybridwrap lock --platform {platform_name()} one"
    assert len(checksums(project)) == 2
    assert project.run("init", "one", CI="true").code == 0

    (project.root / "one/main.tf").write_text(needs(THING, OTHER))
    before = lock_file(project).read_bytes()
    ran = project.run("init", "one", CI="true")
    assert (ran.code, lock_file(project).read_bytes()) == (4, before), "in CI no lock file is written"
    follow(project, ran.text)
    assert project.run("init", "one", CI="true").code == 0


def test_outside_of_ci_init_writes_the_lock_file_and_in_ci_it_says_that_there_was_none(project: Project) -> None:
    ran = project.run("init", "one", CI="true")
    assert ran.code == 0
    assert "one has no lock file: init took the newest providers; next: hybridwrap lock" in ran.err
    (project.root / "one/main.tf").write_text(needs(THING, OTHER))
    assert project.run("init", "one").code == 0
    assert len(checksums(project)) == 2


@pytest.mark.parametrize("argv", ["--platform linux", "--platform=-x", "--fs-mirror nowhere", "nobody"])
def test_a_wrong_call_says_so(tmp_path: Path, argv: str) -> None:
    project = Project(tmp_path)
    project.write("{version: 1, stack: shop, modules: {one: {source: one}}}", one="locals {}")
    assert project.run("lock", *argv.split()).code == 64
