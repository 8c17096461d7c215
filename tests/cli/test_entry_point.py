"""The entry point: help, exit codes and errors, as a shell or a program gets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from hybridwrap import errors
from hybridwrap.cli.main import COMMANDS, main
from hybridwrap.errors import HybridwrapError, gravest
from tests.support.project import Project

EXIT_CODES = {
    "UsageError": 64,
    "InvalidManifest": 10,
    "PreflightRefused": 10,
    "EngineNotUsable": 40,
    "LedgerUnreachable": 30,
    "IntentInDoubt": 30,
    "WrongKey": 10,
    "LedgerDamaged": 33,
    "ApprovalOutdated": 5,
    "CredentialsRefused": 10,
    "ModuleBusy": 20,
    "StateLocked": 20,
    "SlotTaken": 20,
    "NeedChanged": 20,
    "PlanOutdated": 20,
    "Superseded": 21,
    "OutcomeUnknown": 32,
    "StateUnreadable": 32,
    "StateNotTheRecordedOne": 32,
    "ResultNotSent": 34,
    "EngineFailed": 4,
    "Stopped": 130,
    "LedgerMisused": 1,
    "Unexpected": 1,
    "NotPermitted": 1,
    "OutputNotWritten": 1,
    "ReaderGone": 141,
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_every_error_has_the_exit_code_that_is_promised() -> None:
    found = {
        name: kind.exit_code
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, HybridwrapError)
    }
    abstract = {"HybridwrapError", "NothingHappened"}
    assert {name: code for name, code in found.items() if name not in abstract} == EXIT_CODES


def test_for_several_modules_the_gravest_code_wins() -> None:
    order = [33, 32, 34, 21, 130, 143, 4, 5, 30, 20]
    for at, code in enumerate(order):
        assert gravest([*order[at:], 0, 10]) == code
    assert gravest([]) == 0
    assert gravest([0, 10]) == 10


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_whose_first_line_is_the_one_in_the_list(name: str) -> None:
    command = import_module(f"hybridwrap.cli.commands.{name.replace(' ', '_')}").command
    assert (command.help or "").splitlines()[0] == COMMANDS[name]
    ran = CliRunner().invoke(main, [*name.split(), "--help"])
    assert ran.exit_code == 0
    assert COMMANDS[name] in ran.output


def test_a_misspelt_command_is_answered_with_the_nearest_one(project: Project) -> None:
    ran = project.run("aply")
    assert (ran.code, ran.out) == (64, "")
    assert ran.err == 'there is no command "aply"\nnext: hybridwrap apply\n'


def test_an_unknown_option_is_wrong_usage(project: Project) -> None:
    ran = project.run("status", "--colour")
    assert ran.code == 64
    assert "--colour" in ran.err


def test_words_after_dashes_are_refused_where_they_would_get_lost(project: Project) -> None:
    ran = project.run("status", "--", "-refresh=false")
    assert ran.code == 64
    assert "takes no words after `--`" in ran.err


@pytest.mark.parametrize(
    "word", ["-destroy", "-out=plan", "--json", "-state=x", "-lock=false", "-lock=0", "-auto-approve"]
)
def test_words_for_the_engine_that_would_break_the_record_are_refused(project: Project, word: str) -> None:
    ran = project.run("plan", "--", word)
    assert ran.code == 64
    assert word in ran.err


def test_with_json_the_last_line_on_stderr_is_the_error(project: Project) -> None:
    ran = project.run("status", "--json")
    assert ran.code == 64
    last = json.loads(ran.err.splitlines()[-1])
    assert last["type"] == "exit"
    assert last["code"] == 64
    assert "hybridwrap.yaml" in last["message"]
    assert last["hint"]


def test_apply_asks_nobody_where_nobody_is(project: Project) -> None:
    project.write("version: 1\nstack: shop\nmodules: {}\n")
    ran = project.run("apply")
    assert ran.code == 64
    assert "--auto-approve" in ran.err


def test_a_stack_without_modules_is_fine_and_said(project: Project) -> None:
    project.write("version: 1\nstack: shop\nmodules: {}\n")
    ran = project.apply()
    assert ran.code == 0
    assert "nothing to do" in ran.out
    assert project.run("graph").out == "the stack has no modules\n"


def test_help_loads_neither_boto3_nor_rich_nor_an_engine() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['hybridwrap', '--help']\n"
        "from hybridwrap.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('boto3', 'rich', 'jinja2', 'jsonschema', 'msgspec', 'yaml') if m in sys.modules])\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_ctrl_c_while_commands_are_loaded_ends_it_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from hybridwrap.__main__ import main; main()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (-signal.SIGINT, "", "")


def test_a_reader_who_has_gone_is_no_bug() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "hybridwrap", "schema", "stack.v1"]
    ran = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, check=False)
    os.close(writes)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_without_a_manifest_it_is_said_how_to_get_one(project: Project) -> None:
    ran = project.run("plan")
    assert ran.code == 64
    assert ran.err.splitlines()[1].startswith("next: hybridwrap new ")


def test_an_environment_that_is_not_there_is_answered_with_one_that_is(project: Project) -> None:
    project.write("version: 1\nstack: shop\nmodules: {}\n")
    assert project.run("plan", "-e", "prod").err == (
        'no environment "prod"; there are: default\nnext: add to it: -e default\n'
    )


def test_a_file_of_a_module_that_cannot_be_read_is_named_and_no_bug(project: Project) -> None:
    project.write("version: 1\nstack: shop\nmodules: {vm: {source: vm}}\n", vm="")
    (project.root / "vm" / "more.tf").symlink_to("/proc/self/mem")  # which even root can't read from its beginning
    ran = project.run("validate")
    assert ran.code == 10
    assert "vm/more.tf  cannot be read: Input/output error" in ran.out + ran.err


def test_a_file_of_ours_that_may_not_be_read_is_said_and_no_bug() -> None:
    told = errors.as_told(PermissionError(13, "Permission denied", "/home/ana/x"))
    assert (told.exit_code, told.message) == (1, "/home/ana/x: Permission denied")
    assert "right" in told.hint
