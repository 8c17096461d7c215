"""Stand-ins: the same graph, variables and outputs, values that fit, and nothing that is secret."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from hybridwrap.adapters.hcl import read_native
from hybridwrap.adapters.manifest import load_stack
from hybridwrap.adapters.rehearsal.hcl_text import hcl, module_text
from hybridwrap.adapters.rehearsal.writing import write_copy
from hybridwrap.adapters.templates import render
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.record import Record
from hybridwrap.domain.rehearsal import Failure, read_failure, refuse_impossible, telling_failures, torn_down
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.stand_ins import StandIn, stand_ins
from hybridwrap.errors import PreflightRefused, UsageError
from tests.support.manifests import load, write_stack

NET = """
    variable "cidr" { type = string }
    variable "token" {
      type      = string
      sensitive = true
      default   = "in-the-source"
    }
    output "id" { value = 1 }
    output "subnets" { value = [] }
    output "password" {
      value     = 1
      sensitive = true
    }
"""
VM = """
    variable "net" { type = string }
    variable "subnets" { type = map(object({
      zone = string
      public = optional(bool, true)
    })) }
    variable "zone" { default = "a" }
    variable "count_of" { type = number }
    variable "password" {
      type      = string
      sensitive = true
    }
    output "id" { value = 1 }
"""
POOL = """
    variable "first" {}
    variable "all" { type = map(string) }
    variable "size" { type = number }
"""
SHOP = """
    version: 1
    stack: shop
    environments: {dev: {}, prod: {}}
    modules:
      net:
        source: net
        protected: true
        inputs: {cidr: 10.0.0.0/16, token: hunter2}
      vm:
        source: vm
        for_each: {web: {}, db-1: {}}
        tags: ["{each.key}"]
        retry: {on: [timeout], wait: 10m}
        timeout: 30h
        inputs:
          net: "vpc-{{ modules.net.id }}"
          subnets: "{{ modules.net.subnets }}"
          zone: "{{ modules.net.subnets.a.zone }}"
          count_of: {from_env: HOW_MANY}
          password: "{{ modules.net.password }}"
      pool:
        source: pool
        owner: vm.web
        inputs:
          first: "{{ modules.vm.web.id }}"
          all: "{{ modules.vm['*'].id }}"
          size: "{{ modules.net.id | length }}"
      off: {source: pool, enabled: false}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Stack:
    return load(write_stack(tmp_path, SHOP, {"net": NET, "vm": VM, "pool": POOL}), environment="prod")


def made(stack: Stack, **outputs: Json) -> dict[str, StandIn]:
    """All stand-ins; `outputs` are what the ledger has of net."""
    known = {name: Output(Provenance.KNOWN, value=value) for name, value in outputs.items()}
    return dict(stand_ins(stack, tuple(stack.modules), {"net": Record("net", outputs=known)}, render))


def test_values_are_those_of_the_ledger_where_they_fit_else_made_up(shop: Stack) -> None:
    found = made(shop, id="vpc-1", subnets=["wrong", "type"], password="hunter2")["net"].outputs
    assert (found["id"].value, found["id"].recalled) == ("vpc-1", True)
    assert found["subnets"].value == {"stand-in": {"zone": "stand-in-subnets"}}
    assert found["password"].sensitive
    assert "hunter2" not in str(found["password"].value)


def test_an_input_is_kept_as_long_as_it_gets_a_value_that_its_variable_takes(shop: Stack) -> None:
    found = made(shop)["vm.web"]
    assert found.inputs["net"] == "vpc-{{ modules.net.id }}"
    assert found.inputs["subnets"] == "{{ modules.net.subnets }}"
    assert found.inputs["zone"] == "stand-in-zone"  # what is made up has no `a`
    assert found.inputs["count_of"] == 1
    assert found.inputs["password"] == "{{ modules.net.password }}"
    assert made(shop, subnets={"a": {"zone": "z"}})["vm.web"].inputs["zone"] == "{{ modules.net.subnets.a.zone }}"


