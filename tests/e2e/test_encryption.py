"""A ledger with a key: digests of what has secrets in it, and nothing of them in clear."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

STACK = """
version: 1
stack: shop
ledger: {encryption: {key_from_env: LEDGER_KEY}}
modules:
  db: {source: db, inputs: {password: {from_env: PASSWORD}}}
"""
DB = """
variable "password" {
  type      = string
  sensitive = true
}
resource "terraform_data" "db" { input = var.password }
"""
KEY = base64.b64encode(b"k" * 32).decode()
OTHER_KEY = base64.b64encode(b"j" * 32).decode()


def test_with_a_key_a_secret_has_a_digest_that_tells_nothing_without_it(tmp_path: Path) -> None:
    project = Project(tmp_path, {"LEDGER_KEY": KEY, "PASSWORD": "first-secret"})
    project.write(STACK, db=DB)
    assert project.apply().code == 0
    first = project.ledger().record("db").inputs_digest
    other = Project(tmp_path / "other", {"LEDGER_KEY": OTHER_KEY, "PASSWORD": "first-secret"})
    other.root.mkdir()
    other.write(STACK, db=DB)
    assert other.apply().code == 0
    assert first
    assert other.ledger().record("db").inputs_digest not in ("", first)


def test_another_key_than_the_first_is_refused_before_anything_runs(tmp_path: Path) -> None:
    project = Project(tmp_path, {"LEDGER_KEY": KEY, "PASSWORD": "first-secret"})
    project.write(STACK, db=DB)
    assert project.apply().code == 0
    before = project.ledger().history("db")
    ran = project.run("apply", "--auto-approve", LEDGER_KEY=OTHER_KEY, PASSWORD="another-secret")
    assert ran.code == 10
    assert "is encrypted with another key; nothing was run" in ran.err
    assert "the key that the ledger was written with" in ran.err
    assert project.ledger().history("db") == before
    assert project.run("apply", "--auto-approve", PASSWORD="another-secret").code == 0


def test_with_a_key_a_run_is_gone_on_with_by_its_own_values_and_other_secrets_are_said(tmp_path: Path) -> None:
    project = Project(tmp_path, {"LEDGER_KEY": KEY, "PASSWORD": "first-secret"})
    stack = STACK.replace("password: {from", 'dsn: "db://first-secret/one", password: {from')
    fails = 'variable "dsn" {}\nresource "terraform_data" "try" {\n  input = var.dsn\n'
    fails += '  provisioner "local-exec" { command = "test -e ../fixed" }\n}\n'
    project.write(stack, db=DB + fails)
    assert project.apply().code == 4
    ledger = b"".join(file.read_bytes() for file in (tmp_path / ".hybridwrap/ledger").rglob("*") if file.is_file())
    assert b"first-secret" not in ledger
    project.write(stack.replace("/one", "/two"), db=DB + fails)
    (tmp_path / "fixed").touch()
    ran = project.run("resume", "--auto-approve", PASSWORD="another-secret")
    assert ran.code == 0, ran.text
    assert "not those of the manifest (--inputs current): dsn " in ran.text
    assert "; secrets of now, not those of run " in ran.text
    assert ": password (env:PASSWORD)\n" in ran.text
    state = (tmp_path / ".hybridwrap/state/default/db.tfstate").read_text()
    assert "db://first-secret/one" in state, "the value that the run had"


def test_a_key_that_is_none_is_said_with_how_to_make_one(tmp_path: Path) -> None:
    project = Project(tmp_path, {"LEDGER_KEY": "short", "PASSWORD": "x"})
    project.write(STACK, db=DB)
    ran = project.apply()
    assert ran.code == 10
    assert "LEDGER_KEY" in ran.err
    assert "openssl rand" in ran.err
