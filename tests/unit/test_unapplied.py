"""`--unapplied`: a module is not as it was last applied when files or inputs differ, or when that ended badly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.templates import render
from hybridwrap.domain.entry import RecordedInput, Source
from hybridwrap.domain.inputs import Given, Host
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import FromCaller, FromEnv, Input, Interface, Literal, Module, Reference, Variable
from hybridwrap.domain.status import Status
from hybridwrap.domain.unapplied import unapplied
from tests.support.ledgers import begin

NOW = Source("d1", lock="l1")
NET_ID = Reference("net", "id")
INPUTS: Mapping[str, Input] = {
    "size": Literal(2),
    "name": Literal("vm-{{ modules.net.id }}", (NET_ID,)),
    "password": FromEnv("PASSWORD"),
    "token": Literal("abc"),
}
VARIABLES = {name: Variable(name, sensitive=name == "token") for name in (*INPUTS, "zone", "image")}
MODULE = Module("vm", Path("/stack/vm"), Interface(VARIABLES), INPUTS)
RECORDED = {
    "size": RecordedInput(2),
    "name": RecordedInput("vm-n1"),
    "password": RecordedInput(sensitive=True, reference="env:PASSWORD"),
    "token": RecordedInput(sensitive=True, reference="manifest:modules.vm.inputs.token"),
    "zone": RecordedInput("a", reference="file:vm/terraform.tfvars"),
}
FROM_THERE = RecordedInput(sensitive=True, reference="env:TF_VAR_image")
RECORD = Record("vm", 2, status=Status.OK, command="apply", inputs=RECORDED, source=Source("d1", "c0ffee", lock="l1"))


def why(
    record: Record = RECORD,
    module: Module = MODULE,
    now: Source = NOW,
    zone: str = "a",
    net: str = "n1",
    **environ: str,
) -> tuple[str, ...]:
    given: Mapping[str, Given] = {"zone": Given(zone, "vm/terraform.tfvars")} if zone else {}
    host = Host(render=render, environ=environ, read_text=lambda _: "", given=lambda _: given)
    return unapplied(module, record, now, host, {"net": {"id": Output(Provenance.KNOWN, value=net, type="string")}})


def with_input(name: str, source: Any) -> Module:
    return replace(MODULE, inputs={**INPUTS, name: source})


def test_a_module_that_is_as_it_was_applied_is_no_matter() -> None:
    assert why() == ()


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (Record("vm"), ("never applied",)),
        (replace(RECORD, status=Status.ERROR), ("its last apply did not end well",)),
        (replace(RECORD, status=Status.UNKNOWN), ("its last apply did not end well",)),
        (replace(RECORD, status=Status.ERROR, command="destroy"), ()),
        (replace(RECORD, status=Status.DESTROYED, command="destroy"), ()),
        (replace(RECORD, status=Status.RETAINED, command="retain"), ()),
        (replace(RECORD, source=None, inputs={}), ("adopted, and not planned since",)),
        (replace(RECORD, source=Source("d0", "c0ffee", lock="l1")), ("its files have changed since c0ffee",)),
        (replace(RECORD, source=Source("d1", lock="l0")), ("its lock file has changed",)),
    ],
)
def test_what_became_of_it_and_its_digests_decide(record: Record, expected: tuple[str, ...]) -> None:
    assert why(record) == expected


def test_an_apply_of_a_part_does_not_count_as_one() -> None:
    module = replace(MODULE, inputs={"size": Literal(2)})
    whole = replace(RECORD, inputs={"size": RecordedInput(2)}, inputs_digest="i1")
    assert why(whole, module, zone="") == ()
    assert why(replace(whole, inputs_digest=""), module, zone="") == ("only a part of it was applied last",)


def test_while_it_is_applied_that_is_what_counts() -> None:
    intent = replace(begin(), source=Source("d1", lock="l1"), inputs=RECORDED)
    held = replace(RECORD, status=Status.RUNNING, intent=intent, source=Source("d0"))
    assert why(held) == ()
    assert why(held, now=Source("d2", lock="l1")) == ("its files have changed",)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"module": with_input("size", Literal(3))}, "size"),
        ({"module": with_input("size", Literal("2"))}, "size"),
        ({"module": with_input("image", Literal("new"))}, "image"),
        ({"module": with_input("password", FromEnv("OTHER"))}, "password"),
        ({"module": replace(MODULE, inputs={n: s for n, s in INPUTS.items() if n != "size"})}, "size"),
        ({"net": "n2"}, "name"),
        ({"zone": "b"}, "zone"),
        ({"zone": ""}, "zone"),
    ],
)
def test_an_input_that_differs_is_named(change: dict[str, Any], name: str) -> None:
    assert why(**change) == (f"inputs have changed: {name}",)


@pytest.mark.parametrize(
    "change",
    [
        {"TF_VAR_image": "from here"},
        {"record": replace(RECORD, inputs={**RECORDED, "image": FROM_THERE})},
        {"module": with_input("size", FromCaller(9))},
        {"module": with_input("token", Literal("other"))},
        {"record": replace(RECORD, inputs={**RECORDED, "size": RecordedInput(sensitive=True, reference="input:size")})},
    ],
    ids=["only on this host", "only on that host", "given by the caller", "a secret", "withheld"],
)  # fmt: skip
def test_what_can_not_be_told_is_no_difference(change: dict[str, Any]) -> None:
    assert why(**change) == ()


def test_an_output_that_is_not_known_is_waited_for_not_guessed() -> None:
    host = Host(render=render, environ={}, read_text=lambda _: "", given=lambda _: {"zone": Given("a", "f")})
    assert unapplied(MODULE, RECORD, NOW, host, {}) == ()
