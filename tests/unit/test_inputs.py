"""Inputs become exact values; only known outputs are used; a secret is recorded by where it came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hybridwrap.adapters.secret_defaults import secret_defaults
from hybridwrap.adapters.templates import references, render
from hybridwrap.domain.entry import RecordedInput
from hybridwrap.domain.inputs import (
    Given,
    Host,
    ResolvedInputs,
    host_problems,
    inputs_digest,
    resolve_inputs,
    upstream_digest,
)
from hybridwrap.domain.json import Json, canonical, loads
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.stack import (
    FromCaller,
    FromEnv,
    FromFile,
    Input,
    Interface,
    Literal,
    Module,
    Reference,
    Variable,
)
from hybridwrap.errors import PreflightRefused

SECRET = "hunter2"
OUTPUTS = {
    "net.id": Output(Provenance.KNOWN, value="n-1"),
    "net.number": Output(Provenance.KNOWN, value=9007199254740993),
    "net.null": Output(Provenance.KNOWN),
    "net.object": Output(Provenance.KNOWN, value={"unset": None, "items": [1]}),
    "net.template": Output(Provenance.KNOWN, value="{{ modules.net.id }}"),
    "db.password": Output(Provenance.KNOWN, sensitive=True),
    "db.stale": Output(Provenance.STALE, value="old"),
    "db.partial": Output(Provenance.PARTIAL, value="half"),
    "db.missing": Output(Provenance.MISSING),
}


def templates_in(tree: Json) -> tuple[Reference, ...]:
    match tree:
        case str():
            return references(tree) if "{{" in tree else ()
        case list():
            return tuple(r for item in tree for r in templates_in(item))
        case dict():
            return tuple(r for item in tree.values() for r in templates_in(item))
    return ()


def literal(tree: Json) -> Literal:
    return Literal(tree, templates_in(tree), "hybridwrap.yaml:9:9")


def module(inputs: Mapping[str, Input], **variables: Variable) -> Module:
    return Module("vm", Path("/s/vm"), Interface(variables), inputs)


def no_secret(reference: Reference) -> Json:
    raise LookupError(reference)


def resolve(
    module: Module,
    *,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, Given] | None = None,
    secret: Callable[[Reference], Json] = lambda _: SECRET,
) -> ResolvedInputs:
    host = Host(render, environ or {}, lambda path: path.read_bytes().decode(), lambda _: given or {})
    return resolve_inputs(module, output=lambda r: OUTPUTS.get(str(r)), secret=secret, host=host)


@pytest.mark.parametrize(
    ("tree", "value"),
    [
        ("{{ modules.net.number }}", 9007199254740993),
        ("{{ modules.net.null }}", None),
        ("{{ modules.net.object }}", {"unset": None, "items": [1]}),
        ("{{ modules.net.template }}", "{{ modules.net.id }}"),
        ("net-{{ modules.net.id }}", "net-n-1"),
        ({"a": ["{{ modules.net.id }}", {"{{": "{{ modules.net.number }}"}]}, {"a": ["n-1", {"{{": 9007199254740993}]}),
        (["a b", "c,d", 'e"f', None, True, {"x": []}], ["a b", "c,d", 'e"f', None, True, {"x": []}]),
        (Decimal("3.14159265358979323846264338327950288"), Decimal("3.14159265358979323846264338327950288")),
        ("null", "null"),
        (None, None),
        ("08e30503", "08e30503"),
    ],
)
def test_an_input_has_the_exact_value_and_type(tree: Json, value: Json) -> None:
    resolved = resolve(module({"x": literal(tree)}))
    assert canonical(resolved.values["x"]) == canonical(value)
    assert type(resolved.values["x"]) is type(value)
    assert resolved.recorded["x"] == RecordedInput(value)
    assert resolved.waits == ()


def test_numbers_reach_the_var_file_digit_for_digit() -> None:
    tree = loads('{"big": 12345678901234567890123456789, "huge": 1e400, "ids": [9007199254740993, 1.10]}')
    written = canonical(resolve(module({"x": Literal(tree)})).values["x"])
    assert written == b'{"big":12345678901234567890123456789,"huge":1E+400,"ids":[9007199254740993,1.10]}'


def test_an_input_that_is_not_said_is_not_null_but_left_out() -> None:
    resolved = resolve(
        module({"said": Literal(None)}, said=Variable("said"), unsaid=Variable("unsaid", required=False))
    )
    assert dict(resolved.values) == {"said": None}


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("db.stale", "db.stale is stale: older than the last change of db"),
        ("db.partial", "db.partial is partial: read after an unfinished operation on db"),
        ("db.missing", "db.missing is missing: the last operation on db did not get to it"),
        ("gone.id", "gone.id is not there yet: gone was not applied"),
    ],
)
def test_only_known_outputs_are_used(output: str, reason: str) -> None:
    tree = f"{{{{ modules.{output} }}}}"
    resolved = resolve(module({"x": literal(tree), "y": literal("{{ modules.net.id }}")}))
    assert [(str(wait.reference), wait.reason) for wait in resolved.waits] == [(output, reason)]
    assert dict(resolved.values) == {"y": "n-1"}
    assert resolved.recorded["x"] == RecordedInput(reference=tree)
    assert (inputs_digest(resolved), upstream_digest(resolved)) == ("", "")


def test_a_sensitive_output_is_used_and_recorded_as_its_template() -> None:
    tree = {"user": "admin", "password": "{{ modules.db.password }}"}
    resolved = resolve(module({"x": literal(tree), "y": literal("{{ modules.net.id }}")}))
    assert resolved.values["x"] == {"user": "admin", "password": SECRET}
    assert resolved.recorded["x"] == RecordedInput(sensitive=True, reference=canonical(tree).decode())
    assert resolved.recorded["y"] == RecordedInput("n-1")


def test_a_sensitive_output_that_cannot_be_read_here_is_waited_for() -> None:
    resolved = resolve(module({"x": literal("{{ modules.db.password }}")}), secret=no_secret)
    assert [wait.reason for wait in resolved.waits] == ["db.password must be read again: apply db"]
    assert resolved.recorded["x"].sensitive


@pytest.mark.parametrize("kind", ["sensitive", "ephemeral"])
@pytest.mark.parametrize(
    ("tree", "reference"),
    [
        ("{{ modules.net.id }}", "{{ modules.net.id }}"),
        (SECRET, "manifest:modules.vm.inputs.x"),
        (f"{SECRET}-{{{{ modules.net.id }}}}", "manifest:modules.vm.inputs.x"),
        (f"{{{{ modules.net.id }}}}{SECRET}{{{{ modules.net.id }}}}", "manifest:modules.vm.inputs.x"),
        (f"{{{{ modules.net.id ~ '{SECRET}' }}}}", "manifest:modules.vm.inputs.x"),
        ({"p": SECRET, "h": "{{ modules.net.id }}"}, "manifest:modules.vm.inputs.x"),
    ],
)
def test_nothing_of_an_input_for_a_sensitive_variable_is_recorded(kind: str, tree: Json, reference: str) -> None:
    variable = Variable("x", sensitive=kind == "sensitive", ephemeral=kind == "ephemeral")
    resolved = resolve(module({"x": literal(tree)}, x=variable))
    assert resolved.recorded["x"] == RecordedInput(sensitive=True, reference=reference)
    assert SECRET not in repr(resolved)


def test_inputs_from_outside_are_recorded_by_reference(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"line\r\n")
    sources: dict[str, Input] = {"e": FromEnv("E"), "f": FromFile(tmp_path / "key", "secrets/key")}
    resolved = resolve(module(sources), environ={"E": SECRET})
    assert resolved.values == {"e": SECRET, "f": "line\r\n"}
    assert resolved.recorded == {
        "e": RecordedInput(sensitive=True, reference="env:E"),
        "f": RecordedInput(sensitive=True, reference="file:secrets/key"),
    }
    assert SECRET not in repr(resolved)
    assert set(resolved.secret_values) == {SECRET, "line\r\n"}


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("string", "007", "007"),
        ("number", "7", "7"),
        ("", "[1]", "[1]"),
        ("any", "[1]", "[1]"),
        ("list(number)", "[1, 2.50]", [1, Decimal("2.50")]),
        ("map(string)", '{"a": "b"}', {"a": "b"}),
        ("object({ a = string })", '{"a": null}', {"a": None}),
    ],
)
def test_a_text_from_outside_is_read_as_json_where_the_variable_takes_a_list_or_map(
    type_: str, text: str, value: Json
) -> None:
    resolved = resolve(module({"x": FromEnv("X")}, x=Variable("x", type_)), environ={"X": text})
    assert (resolved.values["x"], type(resolved.values["x"])) == (value, type(value))


def test_all_that_is_missing_on_this_host_is_said_at_once_and_without_a_value(tmp_path: Path) -> None:
    sources: dict[str, Input] = {
        "e": FromEnv("E", "hybridwrap.yaml:3:4"),
        "f": FromFile(tmp_path / "gone", "gone", "hybridwrap.yaml:4:4"),
        "l": FromEnv("L", "hybridwrap.yaml:5:4"),
    }
    broken = module(sources, l=Variable("l", "list(string)"))
    with pytest.raises(PreflightRefused) as caught:
        resolve(broken, environ={"L": SECRET})
    assert caught.value.message.splitlines() == [
        "hybridwrap.yaml:3:4  modules.vm.inputs.e: the environment variable E is not set",
        f"hybridwrap.yaml:4:4  modules.vm.inputs.f: {tmp_path / 'gone'}: No such file or directory",
        "hybridwrap.yaml:5:4  modules.vm.inputs.l: L must hold JSON: the variable takes list(string)",
    ]
    assert caught.value.exit_code == 10
    host = Host(render, {"L": SECRET}, lambda path: path.read_text(), lambda _: {})
    assert list(host_problems(broken, host)) == caught.value.message.splitlines()


def test_a_template_that_cannot_be_rendered_names_the_input() -> None:
    with pytest.raises(PreflightRefused, match="a null cannot stand in a text") as caught:
        resolve(module({"x": literal("a{{ modules.net.null }}")}))
    assert caught.value.message.startswith("hybridwrap.yaml:9:9  modules.vm.inputs.x: ")


VARIABLES: dict[str, Any] = {name: Variable(name) for name in ("said", "given", "env", "unset")} | {
    "secret": Variable("secret", sensitive=True)
}


def test_values_that_reach_the_engine_by_themselves_are_recorded() -> None:
    environ = {f"TF_VAR_{name}": "from-env" for name in ("said", "given", "env", "undeclared")}
    files = {name: Given(f"{name}-in-file", "x.tfvars") for name in ("said", "given", "secret", "undeclared")}
    resolved = resolve(module({"said": literal(1)}, **VARIABLES), environ=environ, given=files)
    assert resolved.values == {"said": 1}
    assert resolved.outside == {"given": "given-in-file", "env": "from-env", "secret": "secret-in-file"}
    assert resolved.recorded == {
        "said": RecordedInput(1),
        "given": RecordedInput("given-in-file", reference="file:x.tfvars"),
        "env": RecordedInput(sensitive=True, reference="env:TF_VAR_env"),
        "secret": RecordedInput(sensitive=True, reference="file:x.tfvars"),
    }


def test_a_value_of_the_caller_is_recorded_unless_its_variable_is_sensitive() -> None:
    resolved = resolve(module({"env": FromCaller(5), "secret": FromCaller(SECRET)}, **VARIABLES))
    assert resolved.recorded["env"] == RecordedInput(5)
    assert resolved.recorded["secret"] == RecordedInput(sensitive=True, reference="option:-var secret")


def test_the_digest_follows_every_value_that_the_engine_gets() -> None:
    plain = module({"x": literal("{{ modules.net.id }}")}, x=Variable("x"), given=Variable("given"))
    first = inputs_digest(resolve(plain))
    assert len(first) == 64
    assert inputs_digest(resolve(plain)) == first
    assert inputs_digest(resolve(plain, given={"given": Given(1, "f")})) != first
    assert inputs_digest(resolve(module({"x": literal("n-2")}))) != first
    assert inputs_digest(resolve(module({"y": literal("n-1")}))) != first


def test_one_and_true_and_the_text_one_have_different_digests() -> None:
    assert len({inputs_digest(resolve(module({"x": Literal(value)}))) for value in (1, True, "1", Decimal("1.0"))}) == 4


def test_secrets_have_a_digest_only_with_a_key() -> None:
    secret = resolve(module({"x": literal("{{ modules.db.password }}")}))
    assert (inputs_digest(secret), upstream_digest(secret)) == ("", "")
    assert len({inputs_digest(secret, b"k"), inputs_digest(secret, b"l"), upstream_digest(secret, b"k")}) == 3
    outside = resolve(module({"x": FromEnv("E"), "y": literal("{{ modules.net.id }}")}), environ={"E": "e"})
    assert inputs_digest(outside) == ""
    assert upstream_digest(outside) != ""


def test_the_upstream_digest_follows_the_outputs_alone() -> None:
    one = resolve(module({"x": literal("{{ modules.net.id }}"), "y": literal(1)}))
    two = resolve(module({"x": literal("a-{{ modules.net.id }}"), "y": literal(2)}))
    other = resolve(module({"x": literal("{{ modules.net.number }}")}))
    assert upstream_digest(one) == upstream_digest(two) != upstream_digest(other)


def test_the_default_of_a_sensitive_variable_is_hidden_and_changes_nothing_else(tmp_path: Path) -> None:
    text = """
variable "password" {
  sensitive = true
  default   = "the-default"
}
variable "given" {
  sensitive = true
  default   = "not-used"
}
variable "open" { default = "open" }
"""
    (tmp_path / "main.tf").write_text(text)
    assert secret_defaults(tmp_path) == {"password": "the-default", "given": "not-used"}
    assert secret_defaults(tmp_path / "gone") == {}
    variables = {name: Variable(name, required=False, sensitive=True) for name in ("password", "given")}
    module = Module("m", tmp_path, Interface(variables), {"given": FromEnv("G")})
    host = Host(render, {"G": "a-value"}, lambda _: "", lambda _: {}, secret_defaults)
    found = resolve_inputs(module, output=lambda _: None, secret=lambda _: None, host=host)
    assert set(found.secret_values) == {"a-value", "the-default"}
    assert set(found.recorded) == set(found.values) == {"given"}
