"""The form of a manifest: the schema is whole, and its errors are for people."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hybridwrap.adapters.manifest.node import Findings, plain
from hybridwrap.adapters.manifest.reading import parse
from hybridwrap.adapters.manifest.schema_check import check_schema
from hybridwrap.adapters.schemas import load_schema

PRODUCT = """
version: 1
stack: shop
include: ["live/*/hybridwrap.yaml"]
engine: {program: auto, version: ">= 1.10"}
state:  {s3: {bucket: acme-state, key: "{stack}/{environment}/{module}.tfstate", use_lockfile: true}}
ledger: {s3: {bucket: acme-state, prefix: shop/}, encryption: {kms_key_id: alias/hybridwrap}}
defaults:
  var_files: ["env/{environment}.tfvars"]
  inputs: {tags: {team: shop}}
  env: {AWS_PROFILE: dev}
environments:
  prod: {defaults: {env: {AWS_PROFILE: prod}}, account: "111122223333", modules: {vm: {inputs: {size: large}}}}
modules:
  network: {source: modules/network, inputs: {cidr: 10.0.0.0/16}}
  vm:
    source: modules/vm
    engine: {program: tofu}
    state: {local: {path: "{module}.tfstate"}}
    backend_config: ["backend/{environment}.hcl"]
    workspace: "{environment}"
    credentials: {command: [vault, creds]}
    protected: true
    on_destroy: retain
    retry: {on: ["timeout"], attempts: 2, wait: 10s}
    timeout: 1h30m
    verify: {absent: [./gone.sh], timeout: 30}
    hooks: {}
    enabled: true
    watch: ["../shared/*.json"]
    guard: {max_destroys: 3, protected_types: [aws_db_instance]}
    tags: [web]
    inputs: {password: {from_env: VM_PASSWORD}, key: {from_file: key.pem}}
  health: {source: modules/health, depends_on: [vm], owner: vm}
