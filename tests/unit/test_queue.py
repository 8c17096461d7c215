"""The queue of a run: order, readiness, and what waits for what, for any graph and any endings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybridwrap.domain.run import ModuleEnd
from hybridwrap.run.queue import ENDED_WELL, Queue

RESULTS = ("ok", "unchanged", "error", "pending", "busy", "unknown")


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    names = [f"m{at:02}" for at in range(draw(st.integers(1, 12)))]
    return {name: tuple(draw(st.sets(st.sampled_from(names[:at])))) if at else () for at, name in enumerate(names)}


@given(graphs(), st.data())
def test_a_module_starts_once_and_only_after_all_its_needs_ended_well(
    needs: dict[str, tuple[str, ...]], data: st.DataObject
) -> None:
    queue = Queue(tuple(needs), needs)
    started: list[str] = []
    while ready := queue.take_ready(data.draw(st.integers(1, 3))):
        for name in ready:
            assert name not in started
            assert all(queue.ends[need].result in ENDED_WELL for need in needs[name])
            started.append(name)
            queue.end(name, ModuleEnd(data.draw(st.sampled_from(RESULTS))))
    for name in queue.waiting:
        assert name not in started
        assert queue.blocked_by(name), "what waits, waits for something"
    assert {*started, *queue.waiting} == set(needs)


def test_needs_outside_the_run_hold_nobody_up() -> None:
    queue = Queue(("vm",), {"vm": ("network",)})
    assert queue.take_ready() == ("vm",)


def test_modules_are_handed_out_in_their_order_however_their_needs_end() -> None:
    queue = Queue(("a", "b", "c", "d"), {"c": ("a",), "d": ("b",)})
    assert queue.take_ready() == ("a", "b")
    queue.end("b", ModuleEnd("ok"))
    queue.end("a", ModuleEnd("ok"))
    assert queue.take_ready(0) == ()
    assert queue.take_ready() == ("c", "d")
