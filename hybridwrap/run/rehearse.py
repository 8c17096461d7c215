"""A failure drill on a copy of a stack: something breaks, is looked at, repaired, gone on with, and torn down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from hybridwrap.domain.entry import Begin
from hybridwrap.domain.graph import order
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.record import Record
from hybridwrap.domain.rehearsal import COMMANDS, Failure, Refusal, Seen, Typed, left_standing
from hybridwrap.domain.scorecard import GONE, Facts
from hybridwrap.domain.stack import Module
from hybridwrap.domain.status import Status
from hybridwrap.errors import EngineFailed, ModuleBusy, OutcomeUnknown, PreflightRefused
from hybridwrap.run.context import PARALLELISM

ROUNDS = 3  # of looking and repairing, for each failure: more never helps
# Exit codes of commands that did what they could; busy: by what a killed one had started and left.
PLAYED = (0, EngineFailed.exit_code, OutcomeUnknown.exit_code, ModuleBusy.exit_code)
MANY = 20  # modules: of more only what went wrong is told
LEFT = (Status.ERROR, Status.UNKNOWN, Status.RUNNING, Status.PENDING)


class Stage(Protocol):
    """The copy, and a terminal in it whose reader sees what is typed and what it prints."""

    @property
    def ledger(self) -> Ledger: ...

    def say(self, text: str) -> None: ...

    def type(self, *words: str) -> int:
        """Type `hybridwrap …`, wait for its end, and return its exit code."""

    def type_until_killed(self, kills: Sequence[Failure], *words: str) -> Typed:
        """Type it, and kill it, with the engine, in the middle of the work of one or more of these modules."""

    def type_without_ledger(self, *words: str) -> int: ...

    def repair(self, failure: Failure) -> None: ...

    def look(self) -> Seen: ...

    def stored(self, module: str, seq: int) -> float:
        """When an entry was in the ledger for good, in seconds since 1970."""


class Drill(Struct, frozen=True):
    modules: Mapping[str, Module]
    failures: tuple[Failure, ...]
    parallelism: int = PARALLELISM

    def of(self, command: str) -> tuple[Failure, ...]:
        """The failures of a command, those first that it meets first."""
        found = {failure.module: failure for failure in self.failures if failure.command == command}
        there = [found[name] for name in order(self.needs) if name in found]
        return tuple(there if command == "apply" else there[::-1])

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        return {name: module.needs for name, module in self.modules.items()}

    @property
    def shown(self) -> tuple[str, ...]:
        """The modules of which is told how they stand, none for all."""
        return tuple(dict.fromkeys(f.module for f in self.failures)) if len(self.modules) > MANY else ()

    def options(self, command: str) -> tuple[str, ...]:
        parallelism = ("--parallelism", str(self.parallelism)) if self.parallelism != PARALLELISM else ()
        quiet = ("--quiet",) if len(self.modules) > MANY else ()
        kept = ("--keep-protected",) if command == "destroy" and left_standing(self.modules) else ()
        return ("--auto-approve", *parallelism, *quiet, *kept)


class Played(Struct, frozen=True):
    """What happened that the ledger can't tell."""

    stopped: bool  # at the first failure, for somebody to go on from there
    refusal: Refusal | None = None


def play(stage: Stage, drill: Drill, *, practise: bool) -> Played:
    """Play a drill to its end, or up to its first failure."""
    refusal = None
    for command in COMMANDS:
        stage.say(" ".join(_opening(command, drill.of(command))))
        kills = _attempt(stage, drill, command, [kill for kill in drill.of(command) if kill.kill], command)
        rounds = ROUNDS * len(drill.failures)
        while rounds and not _is_done(stage, drill, command):
            if practise:
                return Played(stopped=True)
            _look(stage, drill)
            refusal = refusal or _without_ledger(stage, drill, command)
            _repair(stage, drill, command)
            again = "resume" if command == "apply" else "destroy"
            stage.say(_AGAIN[again])
            kills = _attempt(stage, drill, command, kills, again)
            rounds -= 1
        stage.say("Where does it stand now?")
        stage.type("status", *drill.shown)
    stage.say("Is the log whole, and was every rule of the ledger kept in it?")
    stage.type("ledger", "verify", *drill.shown)
    return Played(stopped=False, refusal=refusal)


_AGAIN = {
    "resume": "Go on with that run: what is done is not done again.",
    "destroy": "The same teardown again: a module in error is taken up, those that are gone are not.",
}


