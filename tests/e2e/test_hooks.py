"""Hooks around operations and runs: what they can stop, what they are told, and that no record hangs on them."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hybridwrap.adapters.schemas import load_schema
from hybridwrap.domain.entry import Begin
from tests.support.project import Project, interrupt, wait

pytestmark = pytest.mark.e2e

NET = """
variable "x" { default = "a" }
resource "terraform_data" "net" { input = var.x }
output "id" { value = terraform_data.net.id }
output "key" {
  value     = "hunter2-hunter2"
  sensitive = true
}
"""
VM = 'variable "net" {}\nresource "terraform_data" "vm" { input = var.net }\n'
STACK = """
version: 1
stack: shop
RUN
modules:
  net: {source: net, hooks: HOOKS}
  vm: {source: vm, inputs: {net: "{{ modules.net.id }}"}}
"""
TELL = """#!/bin/sh
env | grep ^HYBRIDWRAP_ | grep -v _OUTPUTS | sort | tr '\\n' ' ' >> told
echo >> told
cp $HYBRIDWRAP_OUTPUTS outputs-$HYBRIDWRAP_HOOK
"""


def written(root: Path, hooks: str = "{}", *, run: str = "") -> Project:
    project = Project(root)
    project.write(STACK.replace("HOOKS", hooks).replace("RUN", run), net=NET, vm=VM)
    script(project, "tell", TELL)
    return project


def script(project: Project, name: str, text: str) -> None:
    (project.root / name).write_text(text)
    (project.root / name).chmod(0o755)


def told(project: Project) -> list[dict[str, str]]:
    """The HYBRIDWRAP_ variables of each call."""
    lines = (project.root / "told").read_text().splitlines()
    pairs = [[word.partition("=") for word in line.split()] for line in lines]
    return [{name.removeprefix("HYBRIDWRAP_"): value for name, _, value in line} for line in pairs]


def until_written(file: Path) -> int:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if file.exists() and (text := file.read_text().strip()):
            return int(text)
        time.sleep(0.02)
    raise TimeoutError(file)


def report(project: Project) -> Any:
    found = project.call("report", "--format", "json").json
    Draft202012Validator(load_schema("report.v1")).validate(found)
    return found


def test_hooks_are_told_what_it_is_about_and_recorded_with_what_became_of_them(tmp_path: Path) -> None:
    project = written(
        tmp_path,
        "{before: [[./tell]], after: [[./tell]], error: [[./tell]]}",
        run="hooks: {before: [[./tell]], after: [[./tell]]}",
    )
    assert project.apply().code == 0
    began, before, after, over = told(project)
    run = project.ledger().runs(1)[0]
    common = {"STACK": "shop", "ENVIRONMENT": "default", "RUN": run.start.run, "COMMAND": "apply"}
    operation = {"MODULE": "net", "OPERATION": project.ledger().record("net").operation}
    within = [each.pop("WITHIN") for each in (began, before, after, over)]
    assert within == ["before:shop/default", "before:shop/default/net", "after:shop/default/net", "after:shop/default"]
    assert began == {**common, "HOOK": "before"}
    assert before == {**common, **operation, "HOOK": "before", "STATUS": "none"}
    assert after == {**common, **operation, "HOOK": "after", "STATUS": "ok", "RESULT": "ok"}
    assert over == {**common, "HOOK": "after", "EXIT_CODE": "0"}
    outputs = json.loads((tmp_path / "outputs-after").read_text())  # of the run: by module
    assert outputs["net"]["key"] == {
        "value": "hunter2-hunter2",
        "sensitive": True,
        "provenance": "known",
        "type": "string",
    }
    assert [hook.when for hook in run.end.modules["net"].hooks] == ["before", "after"]  # type: ignore[union-attr]
    begin = project.ledger().history("net")[0].body
    assert isinstance(begin, Begin)
    assert [(hook.argv, hook.exit_code) for hook in begin.hooks] == [(("./tell",), 0)]
    assert "hunter2" not in "".join(file.read_text() for file in (tmp_path / ".hybridwrap/ledger").rglob("*.json"))
    found = report(project)
    assert [hook["when"] for hook in found["run"]["hooks"]] == ["before", "after"]

    assert project.apply().code == 0
    assert [each.get("MODULE") for each in told(project)[4:]] == [None, None], "there is no operation without a change"


def test_a_before_that_fails_stops_its_module_before_begin(tmp_path: Path) -> None:
    project = written(tmp_path, "{before: [[sh, -c, 'echo closed until Monday; exit 7'], [./tell]], error: [[./tell]]}")
    ran = project.apply()
    assert ran.code == 4
    assert "not begun: hook before `sh -c 'echo closed until Monday; exit 7'`: exit code 7" in ran.text
    assert "exit code 7: closed until Monday; log: .hybridwrap/operations/" in ran.text
    assert project.ledger().history("net") == ()
    assert [(each["MODULE"], each["HOOK"], each["RESULT"]) for each in told(project)] == [("net", "error", "refused")]
    status = project.status()
    assert {name: (each["status"], each["was"]) for name, each in status.items()} == {
        "net": ("pending", "none"),
        "vm": ("pending", "none"),
    }
    assert not list(tmp_path.rglob("vars.tfvars.json")) + list(tmp_path.rglob("plan"))
    for form in ("text", "markdown", "html", "junit"):
        assert "closed until Monday; exit 7" in project.call("report", "--format", form).out, form
    assert "exit code 7" in project.call("show").out

    project.write((project.root / "hybridwrap.yaml").read_text().replace("exit 7", "exit 0"))
    assert project.run("resume", "--auto-approve").code == 0
    assert project.statuses() == {"net": "ok", "vm": "ok"}


def test_an_after_that_fails_is_said_and_changes_nothing_that_is_recorded(tmp_path: Path) -> None:
    project = written(tmp_path, "{after: [[sh, -c, 'echo no answer; exit 3'], [./tell]]}")
    ran = project.apply()
    assert ran.code == 4
    assert "hooks that failed: net: after `sh -c 'echo no answer; exit 3'`: exit code 3" in ran.out
    assert len(told(project)) == 1, "the next one is called all the same"
    assert project.statuses() == {"net": "ok", "vm": "ok"}, "what needs it has its outputs, and goes on"
    kinds = [entry.kind for entry in project.ledger().history("net")]
    assert kinds == ["begin", "end"]
    module = next(each for each in report(project)["modules"] if each["module"] == "net")
    assert (module["result"], module["exit_code"], module["hooks"][0]["exit_code"]) == ("ok", 4, 3)
    for form in ("text", "markdown", "html", "junit"):
        assert "exit code 3" in project.call("report", "--format", form).out, form
    assert "exit code 3" in project.call("show").out
    assert project.call("ledger", "verify").code == 0


def test_error_is_called_after_the_record_of_a_failure(tmp_path: Path) -> None:
    project = written(tmp_path, "{error: [[./tell]], after: [[./tell]]}")
    failing = NET.replace("input = var.x }", 'input = var.x\n  provisioner "local-exec" { command = "exit 1" }\n}')
    failing = failing.replace("{ input", "{\n  input")
    project.write((project.root / "hybridwrap.yaml").read_text(), net=failing)
    assert project.apply().code == 4
    (call,) = told(project)
    assert (call["HOOK"], call["STATUS"], call["RESULT"]) == ("error", "error", "error")
    assert call["OPERATION"] == project.ledger().record("net").operation


def test_a_run_that_must_not_begin_plans_nothing(tmp_path: Path) -> None:
    project = written(tmp_path, run="hooks: {before: [[sh, -c, 'exit 9']], after: [[./tell]]}")
    ran = project.apply()
    assert ran.code == 4
    assert "the run was not begun: hook before `sh -c 'exit 9'`: exit code 9" in ran.text
    assert not (tmp_path / "told").exists()
    assert set(project.statuses().values()) == {"pending"}
    assert not list(tmp_path.rglob("plan.jsonl"))
    assert "exit code 9" in project.call("report").out
    junit = project.call("report", "--format", "junit").out
    assert 'tests="3" failures="1"' in junit
    assert '<testcase classname="shop.default" name="hooks of the run"' in junit


def test_a_program_that_is_not_there_is_said_before_anything(tmp_path: Path) -> None:
    project = written(tmp_path, "{after: [[./gone]]}")
    ran = project.apply()
    assert ran.code == 10
    assert "modules.net.hooks: ./gone is not there, or can't be run" in ran.text
    assert project.ledger().runs(1) == ()
    assert "hooks              modules.net.hooks: ./gone is not there" in project.call("doctor").out


KILLS = "[sh, -c, 'kill -9 $PPID']"


def test_a_hook_that_kills_hybridwrap_before_begin_leaves_no_record_of_an_operation(tmp_path: Path) -> None:
    project = written(tmp_path, f"{{before: [{KILLS}]}}")
    assert project.apply().code == -signal.SIGKILL
    assert project.ledger().history("net") == ()
    assert project.ledger().record("net").holder is None
    project.write((project.root / "hybridwrap.yaml").read_text().replace(KILLS, "[./tell]"))
    assert project.apply().code == 0
    assert project.call("ledger", "verify").code == 0


def test_a_hook_that_kills_hybridwrap_after_the_end_takes_nothing_back(tmp_path: Path) -> None:
    project = written(tmp_path, f"{{after: [{KILLS}]}}")
    assert project.apply().code == -signal.SIGKILL
    assert [entry.kind for entry in project.ledger().history("net")] == ["begin", "end"]
    assert project.statuses() == {"net": "ok", "vm": "pending"}
    assert project.call("ledger", "verify").code == 0
    assert project.run("resume", "--auto-approve").code == 0
    assert project.statuses() == {"net": "ok", "vm": "ok"}


def test_a_hook_that_forges_a_record_keeps_the_engine_from_starting(tmp_path: Path) -> None:
    """It can take the slot of `begin`, as anybody can who may write there; then there is no `begin`, and no apply."""
    project = written(tmp_path, "{before: [[./forge]]}")
    forged = '{\\"kind\\": \\"end\\", \\"status\\": \\"ok\\"}'
    log = ".hybridwrap/ledger/v1/shop/default/log/net"
    script(project, "forge", f'#!/bin/sh\nmkdir -p {log}\necho "{forged}" > {log}/00000001.json\n')
    ran = project.apply()
    assert ran.code == 33, ran.text
    assert not (tmp_path / ".hybridwrap/state/default/net.tfstate").exists()
    assert project.call("ledger", "verify").code == 33


def test_ctrl_c_ends_the_hook_that_runs(tmp_path: Path) -> None:
    project = written(tmp_path, "{before: [[sh, -c, 'echo $$ > pid; sleep 600']], error: [[./tell]]}")
    process = project.start("apply", "--auto-approve")
    pid = until_written(tmp_path / "pid")
    interrupt(process)
    ran = wait(process)
    assert ran.code == 130
    assert "was ended, as the run was stopped" in ran.text
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert project.ledger().history("net") == ()
    assert not (tmp_path / "told").exists(), "nothing new starts"


def test_a_secret_input_is_hidden_in_what_hooks_print(tmp_path: Path) -> None:
    project = written(tmp_path, '{after: [[sh, -c, "cat secret; exit 1"]]}', run="hooks: {after: [[cat, secret]]}")
    secret = NET.replace('{ default = "a" }', '{\n  default   = "a"\n  sensitive = true\n}')
    project.write((tmp_path / "hybridwrap.yaml").read_text(), net=secret)
    (tmp_path / "secret").write_text("s3cret-word")
    ran = project.apply("net", "-var", "x=s3cret-word")
    assert ran.code == 4
    assert ran.out.count("exit code 1: (sensitive value)") == 1
    assert all("s3cret-word" not in log.read_text() for log in tmp_path.rglob("hooks.log"))


def test_a_teardown_has_hooks_too(tmp_path: Path) -> None:
    project = written(tmp_path, "{before: [[./tell]], after: [[./tell]]}")
    assert project.apply().code == 0
    (tmp_path / "told").unlink()
    assert project.run("destroy", "--auto-approve").code == 0
    calls = [(each["HOOK"], each["COMMAND"], each["STATUS"]) for each in told(project)]
    assert calls == [("before", "destroy", "ok"), ("after", "destroy", "destroyed")]


def test_a_saved_run_has_hooks_too_and_none_of_them_gets_the_key_of_the_ledger(tmp_path: Path) -> None:
    project = written(tmp_path, "{before: [[./tell], [./look]], after: [[./tell]]}")
    script(project, "look", '#!/bin/sh\necho "key: ${LEDGER_KEY-none}"\n')
    encrypted = "stack: shop\nledger: {encryption: {key_from_env: LEDGER_KEY}}"
    project.write((tmp_path / "hybridwrap.yaml").read_text().replace("stack: shop", encrypted))
    key = {"LEDGER_KEY": b64encode(bytes(range(32))).decode()}
    planned = project.run("plan", "--save", "net", **key)
    assert planned.code == 0, planned.text
    assert not (tmp_path / "told").exists(), "a plan has no hooks"
    run = project.ledger().runs(1)[0].start.run
    applied = project.run("apply", "--run", run, **key)
    assert applied.code == 0, applied.text
    assert [(each["HOOK"], each["STATUS"]) for each in told(project)] == [("before", "none"), ("after", "ok")]
    (log,) = tmp_path.rglob("hooks.log")
    assert "key: none" in log.read_text()


def test_stacks_whose_hooks_call_each_other_in_a_circle_end_at_once_and_say_so(tmp_path: Path) -> None:
    apply = f"env, -u, HYBRIDWRAP_RUN, {sys.executable}, -m, hybridwrap, apply, --auto-approve, -f"
    for name, other in (("net", "shop"), ("shop", "net")):
        (tmp_path / name).mkdir()
        hooks = f"{{before: [[{apply}, ../{other}/hybridwrap.yaml]]}}"
        manifest = f"version: 1\nstack: {name}\nhooks: {hooks}\nmodules: {{vm: {{source: vm}}}}\n"
        Project(tmp_path / name).write(manifest, vm='output "x" { value = 1 }\n')

    ran = Project(tmp_path / "shop").apply()

    assert ran.code == 4, ran.text
    way = "before:shop/default > before:net/default > before:shop/default"
    assert f"was not called again from within itself: {way}" in ran.err
    assert "1 pending" in ran.out
