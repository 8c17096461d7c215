"""A runner is lost for good: its host can't be seen, and somebody who knows vouches for its death."""

from __future__ import annotations

import pytest

from hybridwrap.domain.entry import End, Kind, Late, LockFile, Locks, Takeover
from hybridwrap.domain.status import Outcome, Status
from tests.support.fakecloud.cloud import Cloud
from tests.support.lost_runner import engines_of, hanging, kill, ledger_of, lose_host, wait_until
from tests.support.project import Project, Ran, wait

pytestmark = pytest.mark.e2e


def unlock(project: Project, *, operation: str = "", reason: str = "the runner was reclaimed") -> Ran:
    held = ledger_of(project).record("network").operation
    return project.run("unlock", "network", "--operation", operation or held, "--reason", reason)


@pytest.fixture
def lost(on_s3: Project, cloud: Cloud) -> Project:
    """Host and engine are gone while `gate` is being made; `net` was seen, and sent off the host."""
    lose_host(on_s3, cloud)
    return on_s3


def test_without_a_word_the_module_stays_held_and_unlock_shows_by_whom(lost: Project) -> None:
    assert lost.apply("network").code == 20
    assert lost.run("sync").code == 0, "nothing of it is on this host"

    shown = lost.run("unlock", "network")

    held = ledger_of(lost).record("network")
    assert shown.code == 0
    assert f"held by apply {held.operation}" in shown.out
    assert "its lock files can't be seen from here" in shown.out
    assert "last sign" in shown.out
    assert "2 objects" in shown.out
    assert ledger_of(lost).history("network")[-1].kind is Kind.BEGIN, "looking writes nothing"


def test_a_word_ends_it_as_unknown_with_what_was_sent_off_the_host(lost: Project, cloud: Cloud) -> None:
    ran = unlock(lost)

    assert ran.code == 0, ran.text
    record = ledger_of(lost).record("network")
    assert record.status == "unknown"
    assert [(o.address, o.id, o.open) for o in record.objects] == [
        ("fakecloud_network.net", cloud.only("net").id, True),
        ("fakecloud_server.gate", "", True),
    ]
    assert "released its own state lock" in ran.text, "its id was sent off the host, too"
    assert [entry.kind for entry in ledger_of(lost).history("network")] == ["begin", "takeover", "end"]
    assert ledger_of(lost).verify("network") == []
    assert ledger_of(lost).beats("network") == ()
    assert lost.apply("network").code == 32
    assert len(cloud.objects()) == 2


def test_the_word_has_to_name_the_operation(lost: Project) -> None:
    ran = unlock(lost, operation="01M00000000000000000000000")
    assert ran.code == 64, ran.text
    assert "is held by" in ran.text
    assert lost.run("unlock", "network", "--operation", "x").code == 64
    assert ledger_of(lost).history("network")[-1].kind is Kind.BEGIN


def test_a_lock_of_who_knows_whom_stops_a_takeover_until_it_is_named(on_s3: Project, cloud: Cloud) -> None:
    lose_host(on_s3, cloud, sent=False)

    stopped = unlock(on_s3)

    assert stopped.code == 20, stopped.text
    assert "it is not proven by whom" in stopped.text
    lock = stopped.text.partition("--state-lock ")[2].split()[0]
    assert on_s3.run("unlock", "network", "--state-lock", "another").code == 64
    assert on_s3.apply("network").code == 20
    released = on_s3.run("unlock", "network", "--state-lock", lock)
    assert released.code == 0, released.text
    assert "left behind: network unknown" in released.text
    assert ledger_of(on_s3).record("network").status == "unknown"
    assert [entry.kind for entry in ledger_of(on_s3).history("network")] == ["begin", "takeover", "end"]


def test_the_living_are_not_taken_over_from_on_their_own_host(on_s3: Project, cloud: Cloud) -> None:
    with hanging(on_s3, cloud, "gate", "network") as process:
        assert unlock(on_s3).code == 20
        kill(process)
        assert unlock(on_s3).code == 20, "its engine lives"
    wait_until(lambda: "gone" in on_s3.status()["network"]["reason"])
    ran = unlock(on_s3)
    assert ran.code == 0, ran.text
    assert ledger_of(on_s3).record("network").status == "ok", "what can be seen needs no word"
    assert [entry.kind for entry in ledger_of(on_s3).history("network")] == ["begin", "end"]


def taken_over_from_elsewhere(project: Project) -> str:
    """Let somebody on another host take `network` over, wrongly, and end it; return the first operation."""
    ledger = ledger_of(project)
    ledger.open()
    record = ledger.record("network")
    elsewhere = Locks(LockFile("/elsewhere/events.jsonl", 1, 2), LockFile("/elsewhere/runner.lock", 1, 3))
    held = ledger.takeover(record, Takeover("R9", "it looked dead", elsewhere), operation="T9")
    ledger.end(held, End(Outcome.UNKNOWN, Status.UNKNOWN, record.state), operation="T9", entry_id="E9")
    return record.operation


def test_the_result_of_a_runner_that_was_alive_is_kept_as_evidence(on_s3: Project, cloud: Cloud) -> None:
    with hanging(on_s3, cloud, "gate", "network") as process:
        operation = taken_over_from_elsewhere(on_s3)
    ran = wait(process)

    assert ran.code == 21, ran.text
    history = ledger_of(on_s3).history("network")
    assert [(entry.kind, entry.operation) for entry in history[2:]] == [("end", "T9"), ("late", operation)]
    assert ledger_of(on_s3).record("network").status == "unknown", "its state is not the one that its taker found"
    assert on_s3.run("sync").out == "nothing is left to finish on this host\n"


def test_what_a_superseded_engine_has_made_is_kept_as_evidence_when_its_hybridwrap_was_killed(
    on_s3: Project, cloud: Cloud
) -> None:
    with hanging(on_s3, cloud, "gate", "network") as process:
        operation = taken_over_from_elsewhere(on_s3)
        kill(process)
    wait_until(lambda: not engines_of(on_s3))

    for _ in range(2):
        assert on_s3.run("sync").code == 0

    late = [entry for entry in ledger_of(on_s3).history("network") if entry.kind is Kind.LATE]
    assert [entry.operation for entry in late] == [operation]
    assert isinstance(late[0].body, Late)
    assert [o.address for o in late[0].body.end.objects] == ["fakecloud_network.net", "fakecloud_server.gate"]
    assert ledger_of(on_s3).verify("network") == []
