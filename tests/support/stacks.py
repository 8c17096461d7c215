"""Small stacks, written to a folder as their authors would write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support.fakecloud import SOURCE

_TINY = """
variable "name" { type = string }
resource "terraform_data" "this" { input = var.name }
output "token" { value = terraform_data.this.output }
"""

_LINK = """
variable "left" { type = string }
variable "right" { type = string }
resource "terraform_data" "this" { input = "${substr(var.left, 0, 8)}-${substr(var.right, 0, 8)}" }
output "token" { value = terraform_data.this.id }
"""

_FIRST_LINK = """
resource "terraform_data" "this" {}
output "token" { value = terraform_data.this.id }
"""

FAKECLOUD = f"""
terraform {{
  required_providers {{
    fakecloud = {{ source = "{SOURCE}" }}
  }}
}}
"""

AWS_PROVIDER = """
terraform {{
  required_providers {{
    aws = {{ source = "hashicorp/aws" }}
  }}
}}
provider "aws" {{
  region                      = "us-east-1"
  access_key                  = "test"
  secret_key                  = "test"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  skip_get_ec2_platforms      = true
  skip_region_validation      = true
  endpoints {{
    ec2 = "{endpoint}"
    ssm = "{endpoint}"
    sts = "{endpoint}"
    iam = "{endpoint}"
  }}
}}
"""

_AWS_NETWORK = """
variable "name" { type = string }
variable "cidr" { type = string }
resource "aws_vpc" "this" {
  cidr_block = var.cidr
  tags       = { Name = var.name }
}
resource "aws_subnet" "this" {
  vpc_id     = aws_vpc.this.id
  cidr_block = cidrsubnet(var.cidr, 4, 0)
}
output "vpc_id" { value = aws_vpc.this.id }
output "subnet_id" { value = aws_subnet.this.id }
"""

_AWS_APPLICATION = """
variable "name" { type = string }
variable "subnet_id" { type = string }
resource "aws_ssm_parameter" "subnet" {
  name  = "/bench/${var.name}/subnet"
  type  = "String"
  value = var.subnet_id
}
output "parameter" { value = aws_ssm_parameter.subnet.name }
"""

_AWS_SERVER = """
variable "subnet_id" { type = string }
resource "aws_instance" "this" {
  ami           = "ami-12c6146b"
  instance_type = "t2.micro"
  subnet_id     = var.subnet_id
}
output "instance_id" { value = aws_instance.this.id }
"""

Inputs = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class WrittenStack:
    """A folder with `hybridwrap.yaml` and one source folder a module, `modules/NAME`."""

    path: Path
    layers: tuple[tuple[str, ...], ...]  # names; a layer needs only what is in the one before
    inputs: Mapping[str, Inputs]  # as in the manifest: references are templates

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(name for layer in self.layers for name in layer)

    def source(self, module: str) -> Path:
        return self.path / "modules" / module


@dataclass(frozen=True, slots=True)
class Part:
    """One module to write: its configuration and its inputs."""

    configuration: str
    inputs: Inputs


def write_stack(
    path: Path, layers: Sequence[Mapping[str, Part]], *, settings: Mapping[str, object] | None = None
) -> WrittenStack:
    """Write modules and manifest; `settings` are further top-level fields of the manifest (engine, state, ledger …)."""
    parts = {name: part for layer in layers for name, part in layer.items()}
    for name, part in parts.items():
        source = path / "modules" / name
        source.mkdir(parents=True)
        (source / "main.tf").write_text(part.configuration.lstrip())
    manifest = {
        "version": 1,
        "stack": path.name,
        **(settings or {}),
        "modules": {n: {"source": f"modules/{n}", "inputs": dict(p.inputs)} for n, p in parts.items()},
    }
    (path / "hybridwrap.yaml").write_text(yaml.safe_dump(manifest, sort_keys=False))
    return WrittenStack(path, tuple(tuple(layer) for layer in layers), {n: p.inputs for n, p in parts.items()})


def independent(path: Path, count: int, *, settings: Mapping[str, object] | None = None) -> WrittenStack:
    """`count` tiny modules without an edge."""
    return write_stack(path, [{f"m{i:03}": Part(_TINY, {"name": f"m{i:03}"}) for i in range(count)}], settings=settings)


def layered(path: Path, count: int, layers: int, *, settings: Mapping[str, object] | None = None) -> WrittenStack:
    """`count` tiny modules in layers; each takes outputs, known only after apply, of two in the layer before."""
    width = count // layers
    first = {_in_layer(0, i): Part(_FIRST_LINK, {}) for i in range(width)}
    rest = [{_in_layer(n, i): Part(_LINK, _two_above(n, i, width)) for i in range(width)} for n in range(1, layers)]
    return write_stack(path, [first, *rest], settings=settings)


def _in_layer(layer: int, index: int) -> str:
    return f"l{layer:02}m{index:02}"


def _two_above(layer: int, index: int, width: int) -> Inputs:
    left, right = _in_layer(layer - 1, index), _in_layer(layer - 1, (index + 1) % width)
    return {"left": reference(left, "token"), "right": reference(right, "token")}


def aws(path: Path, endpoint: str, count: int = 20, *, settings: Mapping[str, object] | None = None) -> WrittenStack:
    """Modules of the real AWS provider in two layers: networks, and as many applications that take their outputs."""
    provider = AWS_PROVIDER.format(endpoint=endpoint)
    networks = {
        f"net{i:02}": Part(provider + _AWS_NETWORK, {"name": f"net{i:02}", "cidr": f"10.{i}.0.0/16"})
        for i in range(count // 2)
    }
    applications = {
        f"app{i:02}": Part(
            provider + _AWS_APPLICATION,
            {"name": f"app{i:02}", "subnet_id": reference(f"net{i:02}", "subnet_id")},
        )
        for i in range(count // 2)
    }
    return write_stack(path, [networks, applications], settings=settings)


def aws_with_server(path: Path, endpoint: str, *, settings: Mapping[str, object] | None = None) -> WrittenStack:
    """A network, an SSM parameter that names it, and an EC2 instance in it."""
    provider = AWS_PROVIDER.format(endpoint=endpoint)
    subnet = reference("network", "subnet_id")
    second = {
        "application": Part(provider + _AWS_APPLICATION, {"name": "shop", "subnet_id": subnet}),
        "server": Part(provider + _AWS_SERVER, {"subnet_id": subnet}),
    }
    network = Part(provider + _AWS_NETWORK, {"name": "shop", "cidr": "10.0.0.0/16"})
    return write_stack(path, [{"network": network}, second], settings=settings)


def reference(module: str, output: str) -> str:
    return "{{ modules.%s.%s }}" % (module, output)  # noqa: UP031  braces upon braces read worse
