"""Plans that are saved, approved, and applied later: exactly these, from another checkout, or not at all."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support import s3_servers
from tests.support.lost_runner import kill, until_said
from tests.support.project import Project, Ran, wait
from tests.support.s3_servers import Fault, Server

pytestmark = pytest.mark.e2e

KEY = base64.b64encode(b"k" * 32).decode()
SETTINGS = """
version: 1
stack: shop
ledger: {encryption: {key_from_env: LEDGER_KEY}}
"""
MODULES = """
modules:
  network: {source: network}
  dns: {source: dns, inputs: {token: {from_env: TOKEN}}}
  vm: {source: vm, inputs: {subnet: "{{ modules.network.subnet }}"}}
"""
NETWORK = """
variable "cidr" { default = "10.0.0.0/24" }
resource "terraform_data" "net" { input = var.cidr }
output "subnet" { value = terraform_data.net.output }
"""
DNS = """
variable "token" {
  type      = string
  sensitive = true
}
resource "terraform_data" "zone" { input = var.token }
"""
VM = """
variable "subnet" { type = string }
resource "terraform_data" "vm" { input = var.subnet }
"""
SECRET = "very-secret-token"
_buckets = count()


@dataclass
class Site:
    """One checkout of a stack whose state and ledger lie in a bucket that others use, too."""

    project: Project
    server: Server
    bucket: str

    @property
    def root(self) -> Path:
        return self.project.root

    def run(self, *argv: str) -> Ran:
        return self.project.run(*argv)

    def plan(self, *argv: str) -> str:
        """Plan and save; return the id of the run."""
        ran = self.run("plan", "--save", "--json", *argv)
        assert ran.code == 0, ran.text
        return str(ran.lines[-1]["run"])

    def rewrite(self, module: str, old: str, new: str) -> None:
        file = self.root / module / "main.tf"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def elsewhere(self, folder: Path) -> Site:
        """The same files in another folder, as on another machine: nothing of `.hybridwrap` comes along."""
        shutil.copytree(self.root, folder, ignore=shutil.ignore_patterns(".hybridwrap"))
        return Site(Project(folder, self.project.environ), self.server, self.bucket)

    def objects(self, part: str) -> dict[str, bytes]:
        """What is stored under keys with a part in them."""
        client = self.server.client()
        listed: list[Any] = client.list_objects_v2(Bucket=self.bucket).get("Contents", [])
        keys = [item["Key"] for item in listed if part in item["Key"]]
        return {key: client.get_object(Bucket=self.bucket, Key=key)["Body"].read() for key in keys}

    def entries(self, module: str) -> list[Any]:
        found = self.objects(f"/log/{module}/")
        return [json.loads(found[key]) for key in sorted(found)]


@pytest.fixture
def site(moto: Server, tmp_path: Path) -> Iterator[Site]:
    bucket = moto.make_bucket(f"saved-{next(_buckets)}")
    root = tmp_path / "plan-job" / "checkout"
    root.mkdir(parents=True)
    project = Project(root, {**s3_servers.environment(), "LEDGER_KEY": KEY, "TOKEN": SECRET})
    project.write(SETTINGS + moto.state(bucket) + MODULES, network=NETWORK, dns=DNS, vm=VM)
    yield Site(project, moto, bucket)
    assert moto.app
    moto.app.faults.clear()


def results(ran: Ran) -> dict[str, str]:
    found: dict[str, str] = ran.lines[-1]["modules"]
    return found


def ends(ran: Ran) -> dict[str, Any]:
    return {line["module"]: line for line in ran.lines if line["type"] == "module_ended"}


def test_another_machine_applies_exactly_the_saved_plans_once(site: Site, tmp_path: Path) -> None:
    planned = site.run("plan", "--save", "--report", "plan.md")
    run = site.run("history", "--json").json[0]["run"]
    assert planned.out.splitlines()[-1] == f"next: hybridwrap apply --run {run}"
    assert "not covered by an approval of this run: vm" in planned.out
    for_reviewers = (site.root / "plan.md").read_text()
    assert f"hybridwrap apply --run {run}" in for_reviewers
    assert "Not covered by an approval of this run: `vm`" in for_reviewers
    assert "create" in site.run("show", run, "-v").out
    assert not site.entries("dns"), "planning records nothing of a module"
    assert all(SECRET.encode() not in data for data in site.objects("/saved/").values())
    saved = json.loads(next(data for key, data in site.objects("/saved/").items() if key.endswith(".json")))

    runner = site.elsewhere(tmp_path / "apply-job")
    none = runner.run("apply", "--run", run, "vm")
    assert (none.code, "nothing of run" in none.err) == (64, True), "a deferred module alone is never green"
    assert runner.run("apply", "--run", run, "dns").code == 0
    ran = runner.run("apply", "--run", run[:-2], "--json")
    assert ran.code == 0, ran.text
    assert results(ran) == {"network": "ok", "dns": "unchanged", "vm": "pending"}
    assert "has carried its plan out already" in ends(ran)["dns"]["reason"]
    assert not any(line.get("phase") == "plan" for line in ran.lines), "nothing was planned again"
    assert "not covered" in ends(ran)["vm"]["reason"]
    assert ends(ran)["vm"]["hint"] == "hybridwrap plan --save"
    for module in ("network", "dns"):
        begun = runner.entries(module)[0]["body"]
        assert begun["plan_digest"] == saved["modules"][module]["basis"]["digest"]
        assert begun["saved"] == run
    assert [key for key in runner.objects("/saved/") if key.endswith(".sealed")] == [], "secrets go when they are used"

    again = runner.run("apply", "--run", run)
    assert again.code == 5
    assert "is used up" in again.err
    _, _, look = again.err.partition("next: hybridwrap ")
    assert runner.run(*look.split()).code == 0, "of two runs that used it up, the newer one is shown"
    assert runner.run("ledger", "verify").code == 0


def test_what_has_moved_is_planned_again_and_may_do_no_more(site: Site) -> None:
    assert site.project.apply().code == 0
    site.rewrite("network", "10.0.0.0/24", "10.1.0.0/24")
    site.rewrite("dns", "input = var.token", 'input = "${var.token}!"')
    run = site.plan("network", "dns")
    site.rewrite("dns", "resource", 'resource "terraform_data" "more" {}\nresource')
    before = site.entries("network"), site.entries("dns")
    ran = site.run("apply", "--run", run, "--json")
    assert ran.code == 5, ran.text
    assert results(ran) == {"network": "pending", "dns": "refused"}
    assert "create terraform_data.more (not in the approved plan)" in ends(ran)["dns"]["reason"]
    assert "update terraform_data.zone" not in ends(ran)["dns"]["reason"]
    assert any("its files have changed" in line.get("text", "") for line in ran.lines)
    assert (site.entries("network"), site.entries("dns")) == before, "nothing was begun"

    site.rewrite("dns", 'resource "terraform_data" "more" {}\nresource', "resource")
    site.rewrite("dns", "!", "?")  # other files, the same action
    ran = site.run("apply", "--run", run, "--json")
    assert ran.code == 0, ran.text
    assert results(ran) == {"network": "ok", "dns": "ok"}
    assert site.entries("dns")[-2]["body"]["saved"] == run


def test_a_plan_that_names_its_folder_is_made_again_in_another_one(site: Site, tmp_path: Path) -> None:
    site.rewrite("network", "input = var.cidr", "input = path.cwd")
    run = site.plan("network")
    runner = site.elsewhere(tmp_path / "apply-job")
    ran = runner.run("apply", "--run", run)
    assert ran.code == 0, ran.text
    assert f"planned again: it has values in it that tell where it was made, in {site.root}/network" in ran.out


def test_a_plan_to_destroy_is_saved_and_carried_out_like_any_other(site: Site) -> None:
    assert site.project.apply().code == 0
    run = site.plan("--destroy")
    ran = site.run("apply", "--run", run, "--json")
    assert ran.code == 0, ran.text
    assert results(ran) == {"network": "destroyed", "dns": "destroyed", "vm": "destroyed"}
    assert all(entries[-2]["body"]["saved"] == run for entries in map(site.entries, ("network", "dns", "vm")))
    assert site.run("destroy", "--run", run).code == 5


def test_nothing_to_do_is_green_only_where_nothing_was_planned(site: Site) -> None:
    run = site.plan("network", "-var", "cidr=10.9.0.0/24")
    wrong = {
        ("--exclude", "network"): (64, "nothing of run"),
        ("dns",): (64, "has not planned dns"),
        ("-target", "x.y"): (64, "leave out options for the plan"),
        ("--run", ""): (64, "names no run"),
    }
    for argv, (code, told) in wrong.items():
        ran = site.run("apply", "--run", run, *argv)
        assert ran.code == code, ran.text
        assert told in ran.err
    assert site.run("destroy", "--run", run).code == 64
    assert site.run("apply", "--run", run).code == 0
    assert site.run("output", "--json").json["network"]["subnet"]["value"] == "10.9.0.0/24"

    empty = site.run("plan", "--save", "network", "-var", "cidr=10.9.0.0/24")
    assert "with nothing to apply" in empty.out
    ran = site.run("apply", "--run", site.run("history", "--json").json[0]["run"])
    assert ran.code == 0
    assert "had no changes: 1 module\n" in ran.text

    site.rewrite("network", "input = var.cidr", 'input = tonumber("x")')
    broken = site.run("plan", "--save", "network")
    assert (broken.code, "without any plan" in broken.out) == (4, True), broken.text
    ran = site.run("apply", "--run", site.run("history", "--json").json[0]["run"])
    assert (ran.code, "has no plan: 1 module\n" in ran.text) == (10, True), ran.text


def test_a_plan_that_is_gone_or_was_exchanged_is_not_applied(site: Site) -> None:
    run = site.plan("network", "dns")
    (document,) = (key for key in site.objects("/saved/") if key.endswith(".json"))
    saved = json.loads(site.objects(document)[document])
    bases = {name: module["basis"] for name, module in saved["modules"].items()}
    client, folder = site.server.client(), document.rpartition("/")[0]
    bases["network"]["plan"] = bases["dns"]["plan"]
    client.put_object(Bucket=site.bucket, Key=document, Body=json.dumps(saved).encode())
    ran = site.run("apply", "--run", run, "network")
    assert ran.code == 5
    assert "not the one that was approved" in ran.text
    for name in ("plan", "seal"):
        client.delete_object(Bucket=site.bucket, Key=f"{folder}/{bases['dns'][name]}.sealed")
    ran = site.run("apply", "--run", run, "dns")
    assert ran.code == 5
    assert "is not stored any more" in ran.text
    assert site.entries("network") == site.entries("dns") == []


def test_a_read_only_plan_writes_nothing_at_all(site: Site) -> None:
    assert site.project.apply("network", "dns").code == 0
    assert site.server.app
    site.server.app.faults.append(Fault(method="PUT|POST|DELETE", status=403, code="AccessDenied"))
    site.server.app.requests.clear()
    assert site.run("plan", "network").code != 0, "the engine can't lock the state"
    site.server.app.requests.clear()
    ran = site.run("plan", "--read-only")
    assert ran.code == 0, ran.text
    assert "1 planned" in ran.out
    assert "no state was locked" in ran.out
    assert {method for method, _ in site.server.app.requests} <= {"GET", "HEAD"}
    assert site.run("plan", "--read-only", "--save").code == 64


def test_jobs_that_share_a_name_plan_one_saved_run_and_apply_it_together(tmp_path: Path) -> None:
    project = Project(tmp_path, {"LEDGER_KEY": KEY, "TOKEN": SECRET, "HYBRIDWRAP_RUN": "ci-7"})
    project.write(SETTINGS + MODULES, network=NETWORK, dns=DNS, vm=VM)
    for module in ("network", "dns"):
        assert project.run("plan", "--save", module).code == 0
    jobs = [project.start("apply", "--run", "ci-7", "--join") for _ in range(2)]
    assert [wait(job).code for job in jobs] == [0, 0]
    assert project.statuses() == {"network": "ok", "dns": "ok", "vm": "none"}
    applied = project.run("report", "ci-7", "--format", "json").json
    assert applied["run"]["command"] == "apply"
    assert applied["run"]["saved"] == project.ledger().shared_runs.known("plan", "ci-7")
    wrong = project.apply("dns", "--run-modules", "netwrok")
    assert (wrong.code, "did you mean network?" in wrong.err) == (64, True), "else nobody would wait for it"
    late = project.run("apply", "--run", "ci-7", "--join")
    assert (late.code, "nothing to do" in late.out) == (0, True), late.text
    again = project.run("apply", "--run", "ci-7", HYBRIDWRAP_RUN="")
    assert again.code == 5
    assert "is used up" in again.err


ROW = """
modules:
  a: {source: link}
  b: {source: link, inputs: {before: "{{ modules.a.id }}"}}
  c: {source: link, inputs: {before: "{{ modules.b.id }}"}}
