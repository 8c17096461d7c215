"""Modules that want another version of the engine are found before the first one is applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

MANIFEST = """
version: 1
stack: shop
modules:
  net: {source: net}
  old: {source: old, depends_on: [net]}
  older: {source: older, engine: {version: "< 1.0"}}
"""
MADE = 'resource "terraform_data" "it" {}\n'
OLD = 'terraform { required_version = "~> 0.12.0" }\n' + MADE


def test_nothing_is_applied_before_it_is_found(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(MANIFEST, net=MADE, old=OLD, older=MADE)

    ran = project.apply()

    assert ran.code == 40, ran.text
    assert 'module "old" needs' in ran.text
    assert "~> 0.12.0" in ran.text
    assert 'module "older" needs' in ran.text
    assert "nothing was run" in ran.text
    assert not (tmp_path / ".hybridwrap/state").exists()
    assert set(project.statuses().values()) == {"none"}

    assert project.apply("net").code == 0, "what does not want another one is not kept from going alone"
