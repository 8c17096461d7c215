"""A check is done again exactly when something that it was made from has changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hybridwrap.adapters.manifest import load_stack
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import InvalidManifest
from tests.support.manifests import write_stack

MANIFEST = """
    version: 1
    stack: s
    modules:
      a: {source: a, var_files: [v.tfvars]}
      Ab: {source: a, inputs: {x: "{{ modules.a.out | upper }}"}}
      AB: {source: a, backend_config: [b.hcl]}
"""
A = """
    terraform {
      required_version = ">= 1.5"
      backend "s3" {
        bucket = "b"
        max_retries = 3
        assume_role = { role_arn = "x" }
      }
    }
    variable "x" {
      type    = number
      default = 1.50
    }
    output "out" { value = 1 }
    resource "x" "y" {
      lifecycle { prevent_destroy = true }
    }
"""


def build(root: Path) -> Path:
    (root / "v.tfvars").write_text("x = 1\n", encoding="utf-8")
    (root / "b.hcl").write_text('key = "ab"\n', encoding="utf-8")
    manifest = MANIFEST.replace("{source: a,", '{source: a, state: {s3: {key: "k-{module}"}},')
    return write_stack(root, manifest, {"a": A})


def load(file: Path, **environ: str) -> Stack:
    return load_stack(file, environment=None, environ=environ)


def cache_of(root: Path) -> Path:
    (file,) = (root / ".hybridwrap/cache").iterdir()
    return file


def test_a_remembered_stack_is_the_same_stack(tmp_path: Path) -> None:
    file = build(tmp_path)
    first = load(file)
    assert cache_of(tmp_path).stat().st_mode & 0o777 == 0o600
    assert cache_of(tmp_path).parent.stat().st_mode & 0o777 == 0o700
    assert load(file) == first
    assert len(first.warnings) == 1


HEAVY = """
import os, sys
from pathlib import Path
from hybridwrap.adapters.manifest import load_stack
load_stack(Path(sys.argv[1]), environment=None, environ={})
print([name for name in ("jsonschema", "tree_sitter", "jinja2", "boto3", "click", "rich") if name in sys.modules])
"""


def test_an_unchanged_stack_is_loaded_without_any_heavy_library(tmp_path: Path) -> None:
    file = build(tmp_path)
    load(file)
    done = subprocess.run([sys.executable, "-c", HEAVY, file], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "hybridwrap.yaml").write_text("version: 1\nstack: s\nmodules: {x: {}}\n"),
        lambda root: (root / "a/main.tf").write_text('variable "y" {}\n'),
        lambda root: (root / "a/more.tf").write_text('variable "y" {}\n'),
        lambda root: (root / "a/more_override.tf.json").write_text('{"terraform": {"cloud": {}}}'),
        lambda root: (root / "a/x.auto.tfvars").write_text("x = [\n"),
        lambda root: (root / "v.tfvars").write_text("x = [\n"),
        lambda root: (root / "v.tfvars").unlink(),
        lambda root: (root / "b.hcl").write_text('key = "k-a"\n'),
        lambda root: (root / "a/main.tf").unlink(),
    ],
)
def test_a_change_of_anything_that_was_checked_is_seen(tmp_path: Path, change: Callable[[Path], object]) -> None:
    file = build(tmp_path)
    load(file)
    change(tmp_path)
    with pytest.raises(InvalidManifest):
        load(file)


def test_a_value_that_came_from_the_environment_is_missed_when_it_is_gone(tmp_path: Path) -> None:
    file = write_stack(tmp_path, "version: 1\nstack: s\nmodules: {a: {source: a}}\n", {"a": 'variable "x" {}'})
    load(file, TF_VAR_x="1")
    with pytest.raises(InvalidManifest, match='needs a value for "x"'):
        load(file)


def test_our_own_generated_file_is_no_change_and_no_backend(tmp_path: Path) -> None:
    file = write_stack(tmp_path, "version: 1\nstack: s\nmodules: {a: {source: a}}\n", {"a": 'output "x" { value = 1 }'})
    first = load(file)
    (tmp_path / "a/hybridwrap_override.tf.json").write_text('{"terraform": {"backend": {"s3": {}}}}', encoding="utf-8")
    assert load(file) == first


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"manifest": 1}', b"null"])
def test_a_corrupt_cache_is_no_cache(tmp_path: Path, content: bytes) -> None:
    file = build(tmp_path)
    first = load(file)
    cache_of(tmp_path).write_bytes(content)
    assert load(file) == first


def test_a_corrupt_interface_in_the_cache_is_no_cache(tmp_path: Path) -> None:
    file = build(tmp_path)
    first = load(file)
    cache = cache_of(tmp_path)
    cache.write_text(cache.read_text(encoding="utf-8").replace('"required"', '"wanted"'), encoding="utf-8")
    assert load(file) == first


def test_a_stack_with_problems_is_not_remembered(tmp_path: Path) -> None:
    file = write_stack(tmp_path, "version: 1\nstack: s\nmodules: {a: {source: gone}}\n")
    for _ in range(2):
        with pytest.raises(InvalidManifest):
            load(file)
    assert not (tmp_path / ".hybridwrap").exists()


def test_a_home_that_cannot_be_made_only_costs_time(tmp_path: Path) -> None:
    file = build(tmp_path)
    (tmp_path / "taken" / "stack").mkdir(parents=True)  # stands for any refusal of the file system
    assert load(file, HYBRIDWRAP_HOME=str(tmp_path / "taken")).name == "s"


def test_no_value_of_a_variable_file_is_kept(tmp_path: Path) -> None:
    file = build(tmp_path)
    (tmp_path / "v.tfvars").write_text("x = 424242\n", encoding="utf-8")
    load(file)
    assert b"424242" not in cache_of(tmp_path).read_bytes()
