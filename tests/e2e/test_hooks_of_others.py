"""What other programs are told to do with us: pre-commit's hook, Renovate's rules."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.project import Project
from tests.support.repository import repository

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
STACK = """
version: 1
stack: shop
environments: {dev: {}, prod: {modules: {net: {inputs: {SIZE: 1}}}}}
state: {local: {path: "{environment}/{module}.tfstate"}}
modules:
  net: {source: net}
"""


@pytest.fixture
def hook() -> dict[str, Any]:
    (found,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    return dict(found)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write(STACK.replace("SIZE", "size"), net='variable "size" { default = 0 }')
    repository(tmp_path).commit()
    return project


def run_as_pre_commit_does(hook: dict[str, Any], project: Project, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the entry at the repository's root, without file names, in an environment with our programs."""
    assert hook["pass_filenames"] is False
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    return subprocess.run(
        [*shlex.split(hook["entry"]), *args],
        cwd=project.root,
        env={"PATH": path, "HOME": str(project.root), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_hook_checks_all_environments_without_an_engine(hook: dict[str, Any], project: Project) -> None:
    ran = run_as_pre_commit_does(hook, project)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == ["shop in dev: 1 module, no errors", "shop in prod: 1 module, no errors"]
    assert not (project.root / ".hybridwrap/data").exists(), "no init"

    (project.root / "hybridwrap.yaml").write_text(STACK.replace("SIZE", "sise"))
    ran = run_as_pre_commit_does(hook, project)
    assert ran.returncode == 10
    assert 'net declares no variable "sise"; did you mean "size"?' in ran.stderr

    (project.root / "hybridwrap.yaml").rename(project.root / "net/hybridwrap.yaml")
    assert run_as_pre_commit_does(hook, project, "--file", "net/hybridwrap.yaml").returncode == 10
    assert run_as_pre_commit_does(hook, project).returncode == 64


def test_a_problem_of_several_environments_is_said_once(project: Project) -> None:
    (project.root / "net/main.tf").write_text('variable "size" {')
    ran = project.call("validate", "--all-environments")
    assert (ran.code, ran.err.count("net/main.tf:1")) == (10, 1)


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("net/main.tf", True), ("net/main.tofu", True), ("net/main.tf.json", True), ("env/dev.tfvars", True),
        ("hybridwrap.yaml", True), ("teams/a/hybridwrap.yaml", True), ("env/a.tfvars.json", True),
        ("README.md", False), ("k8s/service.yaml", False), ("main.tf.bak", False), ("package.json", False),
    ],
)  # fmt: skip
def test_the_hook_starts_for_files_that_it_reads(hook: dict[str, Any], name: str, *, starts: bool) -> None:
    assert bool(re.search(hook["files"], name)) is starts


def test_the_rules_for_renovate_find_every_remote_source_of_a_manifest() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", (ROOT / "docs/lock-files.md").read_text(), flags=re.DOTALL)
    managers = json.loads(text)["customManagers"]
    manifest = """
modules:
  a: {source: "git::https://github.com/acme/modules.git//vpc?ref=v1.2.0", inputs: {}}
  b:
    source: git::ssh://git@github.com/acme/one.git?ref=2.0.1
  c: {source: acme/vpc/aws, version: "~> 5.1"}
  d:
    source: acme/queue/aws
    version: 1.4.0
  e: {source: ../modules/e}
"""
    found = [
        match.groupdict()
        for manager in managers
        for pattern in manager["matchStrings"]
        for match in re.finditer(pattern.replace("(?<", "(?P<"), manifest)
    ]
    assert found == [
        {"packageName": "https://github.com/acme/modules.git", "currentValue": "v1.2.0"},
        {"packageName": "ssh://git@github.com/acme/one.git", "currentValue": "2.0.1"},
        {"depName": "acme/vpc/aws", "currentValue": "~> 5.1"},
        {"depName": "acme/queue/aws", "currentValue": "1.4.0"},
    ]
    assert all(re.search(manager["managerFilePatterns"][0].strip("/"), "live/hybridwrap.yaml") for manager in managers)
