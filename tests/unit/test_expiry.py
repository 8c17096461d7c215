"""Keys in the environment that end before a run does: said before anything, where it is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.expiry import end_of_keys, too_soon, uses_them
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.stack import Credentials, Module
from hybridwrap.run.apply import apply
from hybridwrap.run.destroy import destroy
from hybridwrap.run.left_alone import Wishes
from hybridwrap.run.recorded import recorded_run
from tests.support.imaginary import Machine, Silent, World, begin_command

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = 60.0


class Notes(Silent):
    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, text: str) -> None:
        self.told.append(text)

    def phase(self, module: str, phase: str) -> None:
        self.told.append(f"{module}: {phase}")


def run(minutes: float | None, *, took_minutes: float = 0, destroys: bool = False) -> list[str]:
    """What is told by a run with keys that end so soon, after one that took so long."""
    store, world, host = MemoryStore(), World(), Machine()
    earlier = begin_command(store, world, host, "10", step=lambda: None)
    end = ModuleEnd("ok", seconds=took_minutes * MINUTE)
    recorded_run(earlier, "destroy" if destroys else "apply", ["vm"], lambda: {"vm": end})
    context = begin_command(store, world, host, "20", step=lambda: None, destroys=destroys)
    ends = {"AWS_CREDENTIAL_EXPIRATION": (NOW + timedelta(minutes=minutes)).isoformat()} if minutes is not None else {}
    environ = {"AWS_ACCESS_KEY_ID": "AKIA", **ends}
    tools = replace(context.tools, host=replace(context.tools.host, environ=environ))
    notes = Notes()
    context = replace(context, tools=tools, watch=notes)
    found: RunEnd = destroy(context, ["vm"], None, Wishes()) if destroys else apply(context, ["vm"], None)
    assert found.exit_code == 0
    return notes.told


@pytest.mark.parametrize("destroys", [False, True])
@pytest.mark.parametrize(
    ("minutes", "took", "said"),
    [
        (
            12,
            0,
            "keys in the environment end in 12m (AWS_CREDENTIAL_EXPIRATION=2026-01-01T00:12:00+00:00): fetch",
        ),
        (25, 40, "2026-01-01T00:25:00+00:00), and this takes 40m as a rule: fetch"),
        (
            -5,
            0,
            "keys in the environment have ended (AWS_CREDENTIAL_EXPIRATION=2025-12-31T23:55:00+00:00): fetch",
        ),
    ],
)
def test_a_run_whose_keys_end_before_it_does_says_so_before_anything(
    minutes: float, took: float, said: str, *, destroys: bool
) -> None:
    first, *rest = run(minutes, took_minutes=took, destroys=destroys)
    assert first.startswith("warning: ")
    assert said in first
    assert not any("AWS keys" in line for line in rest)


@pytest.mark.parametrize(("minutes", "took"), [(None, 40), (25, 0), (25, 20), (59, 40)])
def test_nothing_is_said_of_keys_that_hold_or_of_which_nobody_knows(minutes: float | None, took: float) -> None:
    assert not any("AWS keys" in line for line in run(minutes, took_minutes=took))


@pytest.mark.parametrize("written", ["", "soon", "2026-01-01T00:12:00", "1767225600"])
def test_an_end_that_is_no_moment_is_none(written: str) -> None:
    assert end_of_keys({"AWS_ACCESS_KEY_ID": "AKIA", "AWS_CREDENTIAL_EXPIRATION": written}) is None


def test_where_there_are_no_keys_they_do_not_end() -> None:
    assert end_of_keys({"AWS_CREDENTIAL_EXPIRATION": "2026-01-01T00:12:00Z"}) is None


def test_seconds_are_told_where_there_is_no_minute_left() -> None:
    assert "end in 42s" in too_soon(NOW + timedelta(seconds=42), NOW, 0)


def test_a_module_that_has_keys_of_its_own_does_not_use_those_of_the_caller() -> None:
    module = Module("vm", Path("vm"))
    assert uses_them(module)
    assert not uses_them(replace(module, credentials=Credentials(("./keys",))))
    assert not uses_them(replace(module, env={"AWS_ACCESS_KEY_ID": "AKIB"}))
