"""A stack of many modules in many files, as a company with a team for each file has it."""

from __future__ import annotations

from pathlib import Path

MAIN = """
version: 1
stack: company
include: ["live/*/hybridwrap.yaml"]
defaults: {inputs: {tags: {stack: company}}}
environments: {dev: {}, prod: {defaults: {env: {AWS_PROFILE: prod}}}}
"""
MODULE = """
variable "name" { type = string }
variable "subnet_id" {
  type    = string
  default = ""
}
variable "tags" {
  type    = map(string)
  default = {}
}
resource "terraform_data" "this" {
  input            = "${var.name}-${var.subnet_id}"
  triggers_replace = var.tags
}
output "id" { value = terraform_data.this.id }
"""


def write_many_files(root: Path, files: int, each: int) -> None:
    """Write so many files with so many modules each; a module needs the one before it, and has its own source."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "hybridwrap.yaml").write_text(MAIN)
    for team in range(files):
        folder = root / f"live/team{team:02}"
        modules = [_module(folder, f"t{team:02}_m", number) for number in range(each)]
        (folder / "hybridwrap.yaml").write_text("modules:\n" + "".join(modules))


def _module(folder: Path, names: str, number: int) -> str:
    source = folder / f"m{number}"
    source.mkdir(parents=True)
    (source / "main.tf").write_text(MODULE)
    subnet = f'"{{{{ modules.{names}{number - 1}.id }}}}"' if number else "none"
    inputs = f"    inputs:\n      name: {names}{number}\n      subnet_id: {subnet}\n"
    return f"  {names}{number}:\n    source: m{number}\n    tags: [{folder.name}]\n{inputs}"
