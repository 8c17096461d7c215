"""A state that could not be saved, beside the one in its place: when it may go back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.entry import CloudObject, StateMark
from hybridwrap.domain.rescue import Fit, belongs, compare
from hybridwrap.domain.state import EngineState, Instance, StateOutput, StatePlace, Unreadable

PLACE = StatePlace("s3", "vm.tfstate", "states")
NOTHING = StateMark(PLACE)
A, B = Instance("x.a", "x", "p", "1"), Instance("x.b", "x", "p", "2")


def state(serial: int, *instances: Instance, lineage: str = "L", **outputs: Any) -> EngineState:
    told = {name: StateOutput(value, "string", sensitive=False) for name, value in outputs.items()}
    return EngineState(lineage, serial, instances=instances, outputs=told)


def before(serial: int) -> StateMark:
    return StateMark(PLACE, "L", serial)


@pytest.mark.parametrize(
    ("kept", "planned_on", "there", "fit"),
    [
        pytest.param(state(1, A), NOTHING, None, Fit.FIRST, id="a first apply"),
        pytest.param(state(1, A), NOTHING, state(0, lineage=""), Fit.FOREIGN, id="an empty state of no lineage"),
        pytest.param(state(6, A), before(5), state(5), Fit.NEWER, id="the state it was made from"),
        pytest.param(state(6, A), before(5), None, Fit.GONE, id="that one is gone"),
        pytest.param(state(9, A, B), before(5), state(7, A), Fit.NEWER, id="a save of the same apply came through"),
        pytest.param(state(9, A), before(5), state(7, A, B), Fit.FORKED, id="somebody added an object meanwhile"),
        pytest.param(state(6, A), before(5), state(6, B), Fit.FORKED, id="the same serial, other objects"),
        pytest.param(
            state(6, A, v="a"), before(5), state(6, A, v="b"), Fit.FORKED, id="the same serial, other outputs"
        ),
        pytest.param(state(6, A, v="a"), before(5), state(6, A, v="a"), Fit.SAVED, id="saved after all"),
        pytest.param(state(6, A, v="a"), before(5), state(7, A, v="a"), Fit.SAVED, id="pushed: serial + 1"),
        pytest.param(state(6, A, B), before(5), state(9, A), Fit.OLDER, id="newer, and less in it"),
        pytest.param(state(6, A, v="a"), before(5), state(9, A, B, v="b"), Fit.OLDER, id="newer, another value"),
        pytest.param(state(1, A), NOTHING, state(1, B, lineage="M"), Fit.FOREIGN, id="a raw apply in between"),
        pytest.param(state(1, A), NOTHING, state(4, A, B, lineage="M"), Fit.SAVED, id="imported by hand"),
        pytest.param(state(6, A), before(5), Unreadable("a page of HTML"), Fit.UNREADABLE, id="no state at all"),
    ],
)
def test_a_state_goes_back_only_where_nothing_is_lost(
    kept: EngineState, planned_on: StateMark, there: EngineState | None, fit: Fit
) -> None:
    compared = compare(kept, planned_on, there)
    assert compared.fit is fit
    assert compared.safe is (fit in {Fit.FIRST, Fit.NEWER})


def test_a_file_that_a_failed_save_has_emptied_is_no_loss() -> None:
    emptied = EngineState("", 0, zero_bytes=True)
    assert compare(state(6, A), before(5), emptied).fit is Fit.FIRST


def test_what_only_one_of_the_two_has_is_named() -> None:
    compared = compare(state(6, A), before(5), state(6, B))
    assert (compared.only_kept, compared.only_there) == ((A,), (B,))


@pytest.mark.parametrize(("there", "fit"), [(state(5), Fit.NEWER), (state(6), Fit.FORKED), (state(7), Fit.OLDER)])
def test_of_an_encrypted_state_only_serial_and_lineage_speak(there: EngineState, fit: Fit) -> None:
    sealed = replace(state(6), readable=False)
    assert compare(sealed, before(5), there).fit is fit


@pytest.mark.parametrize(
    ("serial", "lineage", "value", "fit"),
    [
        (1, "0f000000-0000-4000-8000-000000000032", "vpc-old", Fit.OLDER),
        (7, "0f000000-0000-4000-8000-000000000032", "vpc-fork", Fit.FORKED),
        (9, "ffffffff-0000-4000-8000-000000000032", "vpc-old", Fit.FOREIGN),
    ],
)
def test_what_the_engine_refuses_to_push_is_refused_here_too(serial: int, lineage: str, value: str, fit: Fit) -> None:
    """An errored.tfstate behind the remote state, as people have met it."""
    remote = _file(7, "0f000000-0000-4000-8000-000000000032", "vpc-new")
    assert compare(_file(serial, lineage, value), NOTHING, remote).fit is fit


def _file(serial: int, lineage: str, vpc: str) -> EngineState:
    document = {"version": 4, "serial": serial, "lineage": lineage, "resources": []}
    return parse_state(json.dumps({**document, "outputs": {"vpc_id": {"value": vpc, "type": "string"}}}).encode())


def test_a_state_in_a_shared_folder_belongs_to_whose_lineage_or_objects_it_has() -> None:
    own = [CloudObject("x.a", "x", "id", "1", open=True)]
    assert belongs(state(6, A), "L", ())
    assert not belongs(state(6, A), "M", own)
    assert belongs(state(1, A), "", own)
    assert not belongs(state(1, A, B), "", own)
    assert not belongs(state(1), "", own)
