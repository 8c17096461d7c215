"""A teardown works when things are missing: outputs, values, folders, declarations."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hybridwrap.adapters.schemas import load_schema
from hybridwrap.domain.entry import Begin
from tests.support.fakecloud.cloud import Cloud
from tests.support.fakecloud.faults import Operation
from tests.support.prepared import Prepared
from tests.support.project import FAKECLOUD, Project
from tests.support.teardown import applied_chain, chain, destroy

pytestmark = pytest.mark.e2e

SECRET = "hunter2-hunter2"
DB = (
    FAKECLOUD
    + """
variable "password" {
  type      = string
  sensitive = true
}
variable "settings" { type = object({ size = number, zones = list(string), note = optional(string) }) }
resource "fakecloud_server" "db" {
  name = "db"
  tags = { password = sha256(var.password), size = tostring(var.settings.size) }
}
"""
)


@pytest.fixture
def project(tmp_path: Path, fakecloud_env: Mapping[str, str], engine_program: str) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, fakecloud_env)


@pytest.fixture
def standing(project: Project, prepared: Prepared, engine_program: str, cloud: Cloud) -> Project:
    """The chain, applied."""
    applied_chain(project, prepared, engine_program, cloud)
    return project


def manifest(engine: str, modules: str) -> str:
    return f"version: 1\nstack: shop\nengine: {{program: {engine}}}\nmodules:\n{modules}"


def git(root: Path, *words: str) -> str:
    named = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    argv = ["git", "-C", str(root), *named, *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


# Inputs


def test_inputs_come_from_the_ledger_when_the_outputs_they_were_made_of_are_gone(
    standing: Project, cloud: Cloud
) -> None:
    (standing.root / ".hybridwrap/state/default/network.tfstate").unlink()
    network = cloud.only("net").id

    assert destroy(standing, "app").code == 0
    assert destroy(standing, "vm").code == 0

    begin = [e.body for e in standing.ledger().history("vm") if isinstance(e.body, Begin)][-1]
    assert begin.command == "destroy"
    assert begin.inputs["network_id"].value == network
    assert "placeholder" not in begin.inputs["network_id"].reference


def test_a_teardown_uses_the_inputs_that_the_objects_were_made_with(
    standing: Project, cloud: Cloud, engine_program: str
) -> None:
    text = (standing.root / "hybridwrap.yaml").read_text()
    (standing.root / "hybridwrap.yaml").write_text(text.replace('"{{ modules.vm.ip }}"', '"192.168.0.1"'))
    address = cloud.only("app").attributes["tags"]

    assert destroy(standing, "app").code == 0

    begin = [e.body for e in standing.ledger().history("app") if isinstance(e.body, Begin)][-1]
    assert {"address": begin.inputs["address"].value} == address


def test_current_inputs_are_used_on_request(standing: Project) -> None:
    text = (standing.root / "hybridwrap.yaml").read_text()
    (standing.root / "hybridwrap.yaml").write_text(text.replace('"{{ modules.vm.ip }}"', '"192.168.0.1"'))

    assert destroy(standing, "app", "--inputs", "current").code == 0

    begin = [e.body for e in standing.ledger().history("app") if isinstance(e.body, Begin)][-1]
    assert begin.inputs["address"].value == "192.168.0.1"


def test_a_secret_that_is_not_to_be_had_any_more_gets_a_visible_placeholder(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    modules = "  db: {source: db, inputs: {password: {from_env: PASSWORD}, settings: {size: 3, zones: [a]}}}\n"
    project.write(manifest(engine_program, modules), db=DB)
    assert project.apply(PASSWORD=SECRET).code == 0

    ran = destroy(project)

    assert ran.code == 0, ran.text
    assert "password gets a placeholder" in ran.text
    assert "PASSWORD is not set" in ran.text
    begin = [e.body for e in project.ledger().history("db") if isinstance(e.body, Begin)][-1]
    assert begin.inputs["password"].reference == "placeholder"
    assert begin.inputs["settings"].value == {"size": 3, "zones": ["a"]}
    assert cloud.objects() == []


def test_a_secret_that_is_still_to_be_had_is_taken_and_never_recorded(project: Project, engine_program: str) -> None:
    modules = "  db: {source: db, inputs: {password: {from_env: PASSWORD}, settings: {size: 3, zones: [a]}}}\n"
    project.write(manifest(engine_program, modules), db=DB)
    assert project.apply(PASSWORD=SECRET).code == 0

    ran = destroy(project, PASSWORD=SECRET)

    assert ran.code == 0
    assert "placeholder" not in ran.text
    assert not any(SECRET.encode() in f.read_bytes() for f in (project.root / ".hybridwrap").rglob("*") if f.is_file())


def test_no_value_is_made_up_for_a_variable_that_a_provider_may_depend_on(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    steering = f'{DB}\nprovider "fakecloud" {{ database = var.password == "" ? null : null }}\n'
    modules = "  db: {source: db, inputs: {password: {from_env: PASSWORD}, settings: {size: 3, zones: [a]}}}\n"
    project.write(manifest(engine_program, modules), db=steering)
    assert project.apply(PASSWORD=SECRET).code == 0

    ran = destroy(project)

    assert ran.code == 10
    assert "no value for password" in ran.text
    assert "-var password=…" in ran.text
    assert cloud.calls(Operation.DELETE) == []
    assert destroy(project, "-var", f"password={SECRET}").code == 0


def test_a_plan_that_can_not_be_made_is_offered_without_a_look(project: Project, engine_program: str) -> None:
    up = 'resource "terraform_data" "it" {}\noutput "id" { value = terraform_data.it.id }\n'
    down = """
