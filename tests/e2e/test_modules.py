"""The example modules on every real engine, and the folder cloud that they drive."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.engines import RealEngine, engines

MODULES = Path(__file__).parents[2] / "modules"
NAMES = ("network", "virtual_machine", "configuration", "health_check")


@pytest.fixture(params=sorted(engines()))
def engine(request: pytest.FixtureRequest) -> RealEngine:
    found = engines()[request.param]
    if found is None:
        pytest.skip(f"{request.param} is not on this machine")
    return found


@pytest.mark.e2e
@pytest.mark.parametrize("name", NAMES)
def test_a_module_passes_its_own_tests_and_leaves_nothing_behind(engine: RealEngine, name: str, tmp_path: Path) -> None:
    shutil.copytree(MODULES, tmp_path / "modules", ignore=shutil.ignore_patterns(".terraform*", ".cloud"))
    module = tmp_path / "modules" / name
    engine.must(module, "init", "-no-color", env={})
    assert "0 failed" in engine.must(module, "test", "-no-color", env={})
    assert list((module / ".cloud").glob("*.json")) == []


class Cloud:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(MODULES / "cloud" / "cloud.py"), str(self.folder), *arguments]

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, timeout=60)

    def create(self, identity: str, **properties: str) -> subprocess.CompletedProcess[str]:
        return self.call("create", json.dumps(properties), identity)

    def get(self, identity: str) -> dict[str, Any]:
        return dict(json.loads((self.folder / f"{identity}.json").read_text()))

    def fault(self, name: str, word: str) -> None:
        (self.folder / "faults").mkdir(exist_ok=True)
        (self.folder / "faults" / name).write_text(word)

    def ids(self) -> set[str]:
        return {path.stem for path in self.folder.glob("*.json")}


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    cloud = Cloud(tmp_path / "cloud")
    assert cloud.create("subnet-1", name="network", cidr="10.0.0.0/29").returncode == 0
    assert cloud.create("vm-1", name="vm", subnet_id="subnet-1", size="small").returncode == 0
    return cloud


def test_machines_made_at_once_get_different_addresses(cloud: Cloud) -> None:
    def make(number: int) -> int:
        return cloud.create(f"vm-{number}", name="vm", subnet_id="subnet-1", size="small").returncode

    with ThreadPoolExecutor() as pool:
        assert list(pool.map(make, range(2, 6))) == [0, 0, 0, 0]
    assert {cloud.get(f"vm-{number}")["address"] for number in range(1, 6)} == {f"10.0.0.{n}" for n in range(2, 7)}
    full = cloud.create("vm-6", name="vm", subnet_id="subnet-1", size="small")
    assert (full.returncode, full.stderr) == (1, "subnet-1 has no free address\n")


@pytest.mark.parametrize(("word", "made"), [("refuse-create", False), ("lose-answer", True)])
def test_a_fault_fails_the_creation_and_only_a_lost_answer_leaves_an_object(
    cloud: Cloud, word: str, *, made: bool
) -> None:
    cloud.fault("configuration", word)
    assert cloud.create("configuration-1", name="configuration", vm_id="vm-1", release="1.0").returncode == 1
    assert ("configuration-1" in cloud.ids()) == made


def test_a_refused_deletion_leaves_the_object(cloud: Cloud) -> None:
    cloud.fault("vm", "refuse-delete")
    assert cloud.call("delete", "vm-1").returncode == 1
    assert cloud.call("exists", "vm-1").returncode == 0


def test_a_lie_about_a_deletion_is_seen_by_who_asks_for_the_name(cloud: Cloud) -> None:
    cloud.fault("vm", "lie-delete")
    lie = cloud.call("delete", "vm-1")
    assert (lie.returncode, lie.stdout) == (0, "deleted vm-1\n")
    asked = cloud.call("absent", "vm")
    assert (asked.returncode, asked.stdout) == (1, "vm-1\n")
    (cloud.folder / "faults" / "vm").unlink()
    cloud.call("delete", "vm-1")
    assert cloud.call("absent", "vm").returncode == 0


def test_a_subnet_in_use_cannot_be_deleted(cloud: Cloud) -> None:
    assert cloud.call("delete", "subnet-1").stderr == "subnet-1 is in use by vm-1\n"


def test_a_machine_takes_its_configuration_along_and_deleting_twice_is_no_error(cloud: Cloud) -> None:
    cloud.create("configuration-1", name="configuration", vm_id="vm-1", release="1.0")
    assert [cloud.call("delete", each).returncode for each in ("vm-1", "vm-1", "configuration-1")] == [0, 0, 0]
    assert cloud.ids() == {"subnet-1"}
    assert cloud.call("exists", "configuration-1").returncode == 1


def test_a_call_that_hangs_goes_on_when_the_fault_is_removed(cloud: Cloud) -> None:
    cloud.fault("vm", "hang")
    with subprocess.Popen(cloud.command("delete", "vm-1"), stdout=subprocess.DEVNULL) as hanging:
        with pytest.raises(subprocess.TimeoutExpired):
            hanging.wait(timeout=0.5)
        (cloud.folder / "faults" / "vm").unlink()
        assert hanging.wait(timeout=60) == 0
    assert cloud.ids() == {"subnet-1"}


@pytest.mark.parametrize(
    ("address", "release", "message"),
    [
        ("10.0.0.9", "1.0", "nothing answers at 10.0.0.9"),
        ("10.0.0.2", "1.0", "10.0.0.2 runs no release, expected 1.0"),
    ],
)
def test_an_unhealthy_machine_is_refused_with_the_reason(
    cloud: Cloud, address: str, release: str, message: str
) -> None:
    looked = cloud.create("health-1", name="health", address=address, release=release)
    assert (looked.returncode, looked.stderr) == (1, f"{message}\n")
