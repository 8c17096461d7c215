"""Stacks to be torn down: a chain in the fake cloud, and a probe that looks into that cloud."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.fakecloud.cloud import Cloud
from tests.support.prepared import Prepared
from tests.support.project import FAKECLOUD, Project, Ran

NETWORK = (
    FAKECLOUD
    + """
resource "fakecloud_network" "net" { name = "net" }
output "id" { value = fakecloud_network.net.id }
"""
)
VM = (
    FAKECLOUD
    + """
variable "network_id" { type = string }
resource "fakecloud_server" "web" {
  name       = "web"
  network_id = var.network_id
}
resource "fakecloud_server" "db" {
  name       = "db"
  network_id = var.network_id
}
output "ip" { value = fakecloud_server.web.ip }
output "id" { value = fakecloud_server.web.id }
"""
)
APP = (
    FAKECLOUD
    + """
variable "address" { type = string }
resource "fakecloud_server" "app" {
  name = "app"
  tags = { address = var.address }
}
"""
)
CHAIN = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  network: {source: network}
  vm: {source: vm, inputs: {network_id: "{{ modules.network.id }}"}VM}
  app: {source: app, inputs: {address: "{{ modules.vm.ip }}"}}
"""


def chain(project: Project, engine: str, *, vm: str = "") -> None:
    """Write network <- vm <- app; `vm` is more of the vm's entry in the manifest, such as `owner: x`."""
    project.write(chain_manifest(engine, vm=vm), network=NETWORK, vm=VM, app=APP)


def chain_manifest(engine: str, *, vm: str = "") -> str:
    return CHAIN.replace("ENGINE", engine).replace("VM", f", {vm}" if vm else "")


def applied_chain(project: Project, prepared: Prepared, engine: str, cloud: Cloud) -> None:
    """Have the chain in the project, and applied."""
    manifest = chain_manifest(engine)
    prepared.applied(project, f"chain-{engine}", manifest, cloud=cloud, network=NETWORK, vm=VM, app=APP)


def destroy(project: Project, *argv: str, **environ: str) -> Ran:
    return project.run("destroy", "--auto-approve", *argv, **environ)


_LOOK = """#!PYTHON
import sqlite3, sys
answer = open("answer").read().strip()
if answer:
    print("403 Forbidden", file=sys.stderr)
    sys.exit(int(answer))
found = sqlite3.connect("CLOUD").execute("SELECT id, name FROM objects").fetchall()
left = [id for id, name in found if name in sys.argv[1:]]
print("\\n".join(left))
sys.exit(1 if left else 0)
"""


def looking_into(cloud: Cloud, folder: Path, *names: str) -> str:
    """A `verify` for the manifest in a folder: a command that looks for objects with these names, as their owner could.

    As long as the file `answer` beside it holds an exit code, that is its answer.
    """
    script = folder / "is-gone"
    script.write_text(_LOOK.replace("PYTHON", sys.executable).replace("CLOUD", str(cloud.path)))
    script.chmod(0o755)
    (folder / "answer").touch()
    return f"verify: {{absent: [{', '.join(('./is-gone', *names))}]}}"
