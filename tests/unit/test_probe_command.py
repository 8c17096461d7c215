"""A module's own command is asked whether its objects are absent; everything but a clear answer is none."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from hybridwrap.adapters.clock import SystemClock
from hybridwrap.adapters.probe_command import ask_command
from hybridwrap.adapters.probes import StackProber
from hybridwrap.domain.absence import Answer, Probe
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.stack import Credentials, LedgerSettings, Module, Stack, Verify

WEB = CloudObject("aws_instance.web", "aws_instance", "id", "i-1")


def ask(folder: Path, *argv: str, seconds: float = 60) -> Probe:
    module = Module("vm", folder / "vm", verify=Verify(argv, seconds))
    names = {"stack": "shop", "environment": "prod", "module": "vm"}
    return ask_command(module, [WEB], folder=folder, env=dict(os.environ), names=names)


def python(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", Answer.ABSENT),
        ("print('all is gone')", Answer.ABSENT),
        ("import sys; sys.exit(1)", Answer.PRESENT),
        ("raise OSError('unreachable')", Answer.PRESENT),  # a crash of Python is exit code 1: it is never "absent"
        ("import sys; sys.exit(2)", Answer.UNVERIFIABLE),
        ("import sys; sys.exit(255)", Answer.UNVERIFIABLE),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", Answer.UNVERIFIABLE),
    ],
)
def test_the_exit_code_is_the_answer(tmp_path: Path, text: str, answer: Answer) -> None:
    assert ask(tmp_path, *python(text)).answer is answer


def test_survivors_are_the_lines_that_are_printed(tmp_path: Path) -> None:
    probe = ask(tmp_path, *python("import sys; print('i-1\\n\\n  vol-2 '); sys.exit(1)"))
    assert probe.survivors == ("i-1", "vol-2")


def test_a_crash_that_counts_as_present_says_that_it_is_one(tmp_path: Path) -> None:
    probe = ask(tmp_path, *python("raise OSError('unreachable')"))
    assert (probe.answer, probe.survivors, probe.detail) == (Answer.PRESENT, (), "OSError: unreachable")


def test_the_reason_of_an_answer_that_is_none_is_its_last_line(tmp_path: Path) -> None:
    probe = ask(tmp_path, *python("import sys; print('x\\n403 Forbidden', file=sys.stderr); sys.exit(7)"))
    assert probe.detail == "exit code 7 403 Forbidden"


def test_a_command_that_is_not_there_has_not_looked(tmp_path: Path) -> None:
    probe = ask(tmp_path, "./no-such-command")
    assert (probe.answer, probe.detail) == (
        Answer.UNVERIFIABLE,
        "could not be started: No such file or directory",
    )


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    probe = ask(tmp_path, *python(child), seconds=0.5)
    assert (probe.answer, probe.detail) == (Answer.UNVERIFIABLE, "no answer within 0.5 s")


def test_a_command_is_told_which_module_it_is_about_and_what_is_known(tmp_path: Path) -> None:
    look = """
import json, os, sys
known = json.load(sys.stdin)
names = [os.environ["HYBRIDWRAP_" + name] for name in ("STACK", "ENVIRONMENT", "MODULE")]
print(json.dumps([os.getcwd(), names, known]))
sys.exit(1)
"""
    folder, names, known = json.loads(ask(tmp_path, *python(look)).survivors[0])
    assert Path(folder) == tmp_path.resolve()
    assert names == ["shop", "prod", "vm"]
    assert known["objects"][0]["id"] == "i-1"
    assert (known["stack"], known["environment"], known["module"]) == ("shop", "prod", "vm")


def test_who_can_not_be_who_the_engine_is_has_not_looked(tmp_path: Path) -> None:
    stack = Stack("shop", "prod", tmp_path / "hybridwrap.yaml", {}, LedgerSettings())
    prober = StackProber(stack, dict(os.environ), SystemClock())
    token = Credentials(python('print(\'{"TOKEN": "t-12345"}\')'))
    absent = Verify(python("import os, sys; sys.exit(0 if os.environ.get('TOKEN') else 7)"))
    (seen,) = prober.ask(Module("vm", tmp_path / "vm", verify=absent, credentials=token), [WEB])
    assert seen.answer is Answer.ABSENT, "it is asked with the credentials of the engine"
    nobody = Credentials(python("import sys; sys.exit('no session')"))
    (seen,) = prober.ask(Module("vm", tmp_path / "vm", verify=absent, credentials=nobody), [WEB])
    assert seen.answer is Answer.UNVERIFIABLE
    assert "exit code 1: no session" in seen.detail
