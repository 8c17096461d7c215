"""Engine states of every format, and what lies where one should be."""

from __future__ import annotations

import json
import tracemalloc
from decimal import Decimal
from pathlib import Path

import pytest

from hybridwrap.adapters.engine.events import read_stream
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.adapters.state_values import conforms
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.json import Json, loads
from hybridwrap.domain.state import EngineState, Instance, StateOutput
from hybridwrap.errors import OutcomeUnknown, StateUnreadable
from tests.support.recordings import RECORDINGS, Recording

DATA = Path(__file__).parents[1] / "data"
STATES = DATA / "states"
GARBAGE = STATES / "garbage"
EXPECTED = json.loads((GARBAGE / "expected.json").read_bytes())


def state(name: str) -> EngineState:
    return parse_state((STATES / f"{name}.json").read_bytes(), name)


def values(found: EngineState) -> dict[str, Json]:
    return {name: output.value for name, output in found.outputs.items()}


def v4(**content: object) -> bytes:
    return json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": 3, "lineage": "l", **content}).encode()


def resource(*instances: object, **more: object) -> dict[str, object]:
    return {"mode": "managed", "type": "x", "name": "a", "provider": "p", "instances": list(instances), **more}


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_every_recorded_state_is_read(recording: Recording) -> None:
    for name in ("state-before.json", "state-after.json", "errored.json"):
        file = recording.folder / name
        found = recording.state(name)
        if found is None or found.zero_bytes:
            assert not file.exists() or file.stat().st_size == 0
            continue
        raw = json.loads(file.read_bytes())
        held = [i for r in raw.get("resources", []) if r["mode"] == "managed" for i in r["instances"]]
        assert (found.lineage, found.serial, len(found.instances)) == (raw["lineage"], raw["serial"], len(held))
        assert values(found) == {name: output["value"] for name, output in raw.get("outputs", {}).items()}


# the parts of a state


def test_a_deposed_object_stands_beside_the_current_one() -> None:
    left = Recording("terraform-1.11.4", "deposed-left").after
    assert left is not None
    assert [(i.address, i.deposed, i.id) for i in left.instances] == [
        ("fakecloud_server.s", "", "srv-2261fdca"),
        ("fakecloud_server.s", "fef8779a", "srv-34b13d67"),
    ]


def test_a_tainted_object_is_there_and_its_output_is_not() -> None:
    found = state("tainted-but-alive")
    assert [(i.address, i.tainted) for i in found.instances] == [("terraform_data.vm", True)]
    assert found.outputs == {}


def test_a_resource_without_instances_and_a_data_source_hold_nothing() -> None:
    assert state("resource-without-instances").instances == ()


def test_the_outputs_of_a_failed_first_apply_are_those_that_are_there() -> None:
    assert values(state("first-apply-partial-outputs")) == {"region": "eu-1", "vpc_id": "vpc-1"}


def test_a_null_of_no_type_is_read_as_it_stands() -> None:
    assert state("null-output-with-dynamic-type").outputs["app_id"] == StateOutput(None, "dynamic", sensitive=False)


def test_a_sensitive_output_is_told_as_one() -> None:
    outputs = state("sensitive-nested").outputs
    assert {name: output.sensitive for name, output in outputs.items()} == {
        "nested": True,
        "plain": False,
        "token": True,
    }


def test_numbers_are_exact_and_digits_in_quotes_stay_text() -> None:
    assert values(state("numbers-that-floats-cannot-hold")) == {
        "big": 12345678901234567890123456789,
        "dec": Decimal("0.1"),
        "prec": Decimal("3.14159265358979323846264338327950288"),
        "exp": 10**400,
        "acct": "012345678901",
        "sha": "08e30503",
        "nested": {"ids": [9007199254740993, 130490850807]},
    }


def test_failing_checks_are_named() -> None:
    assert state("checks-warn").failed_checks == ("check.health",)
    assert state("checks-strict").failed_checks == ("terraform_data.p", "output.guarded", "check.health")
    assert not any(i.tainted for i in state("checks-strict").instances)


@pytest.mark.parametrize(
    "results", [None, [], "later", [{"object_kind": "new", "status": None}], [{"x": {}}], {"a": 1}]
)
def test_check_results_of_any_shape_are_no_crash(results: object) -> None:
    assert parse_state(v4(check_results=results)).failed_checks == ()


def test_addresses_are_those_that_the_engine_prints() -> None:
    found = {i.address for i in state("odd-resource-keys").instances}
    stream = read_stream((DATA / "streams" / "odd-resource-keys.jsonl").read_bytes())
    assert found == {change.address for change in stream.planned if change.action is Action.CREATE}
    assert [i.address for i in state("odd-resource-keys").instances if i.tainted] == ['terraform_data.r["space key"]']
    assert len(found) == 9
    assert not any("\n" in address for address in found)


