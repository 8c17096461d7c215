"""`ledger verify`: sound logs are said to be sound, and one altered byte is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e


def test_an_altered_entry_is_named(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        "version: 1\nstack: shop\nmodules:\n  one: {source: one}\n",
        one='resource "terraform_data" "it" { input = "before" }\n',
    )
    assert project.apply().code == 0
    sound = project.run("ledger", "verify")
    assert (sound.code, sound.out) == (0, "one  sound\n")

    (entry,) = tmp_path.glob(".hybridwrap/ledger/v1/shop/default/log/one/00000001.json")
    entry.write_bytes(entry.read_bytes().replace(b'"terraform"', b'"terrafirm"'))

    altered = project.run("ledger", "verify", "--json")
    assert altered.code == 33, altered.text
    assert altered.json["modules"]["one"]
