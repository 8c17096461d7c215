"""A damaged log is one module's matter: commands that read show it and all others, those that write do the rest."""

from __future__ import annotations

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
    assert "next: hybridwrap ledger verify net" in status.err
    modules = {module["module"]: module for module in project.call("status", "--json").json["modules"]}
    assert modules["net"]["damage"]["key"].endswith(key)
    assert [modules[name]["damage"] for name in ("vm", "docs")] == [None, None]
    assert project.call("status", "docs").code == 0, "whose ledger is sound"

    for argv in (["graph"], ["report"], ["show"], ["output"], ["orphans"], ["why", "net"], ["reconcile", "net"]):
        ran = project.run(*argv)
        assert (ran.code, bool(ran.out.strip())) == (33, True), (argv, ran.text)
    assert project.call("history").code == 0, "runs can all be read"
    assert "next: hybridwrap ledger verify net" in project.run("reconcile", "net").out

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
