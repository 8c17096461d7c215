"""The test provider keeps its promises under every real engine: each fault does what its name says."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.engines import RealEngine, engines
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.serving import SharedProvider
from tests.support.stacks import FAKECLOUD

pytestmark = pytest.mark.e2e

_FIRST: RealEngine = next(engine for engine in engines().values() if engine)

_SERVER = FAKECLOUD + 'resource "fakecloud_server" "web" { name = "web" }\n'
_ALL = (
    FAKECLOUD
    + """
variable "owner" { default = "red" }
resource "fakecloud_network" "main" { name = "main" }
resource "fakecloud_server" "web" {
  name       = "web"
  network_id = fakecloud_network.main.id
  tags       = { owner = var.owner }
}
resource "fakecloud_disk" "data" {
  name      = "data"
  server_id = fakecloud_server.web.id
  size_gb   = 5
}
data "fakecloud_server" "seen" {
  name       = "web"
  depends_on = [fakecloud_server.web]
}
output "ip" { value = data.fakecloud_server.seen.ip }
output "password" {
  value     = fakecloud_server.web.admin_password
  sensitive = true
}
"""
)


@dataclass(frozen=True, slots=True)
class Module:
    """One module, an engine and the environment that reaches the fake cloud."""

    folder: Path
    engine: RealEngine
    env: Mapping[str, str]

    def write(self, configuration: str) -> None:
        (self.folder / "main.tf").write_text(configuration)
        self.engine.must(self.folder, "init", env=self.env)

    def must(self, *args: str) -> str:
        return self.engine.must(self.folder, *args, env=self.env)

    def exit_code(self, *args: str) -> int:
        return self.engine.run(self.folder, *args, env=self.env).returncode

    def apply(self) -> int:
        return self.exit_code("apply", "-auto-approve")

    def destroy(self) -> int:
        return self.exit_code("destroy", "-auto-approve")

    def instances(self) -> list[tuple[str, str]]:
        """(id, status) of what is in the engine's state."""
        state = json.loads((self.folder / "terraform.tfstate").read_text())
        return [
            (instance["attributes"]["id"], instance.get("status", ""))
            for resource in state["resources"]
            for instance in resource["instances"]
            if resource["mode"] == "managed"
        ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "module"
    made.mkdir()
    return made


@pytest.fixture
def engine(engine_program: str) -> RealEngine:
    found = engines()[engine_program]
    assert found is not None
    return found


@pytest.fixture
def module(folder: Path, fakecloud_env: Mapping[str, str]) -> Module:
    made = Module(folder, _FIRST, fakecloud_env)
    made.write(_SERVER)
    return made


@pytest.fixture
def plugin(folder: Path, fakecloud_plugin_env: Mapping[str, str]) -> Module:
    made = Module(folder, _FIRST, fakecloud_plugin_env)
    made.write(_SERVER)
    return made


def _live_through(module: Module, cloud: Cloud) -> None:
    module.write(_ALL)
    module.must("apply", "-auto-approve")
    web = cloud.only("web")
    assert web.attributes["tags"] == {"owner": "red"}
    assert web.attributes["network_id"] == cloud.only("main").id
    assert cloud.only("data").parent == web.id
    outputs = json.loads(module.must("output", "-json"))
    assert outputs["ip"]["value"] == web.attributes["ip"]
    assert outputs["password"] == {"sensitive": True, "type": "string", "value": web.attributes["admin_password"]}
    module.must("apply", "-auto-approve", "-var=owner=blue")
    assert cloud.only("web").id == web.id
    assert cloud.only("web").attributes["tags"] == {"owner": "blue"}
    assert module.exit_code("plan", "-detailed-exitcode", "-var=owner=blue") == 0
    module.must("destroy", "-auto-approve")
    assert cloud.objects() == []


def test_objects_are_made_read_updated_and_deleted(
    folder: Path, engine: RealEngine, cloud: Cloud, fakecloud_env: Mapping[str, str]
) -> None:
    _live_through(Module(folder, engine, fakecloud_env), cloud)


def test_an_engine_can_start_the_provider_as_a_plugin(
    folder: Path, engine: RealEngine, cloud: Cloud, fakecloud_plugin_env: Mapping[str, str]
) -> None:
    without_database = {k: v for k, v in fakecloud_plugin_env.items() if k != "FAKECLOUD_DB"}
    module = Module(folder, engine, without_database)
    module.write(f'{_SERVER}provider "fakecloud" {{ database = "{cloud.path}" }}\n')
    assert module.apply() == 0
    assert module.instances() == [(cloud.only("web").id, "")]


def test_every_call_is_logged_with_its_time(module: Module, cloud: Cloud) -> None:
    module.apply()
    module.destroy()
    calls = cloud.calls()
    assert [call.operation for call in calls] == ["create", "read", "delete"]
    assert len({call.object_id for call in calls}) == 1
    assert all(call.started <= call.ended for call in calls)
    assert calls[0].ended <= calls[1].started


def test_fail_before_makes_nothing(module: Module, cloud: Cloud) -> None:
    cloud.inject("web", "fail-before")
    assert module.apply() == 1
    assert cloud.objects() == []
    cloud.lift("web")
    assert module.apply() == 0
    assert [call.error for call in cloud.calls("create")] == ["quota exceeded: cannot create server web", ""]


@pytest.mark.parametrize("fault", ["made-no-answer", "gone"])
def test_an_object_can_be_made_that_no_state_knows(module: Module, cloud: Cloud, fault: str) -> None:
    cloud.inject("w*", fault)
    assert module.apply() == 1
    assert cloud.only("web")
    assert module.instances() == []


def test_partial_leaves_a_tainted_object_in_the_state(module: Module, cloud: Cloud) -> None:
    cloud.inject("web", "partial")
    assert module.apply() == 1
    assert module.instances() == [(cloud.only("web").id, "tainted")]


def test_a_crash_takes_the_plugin_down_after_the_object_was_made(plugin: Module, cloud: Cloud) -> None:
    cloud.inject("web", "crash")
    ran = plugin.engine.run(plugin.folder, "apply", "-auto-approve", env=plugin.env)
    assert ran.returncode == 1
    assert "ApplyResourceChange" in ran.stderr  # under "Plugin did not respond" or "Request cancelled": a race
    assert cloud.only("web")
    assert cloud.calls("create")[0].ended == ""


def test_a_shared_provider_that_crashed_is_started_again(
    module: Module, cloud: Cloud, shared_provider: SharedProvider
) -> None:
    cloud.inject("web", "crash")
    assert module.apply() == 1
    cloud.lift()
    again = Module(module.folder, module.engine, shared_provider.environment(cloud))
    assert again.apply() == 0


def test_an_update_can_fail(module: Module, cloud: Cloud) -> None:
    module.write(_ALL)
    module.must("apply", "-auto-approve")
    cloud.inject("web", "update-fails")
    assert module.exit_code("apply", "-auto-approve", "-var=owner=blue") == 1
    assert cloud.only("web").attributes["tags"] == {"owner": "red"}
    assert cloud.only("web").id in dict(module.instances())


def test_delete_fails_until_it_is_lifted(module: Module, cloud: Cloud) -> None:
    module.apply()
    cloud.inject("web", "delete-fails")
    assert [module.destroy(), module.destroy()] == [1, 1]
    assert module.instances() == [(cloud.only("web").id, "")]
    cloud.lift()
    assert module.destroy() == 0
    assert cloud.objects() == []


def test_delete_once_fails_lifts_itself(module: Module, cloud: Cloud) -> None:
    module.apply()
    cloud.inject("web", "delete-once-fails")
    assert [module.destroy(), module.destroy()] == [1, 0]
    assert cloud.objects() == []


def test_a_delete_can_lie(module: Module, cloud: Cloud) -> None:
    module.apply()
    cloud.inject("web", "lies-deleted")
    assert module.destroy() == 0
    assert module.instances() == []
    assert cloud.only("web")


def test_reads_can_hide_an_object_or_be_forbidden(module: Module, cloud: Cloud) -> None:
    module.apply()
    cloud.inject("web", "hidden")
    assert module.exit_code("plan", "-detailed-exitcode") == 2
    cloud.lift()
    cloud.inject("web", "read-fails")
    assert module.exit_code("plan", "-detailed-exitcode") == 1
    assert cloud.only("web")


def test_deleting_a_parent_deletes_its_children(module: Module, cloud: Cloud) -> None:
    module.apply()
    cloud.add("disk", "orphan", parent=cloud.only("web").id)
    assert module.destroy() == 0
    assert cloud.objects() == []


def test_what_vanished_or_drifted_shows_in_a_plan(module: Module, cloud: Cloud) -> None:
    module.apply()
    cloud.change(cloud.only("web").id, {"size": "huge"})
    assert '"huge"' in module.must("plan")
    cloud.vanish(cloud.only("web").id)
    assert "1 to add" in module.must("plan")


def test_an_orphan_can_be_imported(module: Module, cloud: Cloud) -> None:
    orphan = cloud.add("server", "web")
    module.must("import", "fakecloud_server.web", orphan.id)
    assert module.exit_code("plan", "-detailed-exitcode") == 0


def test_a_slow_call_takes_its_time(module: Module, cloud: Cloud) -> None:
    cloud.inject("web", "slow=0.2")
    assert module.apply() == 0
    (call,) = cloud.calls("create")
    assert call.seconds >= 0.2


def test_a_command_can_look_on_from_inside_a_call(module: Module, cloud: Cloud) -> None:
    look = f"import os; print(sorted(os.listdir({str(module.folder)!r})))"
    cloud.observe([sys.executable, "-c", look], pattern="web")
    module.apply()
    (call,) = cloud.calls("create")
    assert call.observed_exit == 0
    assert ".terraform.tfstate.lock.info" in call.observed


def test_the_plugin_goes_on_after_an_interrupt(plugin: Module, cloud: Cloud) -> None:
    cloud.inject("web", "hang")
    with plugin.engine.started(plugin.folder, "apply", "-auto-approve", env=plugin.env) as process:
        cloud.wait_for_calls("create")
        process.send_signal(signal.SIGINT)
        cloud.wait_for_calls("stop")
        cloud.lift()
        assert process.wait(timeout=120) == 1
    assert plugin.instances() == [(cloud.only("web").id, "")]


def test_many_calls_that_hang_do_not_block_the_provider(module: Module, cloud: Cloud) -> None:
    module.write(FAKECLOUD + 'resource "fakecloud_server" "s" {\n  count = 40\n  name = "s${count.index}"\n}\n')
    cloud.inject("s*", "hang")
    apply = ("apply", "-auto-approve", "-parallelism=40")
    with module.engine.started(module.folder, *apply, env=module.env) as process:
        cloud.wait_for_calls("create", count=40)
        assert module.exit_code("plan", "-lock=false") == 0
        cloud.lift()
        assert process.wait(timeout=120) == 0
