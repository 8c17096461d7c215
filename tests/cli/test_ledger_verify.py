"""`ledger verify`: sound logs are said to be sound, and what is damaged is named whatever else can be read."""

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
    sound = project.call("ledger", "verify")
    assert (sound.code, sound.out) == (0, "one  sound\n")

    (entry,) = tmp_path.glob(".hybridwrap/ledger/v1/shop/default/log/one/00000001.json")
    entry.write_bytes(entry.read_bytes().replace(b'"terraform"', b'"terrafirm"'))

    altered = project.call("ledger", "verify", "--json")
    assert altered.code == 33, altered.text
    assert altered.json["modules"]["one"]


def test_a_log_that_nothing_can_be_made_of_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    project = Project(tmp_path)
    made = 'resource "terraform_data" "it" {}\n'
    project.write("version: 1\nstack: shop\nmodules: {one: {source: one}, two: {source: two}}\n", one=made, two=made)
    assert project.apply().code == 0
    (tmp_path / ".hybridwrap/ledger/v1/shop/default/head/one.json").unlink()
    (entry,) = tmp_path.glob(".hybridwrap/ledger/v1/shop/default/log/one/00000001.json")
    entry.write_bytes(b"{")
    project.write("version: 1\nstack: shop\nmodules: {two: {source: two}}\n")  # and nobody declares it any more

    found = project.call("ledger", "verify", "--json")

    assert found.code == 33, found.text
    assert found.json["modules"]["two"] == []
    assert any("entry 1: not JSON" in flaw for flaw in found.json["modules"]["one"])


def test_nothing_is_begun_on_an_altered_entry_until_it_is_back(tmp_path: Path) -> None:
    project = Project(tmp_path)
    made = 'resource "terraform_data" "it" { input = "NAME" }\n'
    manifest = "version: 1\nstack: shop\nmodules: {one: {source: one}, two: {source: two}}\n"
    project.write(manifest, one=made, two=made)
    assert project.apply().code == 0
    entry = tmp_path / ".hybridwrap/ledger/v1/shop/default/log/one/00000002.json"
    written = entry.read_bytes()
    entry.write_bytes(written.replace(b'"succeeded"', b'"failed"'))
    state = (tmp_path / ".hybridwrap/state/default/one.tfstate").read_bytes()
    project.write(manifest, one=made.replace("NAME", "other"), two=made.replace("NAME", "other"))

    ran = project.apply()

    assert ran.code == 33, ran.text
    assert "next: hybridwrap ledger verify" in ran.text
    assert (tmp_path / ".hybridwrap/state/default/one.tfstate").read_bytes() == state, "no engine has changed anything"
    assert project.statuses()["two"] == "ok"
    assert len(list(entry.parent.iterdir())) == 2
    found = project.call("ledger", "verify")
    assert "one  head: made from an entry 2 that is not the one in the log" in found.out
    assert "one  entry 2: not the one that the head was made from" in found.out
    assert "next: hybridwrap ledger repair one" in found.out

    entry.write_bytes(written)
    assert project.call("ledger", "verify").code == 0
    assert project.apply().code == 0
