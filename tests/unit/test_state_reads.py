"""A `terraform_remote_state` whose place is a declared module's is an edge of kind `state`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.manifests import EMPTY, load, problems, write_stack

HEAD = "version: 1\nstack: s\n"


def s3(key: str) -> str:
    return f'terraform {{\n  backend "s3" {{\n    bucket = "acme"\n    key    = "{key}"\n  }}\n}}\n{EMPTY}'


def reader(config: str, more: str = "") -> str:
    return f"""
        data "terraform_remote_state" "net" {{
          backend = "s3"
          {config}
        }}
        {more}
    """


def reads(tmp_path: Path, modules: str, folders: dict[str, str], environment: str | None = None) -> dict[str, str]:
    """What the module vm reads, twice: checked, and remembered."""
    file = write_stack(tmp_path, f"{HEAD}{modules}", folders)
    first, again = (load(file, environment).modules["vm"].reads for _ in range(2))
    assert first == again
    return dict(first)


NET = "modules:\n  net: {source: net}\n  vm: {source: vm}\n"


def test_a_state_that_is_written_out_makes_its_reader_come_after(tmp_path: Path) -> None:
    config = 'config = { bucket = "acme", key = "net.tfstate", region = var.region }'
    folders = {"net": s3("net.tfstate"), "vm": reader(config, 'variable "region" { default = "eu" }')}
    assert reads(tmp_path, NET, folders) == {"net": "vm/main.tf:2"}
    module = load(tmp_path / "hybridwrap.yaml").modules["vm"]
    assert module.needs == ("net",)
    assert module.edges == {"net": ("state",)}


@pytest.mark.parametrize(
    ("config", "more"),
    [
        ('config = { bucket = var.bucket, key = "net.tfstate" }', 'variable "bucket" { default = "acme" }'),
        (
            'config = { bucket = local.bucket\n key = "${local.name}.tfstate" }',
            'locals {\n bucket = "acme"\n name = "net"\n }',
        ),
        (
            'config = { bucket = "acme", key = local.key }',
            'variable "n" { default = "net" }\nlocals {\n key = "${local.n}.tfstate"\n n = var.n\n}',
        ),
        ('config = { bucket = "acme", key = "${terraform.workspace == "" ? "a" : "b"}" }\n  workspace = "x"', "none"),
        ('config = { bucket = "acme", key = "${var.unknown}.tfstate" }', "none"),
        ("config = merge(var.base, {})", "none"),
    ],
    ids=["default", "locals", "locals of variables", "computed", "no value", "no object"],
)
def test_names_are_followed_as_far_as_their_values_are_written_down(tmp_path: Path, config: str, more: str) -> None:
    found = reads(tmp_path, NET, {"net": s3("net.tfstate"), "vm": reader(config, "" if more == "none" else more)})
    assert found == ({} if more == "none" else {"net": "vm/main.tf:2"})


def test_inputs_beat_variable_files_and_those_beat_defaults(tmp_path: Path) -> None:
    folders = {
        "net": s3("net.tfstate"),
        "vm": reader(
            'config = { bucket = var.bucket, key = "${var.name}.tfstate" }',
            'variable "bucket" { default = "no" }\nvariable "name" { default = "no" }',
        ),
    }
    (tmp_path / "vm").mkdir()
    (tmp_path / "vm" / "terraform.tfvars").write_text('bucket = "acme"\nname = "still-no"\n')
    modules = "modules:\n  net: {source: net}\n  vm: {source: vm, inputs: {name: net}}\n"
    assert reads(tmp_path, modules, folders) == {"net": "vm/main.tf:2"}


def test_workspaces_are_the_reader_s_own(tmp_path: Path) -> None:
    modules = """\
environments: {dev: {}, prod: {}}
defaults: {workspace: "{environment}"}
modules:
  net: {source: net}
  vm: {source: vm}
"""
    config = 'workspace = terraform.workspace\n  config = { bucket = "acme", key = "net.tfstate" }'
    folders = {"net": s3("net.tfstate"), "vm": s3("vm.tfstate") + reader(config)}
    assert set(reads(tmp_path, modules, folders, "prod")) == {"net"}
    other = reader('config = { bucket = "acme", key = "env:/prod/net.tfstate" }')
    (tmp_path / "vm" / "main.tf").write_text(s3("vm.tfstate") + other)
    assert load(tmp_path / "hybridwrap.yaml", "dev").modules["vm"].reads == {}
    assert set(load(tmp_path / "hybridwrap.yaml", "prod").modules["vm"].reads) == {"net"}


def test_a_local_state_is_read_by_its_path(tmp_path: Path) -> None:
    config = 'config = { path = "${path.module}/../net/terraform.tfstate" }'
    local = f'data "terraform_remote_state" "net" {{\n  backend = "local"\n  {config}\n}}'
    modules = "modules:\n  net: {source: net, state: {local: {path: net/terraform.tfstate}}}\n  vm: {source: vm}\n"
    assert reads(tmp_path, modules, {"net": EMPTY, "vm": local}) == {"net": "vm/main.tf:1"}


def test_the_json_form_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "vm").mkdir()
    (tmp_path / "vm" / "read.tf.json").write_text(
        '{"variable": {"n": {"default": "net"}}, "data": {"terraform_remote_state": {"net":'
        ' {"backend": "s3", "config": {"bucket": "acme", "key": "${var.n}.tfstate"}}}}}'
    )
    assert set(reads(tmp_path, NET, {"net": s3("net.tfstate"), "vm": EMPTY})) == {"net"}


def test_two_that_read_each_other_are_a_cycle_that_says_where(tmp_path: Path) -> None:
    def one(name: str, other: str) -> str:
        return s3(f"{name}.tfstate") + reader(f'config = {{ bucket = "acme", key = "{other}.tfstate" }}')

    file = write_stack(
        tmp_path, f"{HEAD}modules:\n  a: {{source: a}}\n  b: {{source: b}}\n", {"a": one("a", "b"), "b": one("b", "a")}
    )
    assert problems(file) == [
        "hybridwrap.yaml:4:3  modules.a: cycle: a -> b -> a; a reads the state of b (a/main.tf:8); "
        "b reads the state of a (b/main.tf:8)"
    ]
