"""Ids of what was made leave the host while the engine is at work."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from hybridwrap.run.heartbeat import PAUSE_SECONDS
from tests.support.fakecloud.cloud import Cloud
from tests.support.lost_runner import hanging, until_sent
from tests.support.project import Project, wait

pytestmark = pytest.mark.e2e


def beats(project: Project) -> Path:
    return project.root / ".hybridwrap/ledger/v1/shop/default/beat"


def test_a_made_object_is_in_the_ledger_while_the_engine_waits_for_the_next_one(project: Project, cloud: Cloud) -> None:
    with hanging(project, cloud, "gate", "network") as process:
        made = cloud.only("net")
        beat = until_sent(project.ledger(), "fakecloud_server.gate")
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
    began, ended = (datetime.fromisoformat(entry.time) for entry in project.ledger().history("network"))
    assert not beats(project).exists() or (ended - began).total_seconds() > PAUSE_SECONDS, "it was not short"
