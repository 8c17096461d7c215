"""What `sync` says of files that it has removed from this host."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import Project

NOTHING = "nothing is left to finish on this host\n"


@pytest.mark.parametrize(
    ("count", "named"),
    [(1, "01OPERATION0"), (7, ", ".join(f"01OPERATION{n}" for n in range(5)) + " and 2 more")],
)
def test_it_names_the_operations_whose_plans_and_inputs_are_gone(tmp_path: Path, count: int, named: str) -> None:
    project = Project(tmp_path)
    project.write("version: 1\nstack: shop\nmodules: {m: {source: m}}\n", m='output "x" { value = 1 }\n')
    left = [tmp_path / ".hybridwrap" / "operations" / f"01OPERATION{number}" for number in range(count)]
    for folder in left:
        folder.mkdir(parents=True)
        for name in ("runner.lock", "plan", "vars.tfvars.json"):
            (folder / name).touch()

    ran = project.run("sync")

    assert (ran.code, ran.out) == (0, f"removed what dead operations had left of plans and inputs: {named}\n{NOTHING}")
    assert not any(folder.exists() for folder in left)
    assert project.run("sync").out == NOTHING