"""
MINIMAL = "version: 1\nstack: s\nmodules: {m: {source: m, %s}}\n"


def complaints(text: str) -> list[str]:
    findings = Findings()
    check_schema(parse(text.encode(), "h.yaml"), findings)
    return [str(problem) for problem in findings.errors]


def test_the_schema_is_a_schema_and_every_part_of_it_is_described() -> None:
    schema = load_schema("stack.v1")
    Draft202012Validator.check_schema(schema)
    bare = [name for name, part in schema["properties"].items() if "description" not in part and "$ref" not in part]
    assert bare == []


def test_the_schema_holds_the_whole_manifest() -> None:
    assert complaints(PRODUCT) == []


def test_an_editor_that_reads_plain_yaml_sees_the_same_manifest() -> None:
    assert not list(Draft202012Validator(load_schema("stack.v1")).iter_errors(plain(parse(PRODUCT.encode(), "h"))))


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ("sorce: x", 'modules.m.sorce: unknown field "sorce"; did you mean "source"?'),
        ("protected: 1", "modules.m.protected: must be true or false, this is the number 1"),
        ("tags: web", 'modules.m.tags: must be a list, this is the text "web"'),
        ("workspace: 5", 'modules.m.workspace: must be a text, this is the number 5; write "5" in quotes'),
        (
            "workspace: {environment}",
            'modules.m.workspace: must be a text, this is a mapping; write "{environment}" in quotes',
        ),
        ("env: {A: true}", 'modules.m.env.A: must be a text, this is true; write "true" in quotes'),
        ("on_destroy: keep", 'modules.m.on_destroy: must be destroy or retain, this is the text "keep"'),
        ("inputs: [a]", "modules.m.inputs: must be a mapping, this is a list"),
        ("timeout: soon", 'modules.m.timeout: "soon" does not fit: a duration is a number of seconds, or hours,'),
        ("guard: {max_destroys: -1}", "modules.m.guard.max_destroys: must be at least 0, this is -1"),
        ("state: {}", "modules.m.state: must not be empty"),
        ("state: {s3: {}, local: {}}", "modules.m.state: only one of these is possible"),
        (
            "state: {s3: {access_key: x}}",
            "modules.m.state.s3.access_key: access_key is not allowed here: credentials go by environment only",
        ),
        ("retry: {attempts: 2}", 'modules.m.retry: "on" is missing'),
    ],
)
def test_a_wrong_field_of_a_module_says_what_is_wanted(field: str, complaint: str) -> None:
    (found,) = complaints(MINIMAL % field)
    assert found.startswith("h.yaml:3:")
    assert complaint in found


@pytest.mark.parametrize("name", ["my vm", "a/b", "a.b.c", "-a", "ü", "x" * 65, ""])
def test_a_name_that_cannot_be_a_key_is_refused(name: str) -> None:
    (found,) = complaints(f'version: 1\nstack: s\nmodules: {{"{name}": {{source: m}}}}\n')
    assert f'"{name}" does not fit: a name is a part of a key' in found
    assert found.startswith("h.yaml:3:11")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("version: 2\nstack: s\nmodules: {}\n", "h.yaml:1:10  version: must be 1, this is the number 2"),
        ("version: true\nstack: s\nmodules: {}\n", "h.yaml:1:10  version: must be 1, this is true"),
        ("version: 1\nstack: s\nmodules:\n", "h.yaml:3:9  modules: must be a mapping, this is nothing"),
        ("version: 1\nstack: s\n", 'h.yaml:1:1  "modules" is missing'),
        ("- version: 1\n", "h.yaml:1:1  must be a mapping, this is a list"),
        (
            "version: 1\nstack: s\nmodules: {}\nmodule: {}\n",
            'h.yaml:4:1  module: unknown field "module"; did you mean "modules"?',
        ),
        (
            "version: 1\nstack: s\nmodules: {}\nenvironments: {dev: {stack: x}}\n",
            'h.yaml:4:22  environments.dev.stack: unknown field "stack"; did you mean "stacks"?',
        ),
    ],
)
def test_a_wrong_field_of_the_stack_says_what_is_wanted(text: str, complaint: str) -> None:
    assert complaints(text) == [complaint]


KEYS = {
    "state": 'version: 1\nstack: s\nstate: {s3: {bucket: b, key: "%s"}}\nmodules: {}\n',
    "ledger": 'version: 1\nstack: s\nledger: {s3: {bucket: b, prefix: "%s"}}\nmodules: {}\n',
}


@pytest.mark.parametrize("what", KEYS)
@pytest.mark.parametrize("key", ["a", "a/b.c/..d/.e", "a b/\u00fc", "{stack}/{environment}"])
def test_a_key_is_made_of_parts(what: str, key: str) -> None:
    assert complaints(KEYS[what] % key) == []


@pytest.mark.parametrize("what", KEYS)
@pytest.mark.parametrize(
    "key", ["/a", "a//b", "a/b//", "..", "../a", "a/../b", "a/..", "./a", r"a\\b", r"a\u0007", r"a\n", r"a\nb", "/"]
)
def test_a_key_that_a_store_or_an_engine_would_refuse_or_change_is_refused_where_it_stands(what: str, key: str) -> None:
    (told,) = complaints(KEYS[what] % key)
    assert told.startswith("h.yaml:3:"), told
    assert "does not fit: a key has parts with one / between them" in told
    assert told.isprintable()


@pytest.mark.parametrize(("what", "most"), [("state", 1017), ("ledger", 512)])
def test_a_key_is_not_longer_than_a_store_takes_with_what_comes_after_it(what: str, most: int) -> None:
    assert complaints(KEYS[what] % ("x" * most)) == []
    (told,) = complaints(KEYS[what] % ("x" * (most + 1)))
    assert told.endswith(f"must have no more than {most} characters")


def test_a_prefix_may_be_empty_or_end_with_a_slash_and_a_key_may_not() -> None:
    assert complaints(KEYS["ledger"] % "") == complaints(KEYS["ledger"] % "a/") == []
    assert complaints(KEYS["state"] % "") == ["h.yaml:3:30  state.s3.key: must not be empty"]
    assert len(complaints(KEYS["state"] % "a/")) == 1


@pytest.mark.parametrize("where", ["state: {local: {path: %s}}", "ledger: {folder: %s}"])
def test_a_path_has_no_control_character(where: str) -> None:
    text = "version: 1\nstack: s\n" + where + "\nmodules: {}\n"
    assert complaints(text % '"../a//b"') == []
    (told,) = complaints(text % r'"a\0b"')
    assert "a path has no control character in it" in told


def test_the_schema_lies_in_the_checkout_or_in_the_wheel() -> None:
    root = Path(__file__).parents[2]
    wheel = (root / "pyproject.toml").read_text(encoding="utf-8")
    assert '"schemas" = "hybridwrap/schemas"' in wheel
