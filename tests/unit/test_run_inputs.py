"""What a run keeps of its inputs, and how another machine gives them to the modules again."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.templates import render
from hybridwrap.domain.inputs import Given, Host, own_secrets
from hybridwrap.domain.inputs_again import with_inputs_of_run
from hybridwrap.domain.json import Json
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.run_inputs import (
    RunInput,
    changes,
    decode_inputs,
    described,
    encode_inputs,
    inputs_of,
    other_secrets,
    with_digests,
    withheld,
)
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


def no_secret(_stack: Stack) -> Redaction:
    return Redaction()


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
    again = with_inputs_of_run(stack(changed, elsewhere), kept, "R1", host(), no_secret).modules["vm"]
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
    assert (
        with_inputs_of_run(stack(vm({}, secret)), kept, "R1", host(), no_secret).modules["vm"].inputs == module.inputs
    )


def test_a_secret_that_was_written_in_the_manifest_is_taken_from_there_again() -> None:
    secret = Variable("secret", sensitive=True)
    kept = {"vm": inputs_of(vm({"secret": Literal("old")}, secret), host(), ROOT)}
    again = with_inputs_of_run(stack(vm({"secret": Literal("new")}, secret)), kept, "R1", host(), no_secret)
    assert again.modules["vm"].inputs == {"secret": Literal("new")}


def test_what_the_caller_gives_now_beats_what_the_run_had() -> None:
    kept = {"vm": inputs_of(vm(ALL), host(), ROOT)}
    now = vm({**ALL, "size": FromCaller("small")})
    assert with_inputs_of_run(stack(now), kept, "R1", host(), no_secret).modules["vm"].inputs["size"] == FromCaller(
        "small"
    )


def test_a_variable_file_that_says_the_same_is_left_to_the_engine_and_another_value_is_overruled() -> None:
    module = vm({}, Variable("size", required=False), Variable("zone", required=False))
    kept = {"vm": inputs_of(module, host(size="small", zone="a"), ROOT)}
    again = with_inputs_of_run(stack(module), kept, "R1", host(size="large", zone="a"), no_secret)
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
        with_inputs_of_run(stack(now), kept, "R1", host(), no_secret)
    assert said in refused.value.message.splitlines()
    assert "--inputs current" in refused.value.hint


def test_a_circle_that_the_old_references_close_is_refused() -> None:
    kept = {"vm": inputs_of(vm({"x": Literal("{{ modules.net.id }}", (ID,))}), host(), ROOT)}
    now = stack(vm({"x": Literal(1)}))
    turned = replace(now, modules={**now.modules, "net": replace(now.modules["net"], depends_on=("vm",))})
    with pytest.raises(PreflightRefused, match="in a circle: net -> vm -> net"):
        with_inputs_of_run(turned, kept, "R1", host(), no_secret)


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


def known_secret(_stack: Stack) -> Redaction:
    return Redaction([SECRET])


DSN = f"db://u:{SECRET}@host"
PLAIN = Variable("dsn", required=False)


@pytest.mark.parametrize("stands", ["manifest", "file"])
def test_a_value_with_a_known_secret_in_it_is_left_where_it_stands(stands: str) -> None:
    def there(value: str) -> tuple[Module, Host]:
        return (vm({"dsn": Literal(value)}), host()) if stands == "manifest" else (vm({}, PLAIN), host(dsn=value))

    def again(value: str) -> Mapping[str, Input]:
        module, now = there(value)
        return with_inputs_of_run(stack(module), kept, "R1", now, known_secret).modules["vm"].inputs

    module, then = there(DSN)
    data = encode_inputs({"vm": withheld(known_secret(stack(module)), inputs_of(module, then, ROOT))})
    kept = decode_inputs(data)
    assert SECRET.encode() not in data
    assert again(DSN) == module.inputs
    where = "the manifest" if stands == "manifest" else "env/dev.tfvars"
    said = f"vm.dsn: with a secret in it, it was left in {where}, which has another value now"
    for other in ("db://u:another@host", DSN + "/x"):
        with pytest.raises(PreflightRefused) as refused:
            again(other)
        assert said in refused.value.message.splitlines()


def test_a_secret_that_is_another_one_in_both_places_is_that_of_now() -> None:
    module = vm({"dsn": Literal(DSN), "password": FromEnv("P")})
    kept = {"vm": withheld(Redaction([SECRET]), inputs_of(module, host(), ROOT))}
    now = vm({"dsn": Literal(DSN.replace(SECRET, "rotated")), "password": FromEnv("P")})
    again = with_inputs_of_run(stack(now), kept, "R1", host(), lambda _: Redaction(["rotated"]))
    assert again.modules["vm"].inputs == now.inputs


def test_a_value_with_a_known_secret_in_it_that_the_caller_gave_has_to_be_given_again() -> None:
    module = vm({"dsn": FromCaller(DSN)})
    kept = {"vm": withheld(Redaction([SECRET]), inputs_of(module, host(), ROOT))}
    for now in (vm({}, PLAIN), vm({"dsn": Literal("of the manifest")})):
        with pytest.raises(PreflightRefused, match=r"vm\.dsn: a secret that was given with the command"):
            with_inputs_of_run(stack(now), kept, "R1", host(dsn="of a file"), known_secret)
    again = with_inputs_of_run(stack(module), kept, "R1", host(), known_secret)
    assert again.modules["vm"].inputs == module.inputs


def test_with_a_key_it_is_known_which_secrets_are_others_by_now() -> None:
    secret = Variable("secret", required=False, sensitive=True)
    sources: Mapping[str, Input] = {"password": FromEnv("P"), "secret": Literal("same"), "size": Literal("small")}

    def kept(password: str, key: bytes) -> Mapping[str, RunInput]:
        module, now = vm(sources, secret), host({"P": password})
        return with_digests(inputs_of(module, now, ROOT), own_secrets(module, now), key)

    was = kept("then", b"key")
    assert other_secrets(was, kept("now", b"key")) == ("password",)
    assert changes(was, kept("now", b"key")) == (), "that is said apart: resume does not promise to keep them"
    assert other_secrets(was, kept("then", b"key")) == ()
    assert other_secrets(was, kept("now", b"")) == (), "no key, no digest"
    assert not any(word in encode_inputs({"vm": was}) for word in (b"then", b"same"))
