"""A module that reads the state of another one waits for it, and has changed when that has."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hybridwrap.domain.inputs import ResolvedInputs, upstream_digest
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.read_states import ReadState, with_states

NOTHING = ResolvedInputs({}, {})
KNOWN = {"id": Output(Provenance.KNOWN, value="n-1")}
SECRET = {**KNOWN, "token": Output(Provenance.KNOWN, sensitive=True)}


def reading(outputs: Mapping[str, Output] | None, serial: int = 1) -> ResolvedInputs:
    return with_states(NOTHING, [ReadState("net", "vm/main.tf:2", outputs, serial)])


def test_without_such_reads_inputs_stay_as_they_are() -> None:
    assert with_states(NOTHING, []) is NOTHING


def test_a_state_that_is_known_is_not_waited_for() -> None:
    assert reading(KNOWN).waits == ()
    assert reading({}).waits == ()


@pytest.mark.parametrize(
    ("outputs", "reference", "reason"),
    [
        (None, "net", "net was not applied: its state, read in vm/main.tf:2, is not there yet"),
        (
            {**KNOWN, "ip": Output(Provenance.STALE, value="x")},
            "net.ip",
            "net.ip is stale: older than the last change of net; its state is read in vm/main.tf:2",
        ),
    ],
)
def test_one_that_is_not_there_or_not_reliable_is_waited_for(
    outputs: Mapping[str, Output] | None, reference: str, reason: str
) -> None:
    (wait,) = reading(outputs).waits
    assert (str(wait.reference), wait.reason) == (reference, reason)


def test_other_outputs_make_other_inputs_another_serial_alone_does_not() -> None:
    first = upstream_digest(reading(KNOWN))
    assert first
    assert upstream_digest(reading(KNOWN, serial=2)) == first
    assert upstream_digest(reading({"id": Output(Provenance.KNOWN, value="n-2")})) != first
    assert upstream_digest(reading({})) != first


def test_a_secret_output_is_told_by_the_serial_and_its_value_needs_no_key() -> None:
    first = upstream_digest(reading(SECRET))
    assert first
    assert upstream_digest(reading(SECRET, serial=2)) != first
