"""Runs in which something is killed while an object is being made."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import IO

from hybridwrap.cli.compose import Workshop, equip, load
from hybridwrap.cli.options import Place
from hybridwrap.domain.beat import Beat
from hybridwrap.domain.ledger import Ledger
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.project import FAKECLOUD, Project

STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  network: {source: network}
  vm: {source: vm, inputs: {network_id: "{{ modules.network.id }}"}}
  docs: {source: docs}
"""
NETWORK = (
    FAKECLOUD
    + """
resource "fakecloud_network" "net" { name = "net" }
resource "fakecloud_server" "gate" {
  name = "gate"
  tags = { network = fakecloud_network.net.id }
}
output "id" { value = fakecloud_network.net.id }
output "ip" { value = fakecloud_server.gate.ip }
"""
)
VM = 'variable "network_id" { type = string }\nresource "terraform_data" "vm" { input = var.network_id }\n'
DOCS = 'resource "terraform_data" "docs" {}\n'


def write_stack(project: Project, engine: str = "auto", *, more: str = "") -> None:
    """Write a stack of which `network` makes two objects, one after the other; `more` goes into the manifest."""
    manifest = STACK.replace("ENGINE", engine) + more
    project.write(manifest, network=NETWORK, vm=VM, docs=DOCS)


@contextmanager
def hanging(project: Project, cloud: Cloud, name: str, *argv: str) -> Iterator[subprocess.Popen[str]]:
    """An apply whose engine waits for the cloud to answer about an object; at the end of the block it gets its answer.

    The object is there already, and nobody knows its id.
    """
    cloud.inject(name, "hang")
    process = project.start("apply", "--auto-approve", *argv)
    try:
        wait_until(lambda: bool(cloud.calls(Operation.CREATE, name=name)) or process.poll() is not None)
        assert process.poll() is None, f"it ended before it made {name}: {process.communicate()}"
        yield process
    finally:
        cloud.lift(name)


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL a hybridwrap; its engines live on."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def engines_of(project: Project) -> list[int]:
    """The pids of engines that apply a plan of this project."""
    listed = subprocess.run(["/bin/ps", "-axwwo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    rows = (line.split(maxsplit=1) for line in listed.splitlines())
    plans = str(project.root / ".hybridwrap" / "operations")
    return [int(pid) for pid, args in rows if f"{plans}/" in args and " apply " in args]


def kill_engines(project: Project) -> None:
    """SIGKILL the engines that are at work."""
    found = engines_of(project)
    assert found, "no engine is at work"
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not engines_of(project))


def until_said(
    process: subprocess.Popen[str], text: str, *, stream: IO[str] | None = None, seconds: float = 180
) -> str:
    """Read what a process prints until a line has this text, and return it; one that never says it is killed."""
    reader = stream or process.stdout
    assert reader
    overdue = Timer(seconds, process.kill)
    overdue.start()
    said = [""]
    while text not in said[-1]:
        said.append(reader.readline())
        assert said[-1], f"{text!r} was not said: {''.join(said)}"
    overdue.cancel()
    return "".join(said)


def wait_until(holds: Callable[[], bool], *, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not come to hold")
        time.sleep(0.05)


def lose_host(project: Project, cloud: Cloud, *, sent: bool = True) -> None:
    """Kill an apply and its engine while `gate` is being made, and lose the disk that its folders were on.

    `sent`: the ids of what was made had left the host before.
    """
    with hanging(project, cloud, "gate", "network") as process:
        ledger = ledger_of(project)
        if sent:
            until_sent(ledger, "fakecloud_server.gate")
        kill(process)
        kill_engines(project)
        if not sent:
            ledger.forget_beat("network", ledger.record("network").operation)
    shutil.rmtree(project.root / ".hybridwrap" / "operations")


def until_sent(ledger: Ledger, address: str) -> Beat:
    """Wait until it has left the host that an object of `network` was begun; return what was sent."""
    sent: list[Beat] = []

    def names_it() -> bool:
        sent[:] = [beat for beat in ledger.beats("network") if any(o.address == address for o in beat.objects)]
        return bool(sent)

    wait_until(names_it)
    (beat,) = sent
    return beat


def workshop_of(project: Project) -> Workshop:
    """What a command would work with in a project, for this process's own environment."""
    return equip(load(Place(project.root / "hybridwrap.yaml", None)))


def ledger_of(project: Project) -> Ledger:
    """The ledger of a project, wherever the manifest has it."""
    return workshop_of(project).ledger
