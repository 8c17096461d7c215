"""Failure drills on a copy: really played, told as the page shows, and nothing of the real stack touched."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hybridwrap.adapters.rehearsal.writing import write_copy
from hybridwrap.adapters.schemas import load_schema
from hybridwrap.adapters.templates import render
from hybridwrap.domain.shapes import Shape, sample
from hybridwrap.domain.stand_ins import stand_ins
from tests.support import s3_servers
from tests.support.manifests import load, write_stack
from tests.support.pages import Check, Screen
from tests.support.project import Project
from tests.support.s3_servers import Server
from tests.unit.test_shapes import SHAPES

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
modules:
  network: {source: network, inputs: {cidr: 10.0.0.0/16}}
  vm:
    source: vm
    inputs: {subnets: "{{ modules.network.subnets }}", password: {from_env: VM_PASSWORD}}
  configuration: {source: configuration, owner: vm, inputs: {vm_id: "{{ modules.vm.id }}"}}
  health:
    source: health
    inputs: {address: "{{ modules.vm.address }}", release: "{{ modules.configuration.release }}"}
"""
NETWORK = """
variable "cidr" { type = string }
resource "terraform_data" "net" { input = var.cidr }
output "subnets" { value = { a = { cidr = terraform_data.net.output, public = true } } }
"""
VM = """
variable "subnets" {
  type = map(object({
    cidr   = string
    public = optional(bool, false)
  }))
}
variable "password" {
  type      = string
  sensitive = true
}
variable "size" {
  type    = string
  default = "small"
  validation {
    condition     = length(var.size) < 9
    error_message = "too large"
  }
}
resource "terraform_data" "vm" { input = [var.subnets, var.size] }
output "id" { value = "vm-1" }
output "address" { value = "10.0.0.7" }
"""
CONFIGURATION = """
variable "vm_id" { type = string }
resource "terraform_data" "it" { input = var.vm_id }
output "release" { value = "1.0" }
"""
HEALTH = 'variable "address" {}\nvariable "release" {}\nresource "terraform_data" "it" { input = var.address }\n'
SOURCES = {"network": NETWORK, "vm": VM, "configuration": CONFIGURATION, "health": HEALTH}
SECRET = "hunter2-hunter2"


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    project = Project(tmp_path / "shop", {"VM_PASSWORD": SECRET})
    project.root.mkdir()
    project.write(STACK, **SOURCES)
    return project


def digests(folder: Path) -> Mapping[str, str]:
    return {
        str(file.relative_to(folder)): sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file() and "cache" not in file.parts
    }


def contents(server: Server, bucket: str) -> Mapping[str, str]:
    return {item["Key"]: item["ETag"] for item in server.client().list_objects_v2(Bucket=bucket)["Contents"]}


def test_a_drill(shop: Project, check: Check) -> None:
    assert shop.apply().code == 0
    before = digests(shop.root)
    screen = Screen(shop)
    told = screen.type("hybridwrap rehearse --parallelism 1")  # else lines may come in another order
    assert digests(shop.root) == before
    assert list((shop.root / ".hybridwrap/rehearsals").iterdir()) == []
    assert SECRET not in told
    check("rehearse", screen)


def test_a_drill_without_an_engine_leaves_nothing(shop: Project) -> None:
    shop.write(STACK + "engine: {program: ./nothing}\n", **SOURCES)
    ran = shop.run("rehearse")
    assert ran.code == 10, ran.text
    assert "can't be played: `hybridwrap apply` ended with exit code 40" in ran.err
    assert list((shop.root / ".hybridwrap/rehearsals").iterdir()) == []


def test_a_drill_for_somebody_to_go_on_from(shop: Project, check: Check) -> None:
    screen = Screen(shop)
    screen.type("hybridwrap rehearse health --fail vm --practise --folder drill")
    copy = Project(shop.root / "drill", {"VM_PASSWORD": SECRET})
    assert copy.statuses() == {"network": "ok", "vm": "error", "configuration": "pending", "health": "pending"}
    (copy.root / "failures/vm.apply").unlink()
    assert copy.run("resume", "--auto-approve").code == 0
    assert not [file for file in copy.root.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert shop.run("rehearse", "--practise", "--folder", "drill").code == 10
    check("rehearse-practise", screen)


def test_runners_that_vanish(shop: Project, engine_program: str) -> None:
    shop.write(STACK + f"engine: {{program: {engine_program}}}\n", **SOURCES)
    ran = shop.run("rehearse", "--kill", "vm", "--kill", "vm:destroy", "--json")
    assert ran.code == 0, ran.text
    Draft202012Validator(load_schema("rehearsal.v1")).validate(ran.json)
    assert ran.json["holds"]
    assert ran.json["folder"] == ""
    assert ran.err.count("killed, with the engine of vm") == 2
    for typed in (
        "$ hybridwrap sync",
        "$ hybridwrap reconcile vm --absent terraform_data.second",
        "$ hybridwrap reconcile vm --complete terraform_data.first",
        "$ hybridwrap verify vm --gone",
    ):
        assert typed in ran.err


def test_a_stack_whose_ledger_is_in_a_bucket_is_only_read(shop: Project, moto: Server) -> None:
    bucket = moto.make_bucket("rehearsed")
    s3 = Project(shop.root, {**shop.environ, **s3_servers.environment()})
    s3.write(STACK + moto.state(bucket), **SOURCES)
    assert s3.apply("network").code == 0
    before = contents(moto, bucket)
    told = s3.run("rehearse", "--practise", "--fail", "network", "--folder", "drill").text
    assert "1 of 4 outputs as the ledger has them" in told
    assert contents(moto, bucket) == before
    assert "s3" not in (shop.root / "drill/hybridwrap.yaml").read_text()


@pytest.mark.parametrize("modules", ["{}"])
def test_without_modules_there_is_nothing_to_rehearse(shop: Project, modules: str) -> None:
    shop.write(f"version: 1\nstack: shop\nmodules: {modules}\n")
    ran = shop.call("rehearse")
    assert (ran.code, ran.out) == (0, "nothing to rehearse: the stack has no modules\n")


@settings(max_examples=3, derandomize=True)
@given(st.lists(SHAPES, min_size=20, max_size=20))
def test_every_stand_in_is_taken_by_the_engine(tmp_path_factory: pytest.TempPathFactory, shapes: list[Shape]) -> None:
    root = tmp_path_factory.mktemp("typed")
    names = [f"v{number}" for number in range(len(shapes))]
    variables = "".join(f'variable "{n}" {{ type = {shape} }}\n' for n, shape in zip(names, shapes, strict=True))
    outputs = "".join(f'output "{n}" {{ value = 1 }}\n' for n in names)
    given_ = ", ".join(f'{n}: "{{{{ modules.up.{n} }}}}"' for n in names)
    manifest = (
        f"version: 1\nstack: typed\nmodules: {{up: {{source: up}}, down: {{source: down, inputs: {{{given_}}}}}}}\n"
    )
    stack = load(write_stack(root / "real", manifest, {"up": outputs, "down": variables}))
    made = stand_ins(stack, ("up", "down"), {}, render)
    assert [made["up"].outputs[n].value for n in names] == [
        sample(s, f"stand-in-{n}") for n, s in zip(names, shapes, strict=True)
    ]
    write_copy(root / "copy", stack, made, [])
    ran = Project(root / "copy").apply()
    assert ran.code == 0, ran.text
