"""From whatever has gone wrong there is a way back to a clean stack, and hybridwrap says it, one command at a time.

The commands that are typed here are those that were printed, with what only a person knows filled in: an object's id,
and a reason. None is typed twice on one and the same state of things.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.following import Follower
from tests.support.lost_runner import hanging, kill, kill_engines, lose_host
from tests.support.project import Project, wait

pytestmark = pytest.mark.e2e


@pytest.fixture
def engine_program() -> str:
    """One is enough: what is to be typed is not the engine's business."""
    return "auto"


Wreck = Callable[[Project, Cloud], None]
STATE = ".hybridwrap/state/default/network.tfstate"


def state_of(project: Project) -> Path:
    return project.root / STATE


def rewrite(file: Path, **changes: object) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def applied(project: Project, _: Cloud) -> None:
    assert project.apply().code == 0


def state_is_gone(project: Project, cloud: Cloud) -> None:
    applied(project, cloud)
    state_of(project).unlink()


def state_and_objects_are_gone(project: Project, cloud: Cloud) -> None:
    state_is_gone(project, cloud)
    for thing in cloud.objects():
        cloud.vanish(thing.id)


def state_is_older(project: Project, cloud: Cloud) -> None:
    """A copy from before its second object was made."""
    file = project.root / "network/main.tf"
    whole = file.read_text()
    file.write_text(
        whole.split('resource "fakecloud_server"')[0] + 'output "id" { value = fakecloud_network.net.id }\n'
    )
    applied(project, cloud)
    shutil.copy(state_of(project), project.root / "backup")
    file.write_text(whole)
    applied(project, cloud)
    shutil.copy(project.root / "backup", state_of(project))


def state_is_another(project: Project, cloud: Cloud) -> None:
    applied(project, cloud)
    rewrite(state_of(project), lineage="11111111-2222-3333-4444-555555555555", serial=1, resources=[], outputs={})


def state_is_garbage(project: Project, cloud: Cloud) -> None:
    applied(project, cloud)
    state_of(project).write_text("no state at all")


def state_is_empty(project: Project, cloud: Cloud) -> None:
    applied(project, cloud)
    state_of(project).write_bytes(b"")


def state_is_to_lie_elsewhere(project: Project, cloud: Cloud) -> None:
    applied(project, cloud)
    file = project.root / "hybridwrap.yaml"
    file.write_text(
        file.read_text().replace("source: network}", "source: network, state: {local: {path: elsewhere.tfstate}}}")
    )


def engine_is_killed(project: Project, cloud: Cloud) -> None:
    """While an object is made: the cloud has it, and nobody knows its id."""
    with hanging(project, cloud, "gate") as process:
        kill_engines(project)
        assert wait(process).code == 32


def engine_is_killed_in_vain(project: Project, cloud: Cloud) -> None:
    """The same, and the cloud does not have it."""
    engine_is_killed(project, cloud)
    cloud.vanish(cloud.only("gate").id)


def both_are_killed(project: Project, cloud: Cloud) -> None:
    with hanging(project, cloud, "gate") as process:
        kill(process)
        kill_engines(project)


def host_is_lost(project: Project, cloud: Cloud) -> None:
    lose_host(project, cloud)


def engine_fails(project: Project, cloud: Cloud) -> None:
    cloud.inject("gate", "fail-before")
    assert project.apply().code == 4
    cloud.lift()


def destroyed_and_an_old_state_is_back(project: Project, cloud: Cloud) -> None:
    applied(project, cloud)
    shutil.copy(state_of(project), project.root / "backup")
    assert project.run("destroy", "--auto-approve").code == 0
    shutil.copy(project.root / "backup", state_of(project))


QUICK = (state_is_gone, state_is_older, engine_fails, destroyed_and_an_old_state_is_back)
OTHERS = (
    state_and_objects_are_gone,
    state_is_another,
    state_is_garbage,
    state_is_empty,
    state_is_to_lie_elsewhere,
    engine_is_killed,
    engine_is_killed_in_vain,
    both_are_killed,
    host_is_lost,
)


@pytest.mark.parametrize(
    "wreck",
    [*QUICK, *(pytest.param(each, marks=pytest.mark.matrix) for each in OTHERS)],
    ids=lambda each: each.__name__,
)
def test_what_is_said_to_be_typed_next_leads_to_a_clean_stack(project: Project, cloud: Cloud, wreck: Wreck) -> None:
    wreck(project, cloud)
    follower = Follower(project, lambda address: cloud_id(cloud, address))

    follower.follow()

    assert project.apply().code == 0
    assert set(project.statuses().values()) == {"ok"}, follower.typed
    names = [thing.name for thing in cloud.objects()]
    assert sorted(names) == ["gate", "net"], f"made twice: {follower.typed}"


def doubted_once(project: Project, cloud: Cloud) -> None:
    """Its outcome was unknown, and all is well since; nobody is named who could be asked."""
    both_are_killed(project, cloud)
    Follower(project, lambda address: cloud_id(cloud, address)).follow()
    assert set(project.statuses().values()) == {"ok"}


def taken_out_of_the_state(project: Project, cloud: Cloud) -> None:
    applied(project, cloud)
    assert project.run("tf", "network", "--", "state", "rm", "fakecloud_server.gate").code == 0


def state_and_folder_are_gone(project: Project, cloud: Cloud) -> None:
    state_is_gone(project, cloud)
    shutil.rmtree(project.root / "network")


def nobody_can_look(project: Project, cloud: Cloud) -> None:
    """Whoever is asked answers neither yes nor no."""
    file = project.root / "hybridwrap.yaml"
    file.write_text(
        file.read_text().replace("source: network}", "source: network, verify: {absent: [sh, -c, exit 7]}}")
    )
    applied(project, cloud)


def left_the_manifest(project: Project, cloud: Cloud) -> None:
    """With an outcome that nobody knows, and from a host that is gone."""
    host_is_lost(project, cloud)
    file = project.root / "hybridwrap.yaml"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if "  network:" not in line and "  vm:" not in line))


@pytest.mark.parametrize(
    "wreck",
    [
        doubted_once,
        *(
            pytest.param(each, marks=pytest.mark.matrix)
            for each in (
                engine_is_killed,
                state_is_gone,
                state_is_older,
                state_and_folder_are_gone,
                taken_out_of_the_state,
                nobody_can_look,
                left_the_manifest,
            )
        ),
    ],
    ids=lambda each: each.__name__,
)
def test_what_is_said_to_be_typed_next_leads_to_a_torn_down_stack(project: Project, cloud: Cloud, wreck: Wreck) -> None:
    wreck(project, cloud)
    orphan = wreck is left_the_manifest
    follower = Follower(
        project,
        lambda address: cloud_id(cloud, address),
        first="hybridwrap destroy --orphan network" if orphan else "hybridwrap destroy",
        done=lambda: not left(project),
    )

    follower.follow()

    assert left(project) == {}
    assert project.call("orphans", "--json").json["orphans"] == []
    for module in ("network", "vm", "docs"):
        assert project.ledger().verify(module) == []


def left(project: Project) -> dict[str, str]:
    return {name: status for name, status in project.statuses().items() if status not in ("destroyed", "none")}


def cloud_id(cloud: Cloud, address: str) -> str:
    """The id of what has the address's name; of what is not there, one that no object has."""
    found = cloud.objects(name=address.rpartition(".")[2])
    return found[0].id if found else "srv-none"
