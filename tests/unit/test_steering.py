"""Which variables a provider may depend on, so that no value is made up for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.adapters.steering import steering

REST = """
variable "a" {}
variable "b" {}
resource "x" "y" { name = var.b }
output "o" { value = var.b }
"""


def found(folder: Path, text: str, name: str = "main.tf") -> frozenset[str]:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return steering(folder, tofu=False)


@pytest.mark.parametrize(
    "text",
    [
        'provider "aws" { region = var.a }',
        'provider "aws" {\n  assume_role { role_arn = "arn:${var.a}" }\n}',
        'provider "aws" { region = local.r }\nlocals { r = var.a }',
        'provider "k8s" { host = data.eks.e.endpoint }\ndata "eks" "e" { name = local.n }\nlocals { n = var.a }',
        'provider "k8s" { host = module.m.endpoint }\nmodule "m" {\n  source = "x/y"\n  name = var.a\n}',
        'provider "k8s" { token = ephemeral.t.t.v }\nephemeral "t" "t" { name = var.a }',
    ],
)
def test_a_variable_that_reaches_a_provider_steers_it(tmp_path: Path, text: str) -> None:
    assert found(tmp_path / "m", f"{text}\n{REST}") == {"a"}


@pytest.mark.parametrize("text", ["", 'provider "aws" {}', 'locals { r = var.a }\nprovider "aws" { region = "x" }'])
def test_one_that_reaches_none_does_not(tmp_path: Path, text: str) -> None:
    assert found(tmp_path / "m", f"{text}\n{REST}") == frozenset()


def test_a_provider_in_the_json_form_is_seen_too(tmp_path: Path) -> None:
    text = '{"provider": {"aws": {"region": "${var.a}"}}, "variable": {"a": {}}}'
    assert found(tmp_path / "m", text, "main.tf.json") == {"a"}


def test_what_is_given_to_a_child_module_with_a_provider_of_its_own_steers_it(tmp_path: Path) -> None:
    (tmp_path / "child").mkdir()
    (tmp_path / "child/main.tf").write_text('variable "r" {}\nprovider "aws" { region = var.r }\n')
    call = 'module "c" {\n  source = "../child"\n  r = var.a\n}\n'
    assert found(tmp_path / "m", call + REST) == {"a"}
    (tmp_path / "child/main.tf").write_text('variable "r" {}\n')
    assert found(tmp_path / "m", call + REST) == frozenset()
