"""What an engine process gets from us, and what is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hybridwrap.adapters.clock import SystemClock
from hybridwrap.adapters.engine.ending import asked_by_handle, asked_by_thread, end_of
from hybridwrap.adapters.engine.process import Command, Process, Processes, Tail
from hybridwrap.errors import EngineNotUsable

# An engine with a plugin: its exit code is the number of interrupts that reached it until the file `go` was there.
ENGINE = """
import signal, subprocess, sys, time
from pathlib import Path
plugin = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
plugin.stdout.readline()
count = 0
def interrupted(*_):
    global count
    count += 1
    print("interrupted", flush=True)
signal.signal(signal.SIGINT, interrupted)
print("ready", flush=True)
while not Path("go").exists():
    time.sleep(0.01)
plugin.communicate()
sys.exit(count)
"""
PLUGIN = """
import signal, sys
from pathlib import Path
signal.signal(signal.SIGINT, lambda *_: Path("plugin-was-interrupted").touch())
print("ready", flush=True)
sys.stdin.read()
"""


def test_an_interrupt_reaches_the_engine_once_and_its_plugins_never(tmp_path: Path) -> None:
    processes = Processes(SystemClock())
    reader, writer = os.pipe()
    command = Command((sys.executable, "-c", ENGINE, PLUGIN), tmp_path, os.environ)
    process = processes.start(command, stdout=writer, stderr=None)
    os.close(writer)
    with os.fdopen(reader) as told:
        assert told.readline() == "ready\n"
        assert processes.interrupt() == 1
        assert told.readline() == "interrupted\n"
        (tmp_path / "go").touch()
        ended = processes.finish(process)

    assert (ended.exit_code, ended.interrupts) == (1, 1)
    assert not (tmp_path / "plugin-was-interrupted").exists()
    assert processes.interrupt() == 0


def test_a_signal_and_a_deadline_at_the_same_time_send_one_interrupt_together(tmp_path: Path) -> None:
    class Child(subprocess.Popen[bytes]):
        """While it is interrupted, its deadline comes."""

        sent = 0

        def send_signal(self, sig: int) -> None:
            self.sent += 1
            if self.sent == 1:
                deadline.start()
                deadline.join(0.2)  # as long as it takes, were nothing in its way

    child = Child(("/bin/cat",), stdin=subprocess.PIPE)  # lives until its input is closed
    process = Process(Command((), tmp_path, {}), child, SystemClock())
    deadline = threading.Thread(target=process.end_by, args=(0.0,))
    assert process.interrupt()
    deadline.join()
    assert child.sent == 1
    child.communicate()


@pytest.mark.parametrize(
    ("script", "exit_code", "by"),
    [
        ("exit 0", 0, None),
        ("exit 2", 2, None),
        ("kill -KILL $$", None, signal.SIGKILL),
        ("kill -INT $$", None, signal.SIGINT),
    ],
)
def test_an_end_is_told_by_exit_code_or_signal(
    tmp_path: Path, script: str, exit_code: int | None, by: int | None
) -> None:
    command = Command(("/bin/sh", "-c", script), tmp_path, {"PATH": os.environ["PATH"]})
    ended, stdout, stderr = Processes(SystemClock()).capture(command)
    assert (ended.exit_code, ended.signal, ended.argv) == (exit_code, by, command.argv)
    assert ended.seconds > 0
    assert (stdout, stderr) == (b"", b"")


def test_stdin_is_empty_and_both_outputs_are_read_whole(tmp_path: Path) -> None:
    script = "cat; seq 100000; seq 100000 >&2"
    command = Command(("/bin/sh", "-c", script), tmp_path, {"PATH": os.environ["PATH"]})
    _, stdout, stderr = Processes(SystemClock()).capture(command)
    assert len(stdout) == len(stderr) == 588_895


def test_a_process_starts_in_a_session_of_its_own_with_only_its_three_files(tmp_path: Path) -> None:
    script = "import os; print(os.getsid(0) == os.getpid(), len(os.listdir('/proc/self/fd')))"
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    _, stdout, _ = Processes(SystemClock()).capture(Command((sys.executable, "-c", script), tmp_path, os.environ))
    os.close(reader)
    os.close(writer)
    assert stdout == b"True 4\n"  # the fourth is the listing itself


def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(EngineNotUsable, match=r"/nowhere/terraform could not be started in .*: No such file"):
        Processes(SystemClock()).capture(Command(("/nowhere/terraform",), tmp_path, {}))


def test_a_listener_that_fails_does_not_leave_the_engine_alone(tmp_path: Path) -> None:
    processes = Processes(SystemClock())
    process = processes.start(
        Command(("/bin/sh", "-c", "sleep 0.2; touch done"), tmp_path, os.environ), stdout=None, stderr=None
    )

    def fail() -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        processes.finish(process, fail)
    assert (tmp_path / "done").exists()


def test_what_is_written_last_is_still_passed_on(tmp_path: Path) -> None:
    command = Command(("/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.01; done; echo last"), tmp_path, os.environ)
    processes = Processes(SystemClock())
    with (tmp_path / "out").open("wb") as stdout:
        process = processes.start(command, stdout=stdout.fileno(), stderr=None)
    seen: list[str] = []

    def read_then_see_it_end() -> None:
        seen.append((tmp_path / "out").read_text())
        (tmp_path / "go").touch()
        for thread in threading.enumerate():
            if thread.name == f"engine {process.pid}":
                thread.join()

    processes.finish(process, read_then_see_it_end)
    assert seen == ["", "last\n"]


def test_a_tail_passes_on_what_is_appended_and_nothing_twice(tmp_path: Path) -> None:
    file = tmp_path / "events"
    file.touch()
    seen: list[bytes] = []
    with file.open("ab", buffering=0) as writer, Tail(file, seen.append) as tail:
        for data in (b"one\ntw", b"", b"o\n\xff\x00"):
            writer.write(data)
            tail.read()
    assert b"".join(seen) == b"one\ntwo\n\xff\x00"


@pytest.mark.parametrize("kind", ["by handle", "by thread"])
def test_the_end_of_a_child_is_waited_for_and_never_missed(tmp_path: Path, kind: str) -> None:
    if kind == "by handle" and not hasattr(os, "pidfd_open"):
        pytest.skip("only Linux has such handles")
    child = subprocess.Popen(["/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.01; done; exit 3"], cwd=tmp_path)
    asking = asked_by_thread(child) if kind == "by thread" else asked_by_handle(child, os.pidfd_open(child.pid))
    with asking as has_ended:
        assert not has_ended(0.0)
        (tmp_path / "go").touch()
        while not has_ended(60.0):
            pass
    assert child.returncode == 3


def test_a_child_that_somebody_else_reaped_has_ended() -> None:
    child = subprocess.Popen(["/bin/sh", "-c", "exit 3"])
    with end_of(child) as has_ended:
        child.wait()
        assert has_ended(60.0)
    assert child.returncode == 3


def test_an_engine_that_has_ended_by_itself_is_not_interrupted() -> None:
    processes = Processes(SystemClock())
    process = processes.start(Command(("/bin/sh", "-c", "exit 0"), Path("/"), os.environ), stdout=None, stderr=None)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it stays to be reaped
    ended = processes.finish(process, limit=0.0)
    assert (ended.exit_code, ended.interrupts, ended.overdue) == (0, 0, False)