def test_a_number_that_the_copy_could_not_say_is_made_up(tmp_path: Path) -> None:
    manifest = "{version: 1, stack: s, modules: {m: {source: m, inputs: {size: 0.00000015, more: [0.5]}}}}"
    sources = {"m": 'variable "size" { type = number }\nvariable "more" {}\n'}
    stack = load(write_stack(tmp_path, manifest, sources))
    assert made(stack)["m"].inputs == {"size": 1, "more": [Decimal("0.5")]}


def test_the_copy_has_the_graph_of_the_stack_and_nothing_secret(shop: Stack, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    write_copy(copy, shop, made(shop, id="vpc-1"), [Failure("vm.web", "apply")])
    again = load_stack(copy / "hybridwrap.yaml", environment=None, environ={})
    assert (again.name, again.environment) == ("shop-rehearsal", "prod")
    for name, module in shop.modules.items():
        copied = again.modules[name]
        assert (copied.needs, copied.owner, copied.tags) == (module.needs, module.owner, module.tags)
        assert (copied.protected, copied.timeout_seconds) == (module.protected, module.timeout_seconds)
        assert (copied.retry.on, copied.retry.wait_seconds) == (module.retry.on, 0)
        assert copied.interface.variables.keys() == module.interface.variables.keys()
        assert copied.interface.outputs.keys() == module.interface.outputs.keys()
    assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in [copy, *(f for f in copy.rglob("*") if f.is_dir())])
    texts = "".join(file.read_text() for file in copy.rglob("*") if file.is_file() and ".hybridwrap" not in file.parts)
    assert "hunter2" not in texts
    assert "in-the-source" not in texts


def test_a_folder_with_anything_in_it_is_left_alone(shop: Stack, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine").touch()
    with pytest.raises(PreflightRefused, match="not empty"):
        write_copy(tmp_path / "copy", shop, made(shop), [])
    assert [file.name for file in (tmp_path / "copy").iterdir()] == ["mine"]


@pytest.mark.parametrize("text", ["${x} %{if} $${y} \\${z}", 'a"b\\', "\b\f\n\t\x00\x1f", "ü😀", "\\b", "%%{", "/"])
def test_a_text_comes_out_of_hcl_as_it_went_in(text: str) -> None:
    block = read_native(f"a = {hcl({text: [text, 1.5, None]})}\n".encode(), "x.tf")
    assert block.attributes["a"].value == {text: [text, 1.5, None]}


def test_half_of_the_outputs_are_there_after_a_failure_in_the_middle(shop: Stack) -> None:
    text = module_text(made(shop)["net"])
    assert text.count("terraform_data.first.output") == 1
    assert text.count("terraform_data.second.output") == 2


def test_nobody_chose_so_the_module_fails_on_which_most_depends_and_that_is_no_root(shop: Stack) -> None:
    assert telling_failures(shop.modules) == (Failure("vm.db-1", "apply"), Failure("vm.db-1", "destroy"))
    alone = {"net": shop.modules["net"]}
    assert telling_failures(alone) == (Failure("net", "apply"),)  # it is protected
    assert telling_failures({}) == ()


def test_what_goes_with_its_owner_or_is_protected_has_no_teardown_of_its_own(shop: Stack) -> None:
    assert torn_down(shop.modules) == {"vm.web", "vm.db-1"}


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["vm"], "not rehearsed"),
        (["vm.web:plan"], "fails in apply or destroy"),
        (["pool:destroy"], "goes with its owner"),
        (["net:destroy"], "it stays"),
        (["vm.web", "vm.web:apply"], "twice"),
    ],
)
def test_what_cannot_come_to_happen_is_refused(shop: Stack, texts: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        refuse_impossible(shop.modules, [read_failure(text, kill=False) for text in texts])
