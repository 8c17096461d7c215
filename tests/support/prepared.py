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

    def applied(
        self, project: Project, name: str, manifest: str, *, cloud: Cloud | None = None, code: int = 0, **sources: str
    ) -> Project:
        """Fill a project, and its cloud, with what is left by an apply that ends with the exit code; one per name."""
        if name not in self._made:
            folder = self._new_folder(name)
            there = Project(folder / "project", project.environ)
            there.root.mkdir()
            there.write(manifest, **sources)
            ran = there.apply()
            assert ran.code == code, ran.text
            if cloud:
                shutil.copyfile(cloud.path, folder / "cloud.db")
            self._made[name] = folder
        shutil.copytree(self._made[name] / "project", project.root, symlinks=True, dirs_exist_ok=True)
        if cloud:
            shutil.copyfile(self._made[name] / "cloud.db", cloud.path)
        return project


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return Prepared(tmp_path_factory.mktemp)
