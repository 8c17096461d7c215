"""What a run keeps of its inputs, and how another machine gives them to the modules again."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.templates import render
from hybridwrap.domain.inputs import Given, Host
from hybridwrap.domain.inputs_again import with_inputs_of_run
from hybridwrap.domain.json import Json
from hybridwrap.domain.run_inputs import changes, decode_inputs, described, encode_inputs, inputs_of
from hybridwrap.domain.stack import (
    DeclaredOutput,
    FromCaller,
    FromEnv,
    FromFile,
    Input,
    Interface,
    LedgerSettings,
    Literal,
    Module,
    Reference,
    Stack,
    Variable,
)
from hybridwrap.errors import PreflightRefused

ROOT = Path("/home/ana/shop")
SECRET = "hunter2"
ID = Reference("net", "id")


def host(environ: Mapping[str, str] | None = None, **given: Json) -> Host:
    files = {name: Given(value, "env/dev.tfvars") for name, value in given.items()}
    return Host(render, environ or {}, lambda _: SECRET, lambda _: files)


def vm(inputs: Mapping[str, Input], *more: Variable) -> Module:
    plain = {name: Variable(name, required=False) for name in inputs}
    variables = plain | {variable.name: variable for variable in more}
    return Module("vm", ROOT / "vm", Interface(variables), inputs)


def stack(module: Module, root: Path = ROOT, *others: Module) -> Stack:
    net = Module("net", root / "net", Interface(outputs={"id": DeclaredOutput("id")}))
    return Stack("shop", "dev", root / "hybridwrap.yaml", {m.name: m for m in (net, module, *others)}, LedgerSettings())


ALL: Mapping[str, Input] = {
    "size": Literal({"cpus": 2, "share": Decimal("0.10")}, place="hybridwrap.yaml:9:12"),
    "subnet": Literal("{{ modules.net.id }}", (ID,)),
    "name": FromCaller("{{ not a template }}"),
    "password": FromEnv("VM_PASSWORD"),
    "key": FromFile(ROOT / "keys" / "vm.pem", "keys/vm.pem"),
}


def test_inputs_come_back_as_they_were_in_another_checkout() -> None:
    kept = decode_inputs(encode_inputs({"vm": inputs_of(vm(ALL), host(), ROOT)}))
    elsewhere = Path("/builds/7/shop")
    changed = vm({"size": Literal("huge"), "added": Literal(1)}, *vm(ALL).interface.variables.values())
    again = with_inputs_of_run(stack(changed, elsewhere), kept, "R1", host()).modules["vm"]
    expected = {**ALL, "key": FromFile(elsewhere / "keys" / "vm.pem", "keys/vm.pem")}
    assert again.inputs == expected
    assert again.needs == ("net",)


def test_no_secret_is_kept() -> None:
    secret = Variable("secret", required=False, sensitive=True)
    inputs: Mapping[str, Input] = {"password": FromEnv("P"), "secret": Literal(SECRET)}
    for module in (vm(inputs, secret), vm({"secret": FromCaller(SECRET)}, secret), vm({}, secret)):
        kept = encode_inputs({"vm": inputs_of(module, host({"P": SECRET, "TF_VAR_secret": SECRET}), ROOT)})
        assert SECRET.encode() not in kept
        assert kept != b'{"vm":{}}'


def test_a_bare_reference_to_a_secret_is_kept_as_it_is_written() -> None:
    secret = Variable("secret", sensitive=True)
    module = vm({"secret": Literal("{{ modules.net.id }}", (ID,))}, secret)
    kept = {"vm": inputs_of(module, host(), ROOT)}
    assert with_inputs_of_run(stack(vm({}, secret)), kept, "R1", host()).modules["vm"].inputs == module.inputs


def test_a_secret_that_was_written_in_the_manifest_is_taken_from_there_again() -> None:
    secret = Variable("secret", sensitive=True)
    kept = {"vm": inputs_of(vm({"secret": Literal("old")}, secret), host(), ROOT)}
    again = with_inputs_of_run(stack(vm({"secret": Literal("new")}, secret)), kept, "R1", host())
    assert again.modules["vm"].inputs == {"secret": Literal("new")}


def test_what_the_caller_gives_now_beats_what_the_run_had() -> None:
    kept = {"vm": inputs_of(vm(ALL), host(), ROOT)}
    now = vm({**ALL, "size": FromCaller("small")})
    assert with_inputs_of_run(stack(now), kept, "R1", host()).modules["vm"].inputs["size"] == FromCaller("small")


def test_a_variable_file_that_says_the_same_is_left_to_the_engine_and_another_value_is_overruled() -> None:
    module = vm({}, Variable("size", required=False), Variable("zone", required=False))
    kept = {"vm": inputs_of(module, host(size="small", zone="a"), ROOT)}
    again = with_inputs_of_run(stack(module), kept, "R1", host(size="large", zone="a"))
    assert again.modules["vm"].inputs == {"size": FromCaller("small")}


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        (vm({"gone": Literal(1)}), vm({}), "vm.gone: the module declares no such variable any more"),
        (
            vm({"s": FromCaller(SECRET)}, Variable("s", sensitive=True)),
            vm({}, Variable("s", sensitive=True)),
            "vm.s: a secret that was given with the command and is kept nowhere",
        ),
        (
            vm({"s": Literal(SECRET)}, Variable("s", sensitive=True)),
            vm({}, Variable("s", sensitive=True)),
            "vm.s: a secret that was written in the manifest and is not there any more",
        ),
        (
            vm({}, Variable("s", sensitive=True)),
            vm({}, Variable("s", sensitive=True)),
            "vm.s: a secret that came from env:TF_VAR_s, which does not give it any more",
        ),
        (vm({}), vm({}, Variable("new")), "vm.new: the module needs it now, and the run did not have it"),
        (
            vm({"x": Literal("{{ modules.old.id }}", (Reference("old", "id"),))}),
            vm({"x": Literal(1)}),
            "vm: it used old.id, which is not declared any more",
        ),
        (
            vm({"x": Literal("{{ modules.net.gone }}", (Reference("net", "gone"),))}),
            vm({"x": Literal(1)}),
            "vm: it used net.gone, which is not declared any more",
        ),
    ],
)
def test_what_can_not_be_had_or_does_not_fit_any_more_is_refused(was: Module, now: Module, said: str) -> None:
    kept = {"vm": inputs_of(was, host({"TF_VAR_s": SECRET}), ROOT)}
    with pytest.raises(PreflightRefused) as refused:
        with_inputs_of_run(stack(now), kept, "R1", host())
    assert said in refused.value.message.splitlines()
    assert "--inputs current" in refused.value.hint


def test_a_circle_that_the_old_references_close_is_refused() -> None:
    kept = {"vm": inputs_of(vm({"x": Literal("{{ modules.net.id }}", (ID,))}), host(), ROOT)}
    now = stack(vm({"x": Literal(1)}))
    turned = replace(now, modules={**now.modules, "net": replace(now.modules["net"], depends_on=("vm",))})
    with pytest.raises(PreflightRefused, match="in a circle: net -> vm -> net"):
        with_inputs_of_run(turned, kept, "R1", host())


def test_what_differs_is_told_without_secrets() -> None:
    secret = Variable("secret", required=False, sensitive=True)
    was = vm({"size": Literal("small"), "old": Literal(1), "same": Literal(2), "pw": FromEnv("A")}, secret)
    now = vm({"size": Literal("large"), "same": Literal(2), "pw": FromEnv("B"), "secret": FromCaller(SECRET)}, secret)
    told = changes(*(described([module], host(), ROOT)["vm"] for module in (was, now)))
    assert list(map(str, told)) == [
        "old 1 -> (not set)",
        "pw env:A -> env:B",
        "secret (not set) -> (secret, caller)",
        'size "small" -> "large"',
    ]
