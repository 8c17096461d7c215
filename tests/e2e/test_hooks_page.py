"""Every transcript on the page about hooks is what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.test_hooks import NET, VM, script
from tests.support.pages import Check, Screen
from tests.support.project import Project

pytestmark = pytest.mark.e2e

STACK = """version: 1
stack: shop
defaults:
  hooks: {before: [[./scripts/change-window]], after: [[./scripts/smoke-test]]}
modules:
  network: {source: network}
  vm: {source: vm, inputs: {net: "{{ modules.network.id }}"}}
"""
CLOSED = "#!/bin/sh\necho 'changes are closed until Monday, 08:00' >&2\nexit 1\n"
FAILING = '#!/bin/sh\n[ "$HYBRIDWRAP_MODULE" = network ] && exit\necho "no answer from $HYBRIDWRAP_MODULE"\nexit 7\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    (root / "scripts").mkdir(parents=True)
    project = Project(root)
    project.write(STACK, network=NET, vm=VM)
    script(project, "scripts/change-window", CLOSED)
    script(project, "scripts/smoke-test", FAILING)
    return project


def test_before(project: Project, check: Check) -> None:
    screen = Screen(project)
    screen.type("hybridwrap apply --auto-approve")
    check("hooks-before", screen)


def test_after(project: Project, check: Check) -> None:
    script(project, "scripts/change-window", "#!/bin/sh\n")
    screen = Screen(project)
    screen.type("hybridwrap apply --auto-approve")
    screen.type("hybridwrap report")
    check("hooks-after", screen)
