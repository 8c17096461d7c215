"""What to type after a run, said by what the ledger has of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from hybridwrap.cli.hints import as_typed, place_of_call
from hybridwrap.domain.pending import MAKES_PENDING
from hybridwrap.run.report import ModuleReport, Report

UNKNOWN = frozenset({"unknown"})
AT_WORK = frozenset({"running", "busy", "superseded"})
CHANGING = frozenset({"planned", "deferred"})
DRIFTED = frozenset({"drifted"})
WITHOUT_OUTPUTS = frozenset({"destroyed"})  # that anybody could use
NAMED = 5  # modules in a command line
PURPOSES = {  # of a command, said beside it
    "apply": "once the plan is found good",
    "destroy": "once repaired",
    "history": "the runs before and after",
    "output": "what it hands on",
    "plan": "what it takes to have it as the code says",
    "reconcile": "what became of it, and how that is known",
    "resume": "once repaired",
    "status": "where it stands now",
    "sync": "on the host that has the result",
    "why": "the chain behind it",
}
ELIDED = "…"  # stands in a recorded command line for a value that may be a secret


def next_commands(report: Report) -> tuple[str, ...]:
    """Command lines in the order in which they make sense; empty when nothing is left to do."""
    return tuple(dict.fromkeys(_commands(report)))


def purpose(command: str) -> str:
    """What a command line is for, "" for one that says so itself."""
    words = command.split(maxsplit=2)
    return PURPOSES.get(words[1], "") if len(words) > 1 else ""


def _commands(report: Report) -> Iterator[str]:
    if report.start.command == "plan":
        yield from _apply(report)
        return
    todo = [module for module in report.modules if module.open]
    if unknown := [module.module for module in todo if module.result in UNKNOWN]:
        yield line(report, "reconcile", *unknown)
    if any(module.result == "unsent" for module in todo):
        yield line(report, "sync")
    if any(module.result in AT_WORK for module in todo) or not report.ended:
        yield line(report, "status")
    if drifted := [module.module for module in todo if module.result in DRIFTED]:
        yield line(report, "plan", *_few(drifted))
    rest = [module for module in todo if module.result not in UNKNOWN | AT_WORK | DRIFTED | {"unsent"}]
    if rest:
        yield line(report, "why", rest[-1].module)
    if len(todo) > len(drifted):
        yield from _again(report)


def _apply(report: Report) -> Iterator[str]:
    """What carries out a plan, once it is found good."""
    changing = [module.module for module in report.modules if module.result in CHANGING]
    if changing:
        yield line(report, "apply", *(_saved(report) or _few(changing)))


def _saved(report: Report) -> Sequence[str]:
    return ("--run", report.start.run) if report.start.saved else ()


def _carried_out(report: Report) -> frozenset[str]:
    """Results of modules that the next command is about; no approval covers what was deferred."""
    return CHANGING - {"deferred"} if report.start.saved else CHANGING


def _few(modules: Sequence[str]) -> Sequence[str]:
    """Name modules; of many nothing, which means the whole stack."""
    return modules if len(modules) <= NAMED else ()


def _again(report: Report) -> Iterator[str]:
    if report.start.command in MAKES_PENDING:
        yield line(report, "resume", report.start.run)
    elif not any(ELIDED in word for word in report.start.argv):
        yield placed(report, shlex.join(["hybridwrap", *report.start.argv]))


def next_for(report: Report, module: ModuleReport) -> tuple[str, ...]:
    """What can be typed about one module."""
    name = module.module
    if report.start.command == "plan":
        return (line(report, "apply", *_saved(report), name),) if module.result in _carried_out(report) else ()
    if module.result in UNKNOWN:
        return (line(report, "reconcile", name), line(report, "why", name))
    if module.result in DRIFTED:
        return (line(report, "plan", name),)
    if module.result in AT_WORK:
        return (line(report, "status"), line(report, "why", name))
    if not module.done:
        return (line(report, "why", name), *(_again(report) if module.open else ()))
    useful = module.record.outputs and module.result not in WITHOUT_OUTPUTS
    return (line(report, "output", name) if useful else line(report, "history"),)


def line(report: Report, command: str, *words: str) -> str:
    """A command line as typed, for the environment of the report."""
    return placed(report, shlex.join(["hybridwrap", command, *words]))


def placed(report: Report, typed: str) -> str:
    """Commands that the ledger has as they were said, for the environment of the report."""
    environment = None if report.environment == "default" else report.environment
    return as_typed(typed, replace(place_of_call(), environment=environment))
