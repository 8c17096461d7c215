"""Stacks written to a folder, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from hybridwrap.adapters.manifest import load_stack
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import InvalidManifest

NETWORK = """
    variable "cidr" { type = string }
    variable "tags" {
      type    = map(string)
      default = {}
    }
    output "subnet_id" { value = var.cidr }
"""
VM = """
    variable "subnet_id" { type = string }
    variable "password" {
      type      = string
      default   = ""
      sensitive = true
    }
    variable "size" {
      type    = number
      default = 1
    }
    output "address" { value = var.subnet_id }
    output "id" { value = var.subnet_id }
"""
EMPTY = 'output "id" { value = 1 }'


def write_stack(root: Path, manifest: str, modules: Mapping[str, str] | None = None) -> Path:
    """Write a manifest, and a `main.tf` for each folder; return the manifest's path."""
    for folder, text in (modules or {}).items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / "main.tf").write_text(dedent(text), encoding="utf-8")
    file = root / "hybridwrap.yaml"
    root.mkdir(exist_ok=True)
    file.write_text(dedent(manifest).lstrip("\n"), encoding="utf-8")
    return file


def load(file: Path, environment: str | None = None, **environ: str) -> Stack:
    return load_stack(file, environment=environment, environ=environ)


def problems(file: Path, environment: str | None = None, **environ: str) -> list[str]:
    """All problems of a manifest, each without the path of the test's folder; none when it can be loaded."""
    try:
        load(file, environment, **environ)
    except InvalidManifest as error:
        return [str(problem).replace(f"{file.parent}/", "") for problem in error.problems]
    return []