def _opening(command: str, failures: Sequence[Failure]) -> Iterator[str]:
    yield "Apply the stack." if command == "apply" else "Tear it all down."
    for failure in failures:
        if failure.kill:
            yield f"In the middle of {failure.module} its engine is killed, and hybridwrap, as when a runner vanishes."
        elif command == "apply":
            yield f"{failure.module} is going to fail half-way: the first of its objects is made, the second is not."
        else:
            yield f"{failure.module} is going to fail half-way: one of its objects is deleted, the other is not."


def _attempt(stage: Stage, drill: Drill, command: str, kills: Sequence[Failure], typed: str) -> Sequence[Failure]:
    """Type it, and return the kills that it did not come to. Raise PreflightRefused where the engine can't even run."""
    words = (typed, *drill.options(command))
    ended = stage.type_until_killed(kills, *words) if kills else Typed(stage.type(*words))
    if not ended.killed and ended.exit_code not in PLAYED:
        told = f"the drill can't be played: `hybridwrap {typed}` ended with exit code {ended.exit_code}, as told above"
        raise PreflightRefused(told, hint="hybridwrap doctor")
    return [kill for kill in kills if kill not in ended.killed]


def _is_done(stage: Stage, drill: Drill, command: str) -> bool:
    """Whether nothing is left to be done; a teardown leaves alone what is protected."""
    records = stage.ledger.records(drill.modules)
    if command == "apply":
        return all(name in records and records[name].status is Status.OK for name in drill.modules)
    standing = left_standing(drill.modules)
    return all(record.status in GONE for name, record in records.items() if name not in standing)


def facts(stage: Stage, drill: Drill, played: Played) -> Facts:
    """Read what is left of a drill that was played to its end."""
    entries = {name: stage.ledger.history(name) for name in drill.modules}
    begins = [(name, entry) for name, found in entries.items() for entry in found if isinstance(entry.body, Begin)]
    return Facts(
        failures=drill.failures,
        entries=entries,
        runs=stage.ledger.runs()[::-1],
        engines=stage.look().engines,
        stored={entry.operation: stage.stored(name, entry.seq) for name, entry in begins},
        flaws={name: stage.ledger.verify(name) for name in drill.modules},
        kept=left_standing(drill.modules),
        refusal=played.refusal,
    )


def _look(stage: Stage, drill: Drill) -> None:
    stage.say("What is true now?")
    stage.type("status", *(word for status in LEFT if len(drill.modules) > MANY for word in ("--status", str(status))))
    records = stage.ledger.records(drill.modules)
    if any(record.holder for record in records.values()):
        stage.say("Nobody recorded how that ended. Whoever comes next on this host can:")
        stage.type("sync")
        records = stage.ledger.records(drill.modules)
    pending = pending_of(stage.ledger.runs(), records)
    waiting = [name for name in order(drill.needs) if name in pending]
    if waiting:
        stage.say("Some modules never began. Why?")
        stage.type("why", waiting[-1])
    stage.say("What became of what failed, how is that known, and what comes next?")
    stage.type("reconcile")


def _without_ledger(stage: Stage, drill: Drill, command: str) -> Refusal:
    stage.say("And if the ledger can't be reached now? For one command it is taken away: nothing may be changed.")
    before = stage.look()
    code = stage.type_without_ledger(command, *drill.options(command))
    return Refusal(code, before, stage.look())


def _repair(stage: Stage, drill: Drill, command: str) -> None:
    """Do what a person would have to: look where nobody else can, and repair the cause."""
    records = stage.ledger.records(drill.modules)
    for name, record in records.items():
        if record.status is Status.UNKNOWN and any(o.open for o in record.objects):
            _give_word(stage, record)
        elif record.status is Status.ERROR and record.command == "destroy" and not record.objects and record.doubted:
            stage.say(f"{name} was unknown once, so that somebody has to look whether anything is left of it.")
            stage.type("verify", name, "--gone", "--reason", "looked for it: nothing is there")
    there = [failure for failure in drill.of(command) if not failure.kill and failure.module in records]
    broken = [failure for failure in there if records[failure.module].status is Status.ERROR]
    if broken:
        stage.say("The cause is repaired.")
    for failure in broken:
        stage.repair(failure)


def _give_word(stage: Stage, record: Record) -> None:
    """Say of what was begun whether it is there; a stand-in's object is there as long as the state has it."""
    there = [o.address for o in record.objects if o.open and o.unfinished]
    absent = [o.address for o in record.objects if o.open and not o.unfinished]
    seen = [f"{', '.join(there)} is there"] * bool(there) + [f"{', '.join(absent)} is not there"] * bool(absent)
    stage.say(f"Somebody looks for what {record.module} had begun: {', '.join(seen)}.")
    options = [word for address in there for word in ("--complete", address)]
    options += [word for address in absent for word in ("--absent", address)]
    stage.type("reconcile", record.module, *options, "--reason", f"looked for it: {', '.join(seen)}")
