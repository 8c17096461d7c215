"""Whose the engine's lock on a state is."""

from __future__ import annotations

import pytest

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.engine_run import Action, Hook, LockInfo, Stream
from hybridwrap.domain.record import Record
from hybridwrap.domain.state import Unreadable
from hybridwrap.domain.state_lock import StateLock, was_held_in
from hybridwrap.run.state_lock import clear_recorded, left_by_killed
from tests.support.imaginary import STACK, Engine, Machine, World, begin_command


def lock(created: str) -> StateLock:
    return StateLock(LockInfo("9f2d", who="ana@laptop", created=created, operation="OperationTypeApply"), "s3://b/k")


def steps(*times: str, action: Action = Action.CREATE) -> Stream:
    return Stream(hooks=tuple(Hook("x.a", action, "start", time=time) for time in times))


@pytest.mark.parametrize(
    ("created", "time", "held"),
    [
        ("2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:06.000001Z", True),
        ("2026-01-02T03:04:05.123456789Z", "2026-01-02T05:04:06.000001+02:00", True),
        ("2026-01-02 03:04:05.123456789 +0000 UTC", "2026-01-02T03:04:06.000001Z", True),
        ("2026-01-02T03:04:07Z", "2026-01-02T03:04:06Z", False),
        ("", "2026-01-02T03:04:06Z", False),
        ("yesterday", "2026-01-02T03:04:06Z", False),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:06Z", False),
        ("2026-01-02T03:04:05Z", "", False),
    ],
)
def test_a_lock_that_is_older_than_a_step_was_held_by_who_took_it(created: str, time: str, held: bool) -> None:
    assert was_held_in(steps(time), lock(created)) is held


def test_one_step_after_the_lock_is_enough_and_reading_is_no_step() -> None:
    made = lock("2026-01-02T03:04:05Z")
    assert was_held_in(steps("2026-01-02T03:04:04Z", "2026-01-02T03:04:09Z"), made)
    assert not was_held_in(steps("2026-01-02T03:04:09Z", action=Action.READ), made)
    assert not was_held_in(Stream(), made)


def test_a_lock_says_who_since_when_and_where() -> None:
    assert str(lock("2026-01-02T03:04:05Z")) == (
        "lock 9f2d of ana@laptop since 2026-01-02 03:04:05 UTC (apply), at s3://b/k"
    )
    garbage = StateLock(LockInfo("sha256:0123", "s3://b/k"), "s3://b/k", readable=False)
    assert str(garbage) == "s3://b/k holds no lock that can be read (sha256:0123)"


@pytest.mark.parametrize(
    ("found", "left"),
    [
        (lock("2026-01-02T03:04:05Z"), "9f2d"),
        (lock("2026-01-02T03:04:07Z"), ""),  # of who came after the kill
        (Unreadable("no answer"), ""),
        (None, ""),
    ],
)
def test_a_killed_engine_left_the_lock_under_which_it_worked(found: StateLock | Unreadable | None, left: str) -> None:
    engine = Locked(World(), STACK.modules["vm"], lambda: None)
    engine.found = found
    assert left_by_killed(engine, steps("2026-01-02T03:04:06Z")) == left  # type: ignore[arg-type]


class Locked(Engine):
    """An engine of whose state somebody has left a lock."""

    found: StateLock | Unreadable | None = None

    def state_lock(self) -> StateLock | Unreadable | None:  # type: ignore[override]
        return self.found

    def release_state_lock(self, lock: StateLock) -> None:
        self.released = lock


@pytest.mark.parametrize(
    ("recorded", "found", "released"),
    [
        ("9f2d", lock("today"), True),
        ("another", lock("today"), False),
        ("", lock("today"), False),
        ("9f2d", Unreadable("no answer"), False),
        ("9f2d", None, False),
    ],
)
def test_only_the_lock_that_is_recorded_as_our_own_is_released(
    recorded: str, found: StateLock | Unreadable | None, released: bool
) -> None:
    world = World()
    engine = Locked(world, STACK.modules["vm"], lambda: None)
    engine.found = found
    context = begin_command(MemoryStore(), world, Machine(), "10", step=lambda: None)
    clear_recorded(context, engine, Record("vm", 2, state_lock=recorded))  # type: ignore[arg-type]
    assert hasattr(engine, "released") is released
