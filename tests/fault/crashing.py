"""Runs one command with the real engine, and dies at one named point: by SIGKILL, or by an exception nobody expects.

`python -m tests.fault.crashing POINT HOW COMMAND…`, in the folder of the manifest. The ports that the command works
with are wrapped; nothing in hybridwrap knows of it. A process of its own, as only a dead process lets go of its locks.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NoReturn

from msgspec.structs import replace

from hybridwrap.adapters.clock import Ulids
from hybridwrap.cli.compose import Workshop, equip, load
from hybridwrap.cli.options import Place
from hybridwrap.cli.running import at_work, job_in, watcher
from hybridwrap.cli.variables import Variables
from hybridwrap.domain.engine_run import Hook
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.ports import Clock
from hybridwrap.run.apply import apply
from hybridwrap.run.context import Options
from hybridwrap.run.engine_command import run_changing
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.selection import Selection
from hybridwrap.run.takeover import unlock

MODULE = "network"
MAKES = {"at": "engine", "make": "folder", "take": "folder", "open": "folder"}  # what comes out of a call


class Crash(BaseException):
    """No part of hybridwrap expects it."""


@dataclass(frozen=True)
class Point:
    """Right before or after a call of a port, the nth of those that are about a key: a part of it, or an entry."""

    port: str  # store, engine, folder
    method: str
    when: str
    key: str | int = ""
    turn: int = 1

    def about(self, tail: int) -> str:
        return f"/log/{MODULE}/{tail + self.key:08}" if isinstance(self.key, int) else self.key


INTENT, RESULT = 1, 2  # entries of the operation, counted from the tail before it
POINTS = {
    "the plan is made": Point("engine", "plan", "after"),
    "the claim is kept": Point("folder", "keep_claim", "after"),
    "begin is on its way": Point("store", "create", "before", INTENT),
    "begin is stored, its answer lost": Point("store", "create", "after", INTENT),
    "begin is stored, its head is not": Point("store", "replace", "before", "/head/"),
    "begin is stored, the engine not started": Point("engine", "apply", "before"),
    "the engine is at work": Point("engine", "apply", "during"),
    "the engine has ended": Point("engine", "apply", "after"),
    "the state is read again": Point("engine", "state", "after", turn=2),
    "the result is kept": Point("folder", "keep_result", "after"),
    "end is on its way": Point("store", "create", "before", RESULT),
    "end is stored, its answer lost": Point("store", "create", "after", RESULT),
    "end is stored, its head is not": Point("store", "replace", "before", "/head/", turn=2),
    "the business is closed": Point("folder", "close_business", "after"),
    "the end of the run is on its way": Point("store", "create", "before", ".end.json"),
    "the command is not started": Point("engine", "run", "before"),
    "the command has ended": Point("engine", "run", "after"),
    "nowhere": Point("", "", ""),
    "takeover is on its way": Point("store", "create", "before", INTENT),
    "takeover is stored, its answer lost": Point("store", "create", "after", INTENT),
    "takeover is stored, nothing else": Point("store", "replace", "before", "/head/"),
    "the end of a takeover is on its way": Point("store", "create", "before", RESULT),
}


class Trapped:
    """A port, or what came out of one, that strikes at a point."""

    def __init__(self, target: Any, port: str, trap: Trap) -> None:
        self._target, self._port, self._trap = target, port, trap

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return found
        if name in MAKES:
            return lambda *args, **more: self._made(name, found(*args, **more))
        return self._trap.around(found, self._port, name)

    def _made(self, name: str, made: Any) -> Any:
        return made if made is None or isinstance(made, Liveness) else Trapped(made, MAKES[name], self._trap)


@dataclass
class Trap:
    point: Point
    how: str
    tail: int  # seq before the operation
    seen: int = 0

    def around(self, call: Callable[..., Any], port: str, method: str) -> Callable[..., Any]:
        point = self.point
        if (port, method) != (point.port, point.method):
            return call
        if point.when == "during":
            return lambda folder, listen: call(folder, self._deaf(listen))

        def watched(*args: Any, **more: Any) -> Any:
            fits = not point.key or point.about(self.tail) in f"/{args[0]}"
            self.seen += fits
            due = fits and self.seen == point.turn
            if due and point.when == "before":
                self.strike()
            result = call(*args, **more)
            if due:
                self.strike()
            return result

        return watched

    def _deaf(self, listen: Callable[[Any], None]) -> Callable[[Any], None]:
        def heard(event: Any) -> None:
            listen(event)
            if isinstance(event, Hook) and event.phase == "complete":
                self.strike()

        return heard

    def strike(self) -> NoReturn:
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise Crash


@dataclass(frozen=True)
class Skewed:
    """A clock that is wrong by so many minutes."""

    clock: Clock
    minutes: float

    def now(self) -> datetime:
        return self.clock.now() + timedelta(minutes=self.minutes)

    def monotonic(self) -> float:
        return self.clock.monotonic()

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)


def trapped(workshop: Workshop, trap: Trap) -> Workshop:
    """Wrap the ports; SKEW and BOOT in the environment make the clock wrong, and the host one that restarted since."""
    tools = workshop.tools
    clock = Skewed(tools.clock, float(os.environ.get("SKEW", "0")))
    writer = replace(tools.ledger.writer, boot=os.environ.get("BOOT", tools.ledger.writer.boot))
    store = Trapped(tools.ledger.store, "store", trap)
    return replace(
        workshop,
        tools=replace(
            tools,
            ledger=dataclasses.replace(  # noqa: TID251  of a dataclass
                tools.ledger, store=store, clock=clock, ids=Ulids(clock), writer=writer
            ),
            engines=Trapped(tools.engines, "engines", trap),
            folders=Trapped(tools.folders, "folders", trap),
            clock=clock,
            ids=Ulids(clock),
        ),
    )


def main(point: str, how: str, command: str) -> int:
    workshop = equip(load(Place(None, None)))
    workshop = trapped(workshop, Trap(POINTS[point], how, workshop.ledger.record(MODULE).seq))
    job = job_in(workshop, Selection((MODULE,)), Variables(), 1)
    with at_work(job, Options(parallelism=1), watcher(job)) as context:
        match command:
            case "apply":
                return apply(context, job.modules, None).exit_code
            case "taint":
                return run_changing(context, MODULE, ("taint", "fakecloud_server.gate"))
            case _:
                held = job.knowledge.record(MODULE).operation
                work = lambda: {MODULE: unlock(context, MODULE, held, "a test says so")}  # noqa: E731
                return recorded_run(context, "unlock", job.modules, work).exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
