"""A small drill of many jobs with one run id, killed at random; `make drill` is the large one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import pytest

from tests.fault.drill import Drill, carry_out, flaws
from tests.support.lost_runner import ledger_of
from tests.support.project import Project
from tests.support.s3_servers import Server, environment

pytestmark = pytest.mark.e2e
_buckets = count()


def test_jobs_that_are_killed_and_repeated_do_all_of_one_run_and_nothing_twice(
    tmp_path: Path, seaweedfs: Server, fakecloud_env: Mapping[str, str]
) -> None:
    drill = Drill(modules=10, jobs=3, kills=1, seed=secrets.randbelow(10_000))
    print(f"seed {drill.seed}: python -m tests.fault.drill --modules 10 --jobs 3 --kills 1 --seed {drill.seed}")  # noqa: T201
    project = Project(tmp_path, {**fakecloud_env, **environment()})
    drill.write(project, seaweedfs.make_bucket(f"drill-{next(_buckets)}"), seaweedfs.endpoint)
    outcomes = carry_out(drill, project)
    assert flaws(drill, project, ledger_of(project)) == [], (project.root / "jobs.log").read_text()
    assert (outcomes.killed, outcomes.codes) == (1, {0: 3})
