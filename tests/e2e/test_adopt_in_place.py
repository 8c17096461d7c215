"""A repository of twelve root modules goes from a clone to adopted: no `.tf` changes, nor any state, nor any plan."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import s3_servers
from tests.support.engines import engines
from tests.support.estate import STATES, Estate, State, build, git, local_states
from tests.support.project import Project
from tests.support.s3_servers import Server

pytestmark = pytest.mark.e2e

ENGINE = next((engine for engine in engines().values() if engine), None)


@pytest.fixture(scope="module")
def estate(moto: Server, tmp_path_factory: pytest.TempPathFactory) -> Estate:
    assert ENGINE
    root = tmp_path_factory.mktemp("estate") / "infra"
    environ = Project(root, s3_servers.environment()).env
    return build(root, ENGINE, moto, environ)


def in_environment(environment: str) -> list[str]:
    return sorted(state.module for state in STATES if state.environment == environment)


def our_plan(project: Project, state: State) -> Path:
    """Run the engine's command lines as hybridwrap has them, up to the plan."""
    script = project.run("commands", state.module, "-e", state.environment)
    assert script.code == 0, script.text
    ran = subprocess.run(
        ["/bin/sh", "-e"], input=script.out, env=project.env, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return project.root / ".hybridwrap" / "by-hand" / state.module / "plan"


def test_from_a_clone_to_adopted_without_a_change(estate: Estate, tmp_path: Path) -> None:
    root, scratch = estate.clone(tmp_path / "infra"), tmp_path / "raw"
    project = Project(root, estate.environ)
    before = (estate.objects(), local_states(root))

    made = project.run("new", "--from-terraform", ".")
    assert made.code == 0, made.text
    assert "12 modules" in made.out
    assert "environments: dev, prod, shared" in made.out
    assert "TODO" not in made.out, made.out

    def compare(module: str) -> dict[str, set[str]]:
        """Plan a module in both ways; return what that would do, by environment."""
        found: dict[str, set[str]] = {}
        for state in (state for state in STATES if state.module == module):
            raw = estate.raw_plan(state, root, scratch)
            assert estate.changes(state, root, scratch, our_plan(project, state)) == raw, state
            found[state.environment] = {action for change in raw for action in change["change"]["actions"]}
        return found

    with ThreadPoolExecutor(2) as pool:
        modules = sorted({state.module for state in STATES})
        actions = dict(zip(modules, pool.map(compare, modules), strict=True))
    assert actions["db"] == {"dev": {"update"}, "prod": {"update"}}  # what is compared is not only nothing
    assert actions["vm"] == {"shared": {"no-op"}}

    for environment in ("shared", "dev", "prod"):
        listed = project.call("list", "-e", environment, "--json").json["modules"]
        assert sorted(module["module"] for module in listed) == in_environment(environment)
        adopted = project.run("adopt", "--all", "-e", environment)
        assert adopted.code == 0, adopted.text
        assert f"{len(listed)} ok" in adopted.out
        told = project.run("plan", "-e", environment, "--json").lines
        ends = {line["module"]: line["result"] for line in told if line.get("type") == "module_ended"}
        assert ends == {name: planned(actions[name][environment], name) for name in in_environment(environment)}

    edges = {
        module["module"]: module["edges"] for module in project.call("list", "-e", "dev", "--json").json["modules"]
    }
    assert edges["app"] == {"db": ["state"], "queue": ["state"]}
    assert (estate.objects(), local_states(root)) == before
    assert git(root, "status", "--porcelain") == "?? hybridwrap.yaml\n"


def planned(actions: set[str], module: str) -> str:
    """How a plan of the stack ends for a module: app reads states whose outputs are about to change."""
    return "deferred" if module == "app" else "unchanged" if actions == {"no-op"} else "planned"