"""
LINK = """
variable "before" { default = "" }
resource "terraform_data" "link" { triggers_replace = var.before }
output "id" { value = terraform_data.link.id }
"""


def test_a_job_of_a_module_that_no_approval_covers_says_so_and_ends_well(tmp_path: Path) -> None:
    project = Project(tmp_path, {"LEDGER_KEY": KEY, "HYBRIDWRAP_RUN": "ci-8"})
    project.write(SETTINGS + ROW, link=LINK)
    assert project.run("plan", "--save").code == 0
    jobs = [project.run("apply", "--run", "ci-8", module) for module in ("a", "b", "c")]
    assert [job.code for job in jobs] == [0, 0, 0], jobs[2].text
    assert "not covered by the approval" in jobs[2].out
    assert "next: hybridwrap plan --save" in jobs[2].out
    assert project.statuses() == {"a": "ok", "b": "pending", "c": "pending"}


GATE = """
resource "terraform_data" "net" {
  provisioner "local-exec" {
    command = "for i in $(seq 6000); do [ -e ../go ] && exit 0; sleep 0.05; done; exit 1"
  }
}
"""


def test_what_a_killed_apply_had_not_begun_goes_on_by_the_same_approval(tmp_path: Path) -> None:
    project = Project(tmp_path, {"LEDGER_KEY": KEY, "TOKEN": SECRET})
    modules = (
        "modules:\n  network: {source: network}\n  dns: {source: dns, depends_on: [network], inputs: {token: x}}\n"
    )
    project.write(SETTINGS + modules, network=GATE, dns=DNS)
    run = str(project.run("plan", "--save", "--json").lines[-1]["run"])
    first = project.start("apply", "--run", run, "-vv")
    until_said(first, "terraform_data.net: creating")
    kill(first)
    (tmp_path / "go").touch()
    ran = project.run("apply", "--run", run, "--json")
    assert ran.code == 0, ran.text
    assert results(ran) == {"network": "unchanged", "dns": "ok"}
    assert "has carried its plan out already" in ends(ran)["network"]["reason"]
    entries = project.ledger().history("network")
    assert [str(entry.kind) for entry in entries] == ["begin", "end"], "it was not applied a second time"


def test_without_a_key_plans_are_not_saved(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("version: 1\nstack: shop\nmodules: {network: {source: network}}\n", network=NETWORK)
    ran = project.run("plan", "--save")
    assert ran.code == 10
    assert "they hold secrets" in ran.err
    assert "encryption: {key_from_env: HYBRIDWRAP_KEY}" in ran.err
    assert not (tmp_path / ".hybridwrap" / "ledger").exists()
