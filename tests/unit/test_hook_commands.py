"""How hooks are called: as the module's engine, with a private log, ended when it is time, without the ledger's key."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from hybridwrap.adapters.clock import SystemClock
from hybridwrap.adapters.hook_commands import HookCommands
from hybridwrap.domain.hook_calls import Called, HookCall
from hybridwrap.domain.ports import Clock
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.stack import Credentials, FromEnv, LedgerSettings, Module, Stack

TOLD = "import os, sys; print(' '.join(f'{name}={os.environ.get(name)}' for name in sys.argv[1:]))"


def python(text: str, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text, *words)


class AsSoonAs(SystemClock):
    """A clock on which an hour passes as soon as a file is there; then it goes on, or stands still."""

    def __init__(self, file: Path, *, goes_on: bool = True) -> None:
        self._file = file
        self._goes_on = goes_on

    def monotonic(self) -> float:
        passing = super().monotonic() if self._goes_on else 0.0
        return passing + 3600.0 * self._file.exists()


class Shop:
    def __init__(
        self, root: Path, environ: Mapping[str, str] | None = None, clock: Clock | None = None, **wishes: object
    ) -> None:
        self.folder = root / "operation"
        self.folder.mkdir(mode=0o700)
        self.module = Module("vm", root / "vm", **wishes)  # type: ignore[arg-type]
        ledger = LedgerSettings(encryption={"key_from_env": "LEDGER_KEY"})
        stack = Stack("shop", "prod", root / "hybridwrap.yaml", {"vm": self.module}, ledger)
        self.hooks = HookCommands(stack, {**os.environ, **(environ or {})}, clock or SystemClock())

    def call(
        self,
        *hooks: tuple[str, ...],
        when: str = "after",
        seconds: float = 60,
        stopped: bool = False,
        of_run: bool = False,
    ) -> tuple[Called, ...]:
        names = {"HYBRIDWRAP_MODULE": "vm", "HYBRIDWRAP_HOOK": when}
        call = HookCall(when, hooks, seconds, self.folder, None if of_run else self.module, names, b'{"id":"vm-1"}')
        return self.hooks.call(call, lambda: stopped, Redaction(["hunter2"]).text)

    @property
    def log(self) -> str:
        return (self.folder / "hooks.log").read_text()


def test_a_hook_runs_as_the_engine_of_its_module_and_without_the_key_of_the_ledger(tmp_path: Path) -> None:
    credentials = Credentials(python('print(\'{"CLOUD_TOKEN": "s3cret-token"}\')'))
    shop = Shop(tmp_path, {"LEDGER_KEY": "k", "TF_CLI_ARGS": "-x"}, env={"REGION": "eu"}, credentials=credentials)
    (called,) = shop.call(python(TOLD, "REGION", "CLOUD_TOKEN", "LEDGER_KEY", "TF_CLI_ARGS", "HYBRIDWRAP_MODULE"))
    assert called.run.exit_code == 0
    told = "REGION=eu CLOUD_TOKEN=(sensitive value) LEDGER_KEY=None TF_CLI_ARGS=None HYBRIDWRAP_MODULE=vm"
    assert called.said == told
    assert told in shop.log
    assert "s3cret-token" not in shop.log


def test_outputs_lie_in_a_private_file_as_long_as_hooks_run(tmp_path: Path) -> None:
    look = "import os; file = os.environ['HYBRIDWRAP_OUTPUTS']; print(open(file).read(), oct(os.stat(file).st_mode))"
    shop = Shop(tmp_path)
    (called,) = shop.call(python(look))
    assert called.said == '{"id":"vm-1"} 0o100600'
    assert [file.name for file in shop.folder.iterdir()] == ["hooks.log"]
    assert (shop.folder / "hooks.log").stat().st_mode & 0o777 == 0o600


def test_what_a_hook_prints_means_nothing_and_known_secrets_in_it_are_masked(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    garbage = "import sys; sys.stdout.buffer.write(b'\\xff\\x00{\"exit_code\": 1}\\nhunter2 is the password\\n')"
    (called,) = shop.call(python(garbage))
    assert (called.run.failed, called.said) == (False, "(sensitive value) is the password")
    assert b"hunter2" not in (shop.folder / "hooks.log").read_bytes()
    assert b"\xff\x00" in (shop.folder / "hooks.log").read_bytes()


@pytest.mark.parametrize("of_run", [True, False])
def test_secrets_that_modules_take_from_the_environment_are_masked_in_every_hook(
    tmp_path: Path, *, of_run: bool
) -> None:
    shop = Shop(tmp_path, {"DB_PASSWORD": "s3cret-word"}, inputs={"password": FromEnv("DB_PASSWORD")})
    (called,) = shop.call(python(TOLD, "DB_PASSWORD"), of_run=of_run)
    assert called.said == "DB_PASSWORD=(sensitive value)"
    assert "s3cret-word" not in shop.log


@pytest.mark.parametrize(("when", "called"), [("before", 1), ("after", 3), ("error", 3)])
def test_the_first_of_before_that_fails_is_the_last_that_is_called(tmp_path: Path, when: str, called: int) -> None:
    shop = Shop(tmp_path)
    runs = shop.call(python("import sys; sys.exit(3)"), ("./no-such-program",), python(""), when=when)
    endings = ["exit code 3", "could not be started: No such file or directory", "exit code 0"]
    assert [each.run.ending for each in runs] == endings[:called]


CHILD = """
import fcntl, subprocess, sys, time
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
subprocess.Popen([sys.executable, "-c", "BEFOREimport time; time.sleep(600)"], pass_fds=[lock.fileno()])
lock.close()
print("started", flush=True)
open("over", "w").close()
time.sleep(600)
"""


def until_free(file: Path) -> bool:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with file.open() as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("before", ["", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "])
def test_a_hook_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path, before: str) -> None:
    shop, held = Shop(tmp_path, clock=AsSoonAs(tmp_path / "over")), tmp_path / "held"
    (called,) = shop.call(python(CHILD.replace("BEFORE", before), str(held)))
    assert (called.run.ending, called.run.exit_code, called.said) == ("did not end within 1m", None, "started")
    assert until_free(held), "the child lives"


def test_what_a_hook_started_has_time_to_end_by_itself_also_when_its_parent_is_gone(tmp_path: Path) -> None:
    child = "(trap 'sleep 0.3; echo cleaned; exit' TERM; touch over; while :; do sleep 0.05; done) & exec sleep 600"
    shop = Shop(tmp_path, clock=AsSoonAs(tmp_path / "over", goes_on=False))
    (called,) = shop.call(("sh", "-c", child))
    assert (called.run.ending, called.said) == ("did not end within 1m", "cleaned")


def test_no_hook_is_called_once_the_run_is_stopped(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    (called,) = shop.call(python("print('here')"), stopped=True)
    assert called.run.ending == "was not called, as the run was stopped"
    assert called.run.failed


SHOW_WITHIN = python("import os; print(os.environ['HYBRIDWRAP_WITHIN'])")


@pytest.mark.parametrize(
    ("outer", "told"),
    [("", "before:shop/prod/vm"), ("after:net/prod", "after:net/prod,before:shop/prod/vm")],
)
def test_a_hook_is_told_within_which_ones_it_is_called(tmp_path: Path, outer: str, told: str) -> None:
    (called,) = Shop(tmp_path, {"HYBRIDWRAP_WITHIN": outer}).call(SHOW_WITHIN, when="before")
    assert called.said == told


@pytest.mark.parametrize("way", [("before:shop/prod/vm",), ("before:shop/prod/vm", "after:net/prod/subnet")])
def test_a_hook_is_not_called_again_by_what_it_has_called_itself_or_through_others(
    tmp_path: Path, way: tuple[str, ...]
) -> None:
    (called,) = Shop(tmp_path, {"HYBRIDWRAP_WITHIN": ",".join(way)}).call(SHOW_WITHIN, when="before")
    told = " > ".join((*way, "before:shop/prod/vm"))
    assert called.run.ending == f"was not called again from within itself: {told}"


@pytest.mark.parametrize(
    "other", ["after:shop/prod/vm", "before:shop/prod/db", "before:shop/prod", "before:net/prod/vm"]
)
def test_another_hook_is_called_from_within_one(tmp_path: Path, other: str) -> None:
    (called,) = Shop(tmp_path, {"HYBRIDWRAP_WITHIN": other}).call(SHOW_WITHIN, when="before")
    assert called.run.ending == "exit code 0"


def test_a_program_that_is_not_there_is_known_beforehand(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    (tmp_path / "check").write_text("#!/bin/sh\n")
    assert shop.hooks.why_not(("./check",), shop.module) == "./check is not there, or can't be run"
    (tmp_path / "check").chmod(0o755)
    assert shop.hooks.why_not(("./check",), None) == ""
    assert shop.hooks.why_not(("sh", "-c", "true"), shop.module) == ""
    assert shop.hooks.why_not(("no-such-program",), shop.module) == "no-such-program is not there, or can't be run"


def test_why_a_circle_of_hooks_has_ended_is_told_whatever_is_said_after_it(tmp_path: Path) -> None:
    inner = "hook after `hybridwrap apply`: was not called again from within itself: a > b > a"
    (called,) = Shop(tmp_path).call(python(f"print({inner!r}); print('next: hybridwrap resume'); raise SystemExit(4)"))
    assert called.said == "was not called again from within itself: a > b > a"
