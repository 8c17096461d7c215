"""Projects that many tests begin with: an engine makes each once, and every test gets a copy of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.project import Project


class Prepared:
    def __init__(self, new_folder: Callable[[str], Path]) -> None:
        self._new_folder = new_folder
        self._made: dict[str, Path] = {}

    def fill(
        self, project: Project, name: str, prepare: Callable[[Project], None], *, cloud: Cloud | None = None
    ) -> None:
        """Have the project, and its cloud, as `prepare` leaves one; it is called once for each name."""
        if name not in self._made:
            self._made[name] = self._make(project, name, prepare, cloud)
        shutil.copytree(self._made[name] / "project", project.root, symlinks=True, dirs_exist_ok=True)
        if cloud:
            shutil.copyfile(self._made[name] / "cloud.db", cloud.path)

    def _make(self, project: Project, name: str, prepare: Callable[[Project], None], cloud: Cloud | None) -> Path:
        folder = self._new_folder(name)
        there = Project(folder / "project", project.environ)
        there.root.mkdir()
        prepare(there)
        if cloud:
            shutil.copyfile(cloud.path, folder / "cloud.db")
        return folder


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return Prepared(tmp_path_factory.mktemp)