@pytest.mark.parametrize(
    ("key", "index"),
    [
        (0, "[0]"),
        (12.0, "[12]"),
        ("", '[""]'),
        ("a\tb\rc", r'["a\tb\rc"]'),
        ("%{if}", '["%%{if}"]'),
        ("5% of $x", '["5% of $x"]'),
        ("\u200b\x07", r'["\u200b\u0007"]'),
        ("\U000e0001", r'["\U000e0001"]'),
        ("\\${x}", r'["\\$${x}"]'),
    ],
)
def test_a_key_is_quoted_to_be_pasted_back(key: object, index: str) -> None:
    (found,) = parse_state(v4(resources=[resource({"index_key": key, "attributes": {"id": "1"}})])).instances
    assert found.address == f"x.a{index}"


def test_a_module_is_part_of_the_address() -> None:
    nested = resource({"attributes": {"id": "1"}}, module='module.m["k"].module.n[0]')
    (found,) = parse_state(v4(resources=[nested])).instances
    assert found == Instance('module.m["k"].module.n[0].x.a', "x", "p", "1")


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"attributes": {"id": "i-1"}}, "i-1"),
        ({"attributes": {"id": 9007199254740993}}, "9007199254740993"),
        ({"attributes": {"id": None}}, ""),
        ({"attributes": {"id": {"a": 1}}}, ""),
        ({"attributes": {"arn": "a"}}, ""),
        ({"attributes": None}, ""),
        ({"attributes_flat": {"id": "i-2"}}, "i-2"),
        ({}, ""),
    ],
)
def test_an_id_is_read_where_there_is_one(attributes: dict[str, object], expected: str) -> None:
    (found,) = parse_state(v4(resources=[resource(attributes)])).instances
    assert found.id == expected


@pytest.mark.parametrize("key", ["provider", "instance_provider"])
def test_a_provider_on_an_instance_is_told_as_what_only_opentofu_reads(key: str) -> None:
    own = 'provider["registry.opentofu.org/x/x"].by_region["eu"]'
    found = parse_state(v4(resources=[resource({"index_key": "eu", "attributes": {"id": "1"}, key: own}, provider="")]))
    assert found.instance_providers
    assert found.instances[0].provider == own
    assert not state("odd-resource-keys").instance_providers


# other formats


def test_zero_bytes_are_told_from_no_state_and_from_an_empty_one() -> None:
    nothing = parse_state(b"")
    assert nothing.zero_bytes
    assert (nothing.lineage, nothing.serial, nothing.instances, nothing.outputs) == ("", 0, (), {})
    assert not parse_state(v4(outputs={}, resources=[])).zero_bytes


def test_an_encrypted_state_tells_lineage_and_serial_and_no_more() -> None:
    found = state("encrypted")
    assert (found.readable, found.serial, found.lineage) == (False, 4, "0f000000-0000-4000-8000-000000000092")


@pytest.mark.parametrize("name", ["newer-release", "newer-major", "tofu"])
def test_a_state_of_a_newer_release_is_read(name: str) -> None:
    assert values(state(name)) == {"vpc_id": "vpc-1"}


def test_the_release_that_wrote_a_state_is_told() -> None:
    assert state("newer-major").engine_version == "2.0.0"


def test_format_3_has_the_outputs_of_the_root_module_only() -> None:
    found = state("format-3")
    assert found.outputs == {
        "vpc_id": StateOutput("vpc-1", "string", sensitive=False),
        "list": StateOutput(["a", "b"], "list", sensitive=True),
    }
    assert (found.serial, found.lineage) == (9, "0f000000-0000-4000-8000-000000000095")


def test_format_1_is_read() -> None:
    assert values(state("format-1")) == {"vpc_id": "vpc-1"}


def test_the_objects_of_format_3_are_told_with_their_addresses() -> None:
    web = {
        "type": "aws_instance",
        "primary": {"id": "i-1", "tainted": True},
        "deposed": [{"id": "i-0"}],
        "provider": "p",
    }
    bucket = {"type": "aws_s3_bucket", "primary": {"id": "b", "attributes": {"id": "b", "tags.%": "0"}}}
    modules = [
        {"path": ["root"], "resources": {"aws_instance.web.1": web, "data.aws_ami.x": bucket}},
        {"path": ["root", "store"], "resources": {"aws_s3_bucket.b": bucket, "aws_s3_bucket.gone": {"primary": None}}},
    ]
    found = parse_state(json.dumps({"version": 3, "serial": 2, "lineage": "l", "modules": modules}).encode())
    assert found.instances == (
        Instance("aws_instance.web[1]", "aws_instance", "p", "i-1", tainted=True),
        Instance("aws_instance.web[1]", "aws_instance", "p", "i-0", deposed="00000001"),
        Instance("module.store.aws_s3_bucket.b", "aws_s3_bucket", "", "b"),
    )


def test_a_tainted_object_of_format_1_is_told() -> None:
    resources = {"x.a": {"type": "x", "primary": None, "tainted": [{"id": "1"}]}}
    found = parse_state(json.dumps({"version": 1, "modules": [{"path": ["root"], "resources": resources}]}).encode())
    assert found.instances == (Instance("x.a", "x", "", "1", tainted=True),)


