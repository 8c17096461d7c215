"""The time of a run or a module: how it is written, whom it stops, and that nobody is interrupted twice by it."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import pytest

from hybridwrap.adapters.clock import SystemClock
from hybridwrap.adapters.engine.process import Command, Processes
from hybridwrap.adapters.engine.streaming import ignore, open_private, stream
from hybridwrap.domain.duration import in_words, seconds_in
from hybridwrap.domain.engine_run import Ended
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.stack import Module
from hybridwrap.run.deadline import late_code, overdue
from hybridwrap.run.stop import Stop
from tests.support.ledgers import FakeClock

MODULE = Module("vm", Path("/vm"), timeout_seconds=600)

# Counts the interrupts that it gets until the file `go` is there.
COUNTS = """
import signal, sys, time
from pathlib import Path
count = 0
def interrupted(*_):
    global count
    count += 1
    Path("go" if sys.argv[1:] else "interrupted").touch()
signal.signal(signal.SIGINT, interrupted)
Path("ready").touch()
while not Path("go").exists():
    time.sleep(0.01)
sys.exit(count)
"""


@dataclass
class Engines:
    """Two engines; `sent` has what was asked of them."""

    sent: list[bool] = field(default_factory=list)

    def interrupt(self, *, again: bool = False) -> int:
        self.sent.append(again)
        return 2


@pytest.mark.parametrize(
    ("text", "seconds", "back"),
    [
        ("45s", 45, "45s"),
        ("1h30m", 5400, "1h30m"),
        ("90", 90, "1m30s"),
        ("24h", 86_400, "1d"),
        ("0.5", 0.5, "0.5s"),
        ("0", 0, "0s"),
    ],
)
def test_a_span_of_time_is_read_and_written(text: str, seconds: float, back: str) -> None:
    assert seconds_in(text) == seconds
    assert in_words(seconds_in(text)) == back
    assert seconds_in(back) == seconds


@pytest.mark.parametrize("text", ["", "vm", "1 h", "-5", "5x", "1m1h", "1.5h"])
def test_what_is_no_span_of_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no span of time"):
        seconds_in(text)


def test_nothing_starts_once_the_time_of_the_run_is_up() -> None:
    clock = FakeClock()
    stop = Stop(clock, Engines().interrupt, timeout_seconds=60)
    clock.sleep(59)
    assert (stop.wanted, stop.late) == (False, False)
    clock.sleep(1)
    assert (stop.wanted, stop.late) == (True, True)
    assert stop.reason == "the time of the run was up after 1m"


def test_a_run_without_a_limit_is_never_late() -> None:
    clock = FakeClock()
    stop = Stop(clock, Engines().interrupt)
    clock.sleep(10**9)
    assert (stop.wanted, stop.reason) == (False, "")


def test_the_first_reason_to_stop_stays() -> None:
    clock = FakeClock()
    stop = Stop(clock, Engines().interrupt, timeout_seconds=60)
    stop.no_more("--fail-fast after vm")
    clock.sleep(60)
    assert stop.reason == "--fail-fast after vm"


def test_only_a_third_signal_in_a_row_interrupts_again() -> None:
    engines = Engines()
    stop = Stop(FakeClock(), engines.interrupt)
    told = [stop.signalled("SIGINT") for _ in range(3)]
    assert engines.sent == [False, True]
    assert told == [
        "SIGINT: ending 2 engines gracefully; nothing new starts",
        "SIGINT: still waiting for the engine to save its state; twice more within 10 s interrupts it again",
        "SIGINT: interrupted 2 engines again; the outcome may be unknown",
    ]


def test_where_no_engine_is_at_work_none_is_ended() -> None:
    assert Stop(FakeClock(), lambda *, again=False: 0).signalled("SIGINT") == "SIGINT: nothing new starts"


def test_waiting_ends_with_the_time_of_the_run_or_a_signal() -> None:
    clock = FakeClock()
    stop = Stop(clock, Engines().interrupt, timeout_seconds=60)
    assert stop.wait(50)
    assert clock.seconds == pytest.approx(50)
    assert not stop.wait(50)
    assert clock.seconds == pytest.approx(60, abs=0.3)
    stopped = Stop(clock, Engines().interrupt)
    stopped.signalled("SIGTERM")
    assert not stopped.wait(50)


@pytest.mark.parametrize(
    ("ended", "late", "reason"),
    [
        (Ended(1, interrupts=1, overdue=True), False, "its timeout of 10m was up"),
        (Ended(1, interrupts=1, overdue=True), True, "the time of the run was up after 1m"),
        (Ended(1, interrupts=1), True, ""),
    ],
)
def test_the_reason_says_whose_time_was_up(ended: Ended, late: bool, reason: str) -> None:
    clock = FakeClock()
    stop = Stop(clock, Engines().interrupt, timeout_seconds=60)
    clock.sleep(60 * late)
    assert overdue(stop, MODULE, ended) == reason


@pytest.mark.parametrize(
    ("timeout", "results", "code"),
    [(60, ["ok", "pending"], 130), (60, ["ok", "unchanged"], 0), (inf, ["ok", "error"], 0)],
)
def test_a_run_whose_time_was_up_is_an_interrupted_one_unless_all_was_done(
    timeout: float, results: list[str], code: int
) -> None:
    clock = FakeClock()
    stop = Stop(clock, Engines().interrupt, timeout_seconds=timeout)
    clock.sleep(100)
    assert late_code(stop, [ModuleEnd(result) for result in results]) == code


def test_an_engine_is_interrupted_once_when_its_time_is_up_and_a_signal_leaves_it_alone(tmp_path: Path) -> None:
    processes = Processes(SystemClock())
    process = processes.start(Command((sys.executable, "-c", COUNTS), tmp_path, os.environ), stdout=None, stderr=None)
    while not (tmp_path / "ready").exists():
        assert process.pid
    answers: list[int] = []

    def signal_after_the_interrupt() -> None:
        if (tmp_path / "interrupted").exists() and not answers:
            answers.append(processes.interrupt())
            (tmp_path / "go").touch()

    ended = processes.finish(process, signal_after_the_interrupt, limit=0.1)
    assert answers == [0]
    assert (ended.exit_code, ended.interrupts, ended.overdue) == (1, 1, True)


def test_an_engine_that_was_interrupted_by_a_signal_is_not_interrupted_again_by_its_time(tmp_path: Path) -> None:
    processes = Processes(SystemClock())
    process = processes.start(
        Command((sys.executable, "-c", COUNTS, "end"), tmp_path, os.environ), stdout=None, stderr=None
    )
    while not (tmp_path / "ready").exists():
        assert process.pid
    assert processes.interrupt() == 1
    ended = processes.finish(process, limit=0)
    assert (ended.exit_code, ended.interrupts, ended.overdue) == (1, 1, False)


def test_an_interrupt_that_comes_while_an_engine_is_being_started_reaches_it_all_the_same(tmp_path: Path) -> None:
    processes, output = Processes(SystemClock()), tmp_path / "events.jsonl"
    assert processes.interrupt() == 0
    command = Command(("/bin/sleep", "600"), tmp_path, os.environ)
    ended, _ = stream(processes, command, output, open_private(output, "w"), ignore)
    assert (ended.signal, ended.interrupts, ended.overdue) == (signal.SIGINT, 1, False)


def test_what_is_read_or_put_in_order_after_an_interrupt_is_left_alone(tmp_path: Path) -> None:
    processes = Processes(SystemClock())
    processes.interrupt()
    command = Command(("/bin/sh", "-c", "echo state"), tmp_path, os.environ)
    ended, stdout, _ = processes.capture(command)
    assert (ended.exit_code, ended.interrupts, stdout) == (0, 0, b"state\n")
    assert processes.finish(processes.start(command, stdout=None, stderr=None)).interrupts == 0


def test_what_only_reads_has_all_the_time_it_needs(tmp_path: Path) -> None:
    processes = Processes(SystemClock())
    processes.deadline = 0
    ended, stdout, _ = processes.capture(Command(("/bin/sh", "-c", "sleep 0.2; echo state"), tmp_path, os.environ))
    assert (ended.exit_code, ended.interrupts, stdout) == (0, 0, b"state\n")
