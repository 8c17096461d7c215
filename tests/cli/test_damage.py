"""A damaged log is one module's matter: commands that read show it and all others, those that write do the rest."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.project import Project

pytestmark = pytest.mark.e2e

LEDGER = ".hybridwrap/ledger/v1/shop/default"
MANIFEST = """\
version: 1
stack: shop
modules:
  net:   {source: net}
  vm:    {source: vm, inputs: {net: "{{ modules.net.id }}"}}
  docs:  {source: docs}
"""
NET = 'resource "terraform_data" "it" {}\noutput "id" { value = terraform_data.it.id }\n'
VM = 'variable "net" { type = string }\nresource "terraform_data" "it" { input = var.net }\n'
DOCS = 'resource "terraform_data" "it" { input = "TEXT" }\n'


def test_the_damage_of_one_module_is_seen_by_every_command_and_stops_none_of_the_others(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(MANIFEST, net=NET, vm=VM, docs=DOCS)
    assert project.apply().code == 0
    key = "log/net/00000002.json"
    (tmp_path / LEDGER / key).write_bytes(b"{")
    (tmp_path / LEDGER / "head/net.json").unlink()

    status = project.call("status")
    assert status.code == 33, status.text
    assert "net     unknown" in status.out, "and all the others"
    assert "docs    ok" in status.out
    assert "its log is damaged: entry 2: not JSON" in status.out
    assert f"(v1/shop/default/{key})" in status.out
    assert "next: hybridwrap ledger repair net" in status.err
    modules = {module["module"]: module for module in project.call("status", "--json").json["modules"]}
    assert modules["net"]["damage"]["key"].endswith(key)
    assert [modules[name]["damage"] for name in ("vm", "docs")] == [None, None]
    assert project.call("status", "docs").code == 0, "whose ledger is sound"

    for argv in (["graph"], ["report"], ["show"], ["output"], ["orphans"], ["why", "net"], ["reconcile", "net"]):
        ran = project.run(*argv)
        assert (ran.code, bool(ran.out.strip())) == (33, True), (argv, ran.text)
    assert project.call("history").code == 0, "runs can all be read"
    assert "next: hybridwrap ledger repair net" in project.run("reconcile", "net").out

    project.write(MANIFEST, docs=DOCS.replace("TEXT", "new"))
    ran = project.apply()
    assert ran.code == 33, ran.text
    assert "docs | ok" in ran.text
    assert "net  | refused" in ran.text
    assert "vm   | pending    waits for net.id" in ran.text
    alone = project.apply("vm")
    assert alone.code == 33, alone.text
    assert "waits for net: its log is damaged" in alone.text
    assert project.apply("docs").code == 0
    assert not list((tmp_path / LEDGER / "log/net").glob("00000003*"))


def test_a_ledger_in_a_folder_comes_back_from_a_backup_and_without_one_says_what_can_be_done(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("version: 1\nstack: shop\nmodules:\n  net: {source: net}\n", net=NET)
    assert project.apply().code == 0
    folder = tmp_path / LEDGER
    shutil.copytree(tmp_path / ".hybridwrap/ledger", tmp_path / "backup")
    written = (folder / "log/net/00000002.json").read_bytes()
    (folder / "log/net/00000002.json").write_bytes(b"{")
    (folder / "head/net.json").unlink()

    bare = project.call("ledger", "repair", "net")
    assert bare.code == 33, bare.text
    assert "net  entry 2: not JSON" in bare.out
    assert "nothing is left that fits" in bare.out
    assert "hybridwrap ledger repair net --from FOLDER" in bare.out
    assert "then hybridwrap adopt net" in bare.out
    wrong = project.call("ledger", "repair", "--from", str(tmp_path / "net"))
    assert (wrong.code, "is no copy of this ledger" in wrong.err) == (64, True), wrong.text

    shown = project.call("ledger", "repair", "--from", "backup")
    assert shown.code == 33, shown.text
    assert "a copy is left: the oldest copy, and it follows entry 1" in shown.out
    assert "nothing was changed: nobody can be asked here" in shown.err
    assert (folder / "log/net/00000002.json").read_bytes() == b"{"

    repaired = project.call("ledger", "repair", "--from", "backup", "--yes")
    assert (repaired.code, repaired.out.splitlines()[-1]) == (0, "net  1 put back; sound"), repaired.text
    assert (folder / "log/net/00000002.json").read_bytes() == written
    assert project.statuses() == {"net": "ok"}
    assert project.call("ledger", "repair").out == "net  sound\n"


def test_a_log_that_is_lost_for_good_is_put_aside_as_printed_and_the_state_is_taken_in_again(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("version: 1\nstack: shop\nmodules:\n  net: {source: net}\n", net=NET)
    assert project.apply().code == 0
    (tmp_path / LEDGER / "log/net/00000001.json").write_bytes(b"{")
    lost = project.call("ledger", "repair", "net")
    assert lost.code == 33, lost.text
    commands = [line.strip() for line in lost.out.splitlines() if line.strip().startswith(("mv ", "rm "))]
    for command in commands:
        subprocess.run(shlex.split(command), check=True, cwd=tmp_path)
    adopted = project.run("adopt", "net")
    assert adopted.code == 0, adopted.text
    assert project.statuses() == {"net": "ok"}
    assert project.call("ledger", "verify").code == 0
    assert list(tmp_path.glob(".hybridwrap/ledger/lost-net/00000002.json"))