# what is no state


@pytest.mark.parametrize("name", EXPECTED["readable"])
def test_what_the_engine_reads_is_read(name: str) -> None:
    assert values(parse_state((GARBAGE / name).read_bytes())) == EXPECTED["readable"][name]


@pytest.mark.parametrize("name", [*EXPECTED["unreadable"], "backend-record-not-state.json"])
def test_what_the_engine_refuses_is_never_taken_for_an_empty_state(name: str) -> None:
    with pytest.raises(StateUnreadable, match="the state of vm can't be read"):
        parse_state((GARBAGE / name).read_bytes(), "the state of vm")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("blank", "only white space"),
        ("bom", "byte order mark.*save it as UTF-8 without"),
        ("utf16", "UTF-16.*save it as UTF-8"),
        ("newer-format", "state format 5 is not known"),
        ("garbage/html.broken", "it is no JSON object"),
        ("garbage/truncated.broken", "truncated"),
        ("garbage/no-version", "no format version"),
        ("garbage/serial-text", r"\$\.serial"),
        ("garbage/output-wrong-type", 'output "a" is not of its type'),
        ("garbage/output-without-type", 'output "a".*missing.*`type`'),
        ("garbage/backend-record-not-state", "note of its backend"),
    ],
)
def test_the_message_says_which_file_and_why(name: str, why: str) -> None:
    with pytest.raises(StateUnreadable, match=why) as caught:
        state(name)
    assert name in caught.value.message


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b"{}{}",
        b'{"version":4,',
        b"[" * 100_000,
        b'{"version":4,"outputs":' + b"[" * 100_000,
        b'{"version":4,"outputs":{"a":{"value":' + b"[" * 900 + b"]" * 900 + b',"type":"string"}}}',
        b'{"version":4,"serial":-1.5}',
        b'{"version":4,"resources":[{"mode":"managed"}]}',
        b'{"version":4,"resources":{}}',
        b'{"version":3}',
        b'{"version":99999999999999999999}',
        b"\xff" * 10,
        b"{\x00}\x00",
        b"\x00{\x00}",
    ],
)
def test_broken_states_are_refused(data: bytes) -> None:
    with pytest.raises(StateUnreadable):
        parse_state(data)


def test_an_unreadable_state_is_an_outcome_that_nobody_knows() -> None:
    assert issubclass(StateUnreadable, OutcomeUnknown)
    assert StateUnreadable("x").exit_code == 32


def test_no_value_of_a_bad_state_is_in_the_message() -> None:
    bad = v4(outputs={"password": {"value": ["hunter2-secret"], "type": "string", "sensitive": True}})
    with pytest.raises(StateUnreadable) as caught:
        parse_state(bad)
    assert "hunter2" not in caught.value.message


# types of outputs


@pytest.mark.parametrize(
    ("value", "kind", "fits"),
    [
        ('"a"', '"string"', True),
        ("7", '"string"', True),
        ("[]", '"string"', False),
        ("1.5", '"number"', True),
        ('"1e400"', '"number"', True),
        ('"NaN"', '"number"', False),
        ('"a"', '"number"', False),
        ("true", '"number"', False),
        ('"false"', '"bool"', True),
        ("1", '"bool"', False),
        ("null", '["list","string"]', True),
        ('["a",null]', '["list","string"]', True),
        ('["a",{}]', '["set","string"]', False),
        ('{"a":1}', '["map","number"]', True),
        ("[1]", '["map","number"]', False),
        ('[1,"a"]', '["tuple",["number","string"]]', True),
        ("[1]", '["tuple",["number","string"]]', False),
        ('{"a":{"b":[true]}}', '["object",{"a":["object",{"b":["list","bool"]}]}]', True),
        ('{"a":1,"b":2}', '["object",{"a":"number"}]', False),
        ("{}", '["object",{"a":"number"}]', False),
        ('{"value":1,"type":"number"}', '"dynamic"', True),
        ("1", '"dynamic"', False),
        ("null", '"dynamic"', True),
        ("null", '"teleport"', False),
        ("1", '["teleport"]', False),
        ("1", "7", False),
        ("null", "7", False),
    ],
)
def test_a_value_is_held_against_its_type_as_the_engine_does(value: str, kind: str, fits: bool) -> None:
    assert conforms(loads(value), loads(kind)) is fits


# size


def test_a_large_state_costs_less_memory_than_its_own_size() -> None:
    blob = {"schema_version": 0, "attributes": {"id": "1", "input": {"value": "x" * 1_000_000}}}
    many = [{"index_key": n, "attributes": {"id": str(n), "tags": {"k": "v" * 900}}} for n in range(10_000)]
    data = v4(outputs={"a": {"value": "a", "type": "string"}}, resources=[resource(*[blob] * 10), resource(*many)])
    tracemalloc.start()
    found = parse_state(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.instances) == 10_010
    assert peak < len(data)
