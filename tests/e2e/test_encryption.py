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


def test_with_a_key_a_secret_has_a_digest_that_tells_nothing_without_it(tmp_path: Path) -> None:
    project = Project(tmp_path, {"LEDGER_KEY": KEY, "PASSWORD": "first-secret"})
    project.write(STACK, db=DB)
    assert project.apply().code == 0
    first = project.ledger().record("db").inputs_digest
    other = Project(tmp_path, {"LEDGER_KEY": base64.b64encode(b"j" * 32).decode(), "PASSWORD": "first-secret"})
    assert other.apply().code == 0
    assert first
    assert project.ledger().record("db").inputs_digest not in ("", first)


def test_a_key_that_is_none_is_said_with_how_to_make_one(tmp_path: Path) -> None:
    project = Project(tmp_path, {"LEDGER_KEY": "short", "PASSWORD": "x"})
    project.write(STACK, db=DB)
    ran = project.apply()
    assert ran.code == 10
    assert "LEDGER_KEY" in ran.err
    assert "openssl rand" in ran.err
