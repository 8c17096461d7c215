"""Ids of what was made leave the host while the engine is at work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fakecloud.cloud import Cloud
from tests.support.lost_runner import hanging, wait_until
from tests.support.project import Project, wait

pytestmark = pytest.mark.e2e


def beats(project: Project) -> Path:
    return project.root / ".hybridwrap/ledger/v1/shop/default/beat"


def test_a_made_object_is_in_the_ledger_while_the_engine_waits_for_the_next_one(project: Project, cloud: Cloud) -> None:
    with hanging(project, cloud, "gate", "network") as process:
        made = cloud.only("net")
        wait_until(lambda: any(beat.objects for beat in project.ledger().beats("network")))
        (beat,) = project.ledger().beats("network")
    assert [(o.address, o.id, o.open) for o in beat.objects] == [
        ("fakecloud_network.net", made.id, False),
        ("fakecloud_server.gate", "", True),
    ]
    assert beat.operation == project.ledger().record("network").operation
    assert beat.state_lock, "the engine holds the lock on its state, and this is its id"

    assert wait(process).code == 0
    assert project.ledger().beats("network") == (), "the end says it all"


def test_a_short_apply_sends_nothing_but_its_entries(project: Project) -> None:
    assert project.apply("network").code == 0
    assert not beats(project).exists()