data "terraform_remote_state" "up" {
  backend = "local"
  config  = { path = "${path.module}/../.hybridwrap/state/default/up.tfstate" }
}
resource "terraform_data" "it" { input = data.terraform_remote_state.up.outputs }
"""
    modules = "  up: {source: up}\n  down: {source: down, depends_on: [up]}\n"
    project.write(manifest(engine_program, modules), up=up, down=down)
    assert project.apply().code == 0
    (project.root / ".hybridwrap/state/default/up.tfstate").unlink()

    ran = destroy(project, "down")

    assert ran.code == 4
    assert "a state that it reads can't be read" in ran.text
    assert "data.terraform_remote_state.up" in ran.text
    assert "hybridwrap destroy down -refresh=false" in ran.text
    assert project.statuses()["down"] == "ok"
    assert destroy(project, "down", "-refresh=false").code == 0
    assert project.statuses()["down"] == "destroyed"


# Sources


def test_a_module_whose_folder_is_gone_is_torn_down_from_its_commit(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program)
    git(project.root, "init", "-q")
    git(project.root, "add", "hybridwrap.yaml", "network", "vm", "app")
    git(project.root, "commit", "-q", "-m", "one")
    assert project.apply().code == 0
    git(project.root, "add", ".")  # the engine's lock files
    assert project.ledger().record("app").source is not None
    shutil.rmtree(project.root / "app")
    git(project.root, "commit", "-q", "-a", "-m", "app is history")

    ran = destroy(project, "app")

    assert ran.code == 0, ran.text
    assert "its folder app is gone; its source comes from" in ran.text
    assert not (project.root / "app").exists()
    assert project.statuses()["app"] == "destroyed"


def test_a_module_of_no_commit_is_torn_down_from_the_copy_in_the_ledger_with_its_children(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    project.write(
        manifest(engine_program, "  app: {source: modules/app, inputs: {file: ../../data/name}}\n"),
        **{
            "modules/app": 'variable "file" { type = string }\nmodule "common" {\n  source = "../common"\n'
            "  name   = trimspace(file(var.file))\n}\n",
            "modules/common": FAKECLOUD
            + 'variable "name" { type = string }\nresource "fakecloud_server" "s" { name = var.name }\n',
        },
    )
    (project.root / "data").mkdir()
    (project.root / "data/name").write_text("app")
    (project.root / "modules/app/secret.auto.tfvars").write_text('unused = "hunter2"\n')
    assert project.apply().code == 0
    source = project.ledger().record("app").source
    assert source is not None
    assert b"hunter2" not in project.ledger().get_blob(source.blob)
    shutil.rmtree(project.root / "modules")

    ran = destroy(project)

    assert ran.code == 0, ran.text
    assert "its source comes from the copy in the ledger" in ran.text
    assert cloud.objects() == []


def test_on_request_no_copy_of_a_source_is_kept(project: Project, engine_program: str) -> None:
    project.write(
        manifest(engine_program, "  app: {source: app}\n") + "ledger: {keep_source: false}\n",
        app='resource "terraform_data" "it" {}\n',
    )
    assert project.apply().code == 0
    source = project.ledger().record("app").source
    assert source is not None
    assert (source.git, source.blob) == ("", "")


def test_what_leads_to_no_source_is_said_and_nothing_is_forgotten(
    project: Project, cloud: Cloud, engine_program: str
) -> None:
    chain(project, engine_program)
    text = (project.root / "hybridwrap.yaml").read_text()
    (project.root / "hybridwrap.yaml").write_text(text + "ledger: {keep_source: false}\n")
    assert project.apply().code == 0
    shutil.rmtree(project.root / "app")

    ran = destroy(project, "app")

    assert ran.code == 10
    assert "neither a commit nor a copy of it is in the ledger" in ran.text
    assert "1 objects are known; its state is at .hybridwrap/state/default/app.tfstate" in ran.text
    assert project.statuses()["app"] == "ok"
    assert len(cloud.objects()) == 4


# Orphans


def without_app(project: Project) -> None:
    file = project.root / "hybridwrap.yaml"
    file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if "  app:" not in line))


def test_a_module_that_left_the_manifest_is_an_orphan_with_its_objects(standing: Project, cloud: Cloud) -> None:
    without_app(standing)
    app = cloud.only("app").id

    listed = standing.call("orphans")

    assert listed.code == 0
    assert "app" in listed.out
    assert app in listed.out
    assert "next: hybridwrap destroy --orphan app" in listed.out
    found = standing.call("orphans", "--json").json
    Draft202012Validator(load_schema("orphans.v1")).validate(found)
    assert [(o["module"], o["objects"], o["depends_on"]) for o in found["orphans"]] == [
        ("app", [{"address": "fakecloud_server.app", "id": app}], ["vm"])
    ]
    assert "not in the manifest" in standing.status()["app"]["reason"]


def test_no_orphans_is_an_answer(standing: Project) -> None:
    assert standing.call("orphans", "--json").json["orphans"] == []
    assert "there are no orphans" in standing.call("orphans").out


def test_what_an_orphan_needs_waits_for_it(standing: Project, cloud: Cloud) -> None:
    without_app(standing)

    ran = destroy(standing)

    assert ran.code == 10
    assert "teardown waits for app (ok)" in ran.text
    assert standing.statuses()["vm"] == "ok"


@pytest.mark.parametrize("folder", ["there", "gone"])
def test_an_orphan_is_torn_down_by_its_name(standing: Project, cloud: Cloud, folder: str) -> None:
    without_app(standing)
    if folder == "gone":
        shutil.rmtree(standing.root / "app")
    assert destroy(standing, "app").code == 64

    ran = destroy(standing, "--orphan", "app")

    assert ran.code == 0, ran.text
    assert standing.call("orphans", "--json").json["orphans"] == []
    assert [call.name for call in cloud.calls(Operation.DELETE)] == ["app"]
    assert destroy(standing).code == 0
    assert cloud.objects() == []


def test_only_an_orphan_can_be_named_as_one(standing: Project) -> None:
    assert destroy(standing, "--orphan", "app").code == 64
    assert destroy(standing, "--orphan", "nope").code == 64
