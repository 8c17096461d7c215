"""A rehearsal for its reader: what it is going to do, what is left of it, and its scorecard."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from hybridwrap.adapters.home import HOME_VARIABLE
from hybridwrap.adapters.rehearsal.writing import REHEARSALS, failure_file
from hybridwrap.domain.hooks import Hooks
from hybridwrap.domain.json import Json
from hybridwrap.domain.rehearsal import Failure
from hybridwrap.domain.scorecard import Check
from hybridwrap.domain.stack import Credentials, Guard, Module, Stack
from hybridwrap.domain.stand_ins import StandIn
from hybridwrap.run.rehearse import Drill


def opening_lines(
    stack: Stack, made: Mapping[str, StandIn], drill: Drill, copy: Path, *, chosen: bool, read: bool
) -> Iterator[str]:
    yield f"rehearsal of {_named(stack)} on a copy of {_count(len(made), 'module')}, {shown(copy)}"
    yield "what runs are stand-ins without provider, credential or network; the stack itself is only read"
    outputs = [output for stand_in in made.values() for output in stand_in.outputs.values()]
    recalled = sum(output.recalled for output in outputs)
    told = f"{recalled} of {_count(len(outputs), 'output')} as the ledger has them, the others made up"
    if not recalled:
        why = "the ledger has none of them that could be used" if read else "the ledger can't be reached"
        told = f"{_count(len(outputs), 'output')}, all made up: {why}"
    yield f"{told}; no secret is among them"
    hooks = {"hooks"} if stack.hooks != Hooks() else set()
    if left_out := sorted({what for module in drill.modules.values() for what in _left_out(module)} | hooks):
        yield f"left out, as a copy can't have them: {', '.join(left_out)}"
    earlier = len(list(copy.parent.iterdir())) - 1 if copy.parent.name == REHEARSALS else 0
    if earlier:
        yield f"beside it lies what {_count(earlier, 'earlier rehearsal')} left: remove it when you have seen it"
    if not chosen:
        chosen_for_you = drill.failures[0].module
        yield f"{chosen_for_you} is going to fail, as most depends on it; to choose: --fail MODULE or --kill MODULE"


def _left_out(module: Module) -> Iterator[str]:
    """What a module has that its stand-in does not."""
    has = {
        "hooks": module.hooks != Hooks(),
        "credentials": module.credentials != Credentials(),
        "account": bool(module.account),
        "verify": module.verify.asks,
        "guard": module.guard != Guard(),
        "env": bool(module.env),
    }
    return (what for what, there in has.items() if there)


def left_lines(copy: Path, failures: Sequence[Failure]) -> Iterator[str]:
    """What to type first in a copy that is left to somebody."""
    yield click.style("\nThe rest is yours, and nothing can be broken here. Begin with:", bold=True)
    yield f"  cd {shlex.quote(shown(copy))}"
    if HOME_VARIABLE in os.environ:
        yield f"  unset {HOME_VARIABLE}"
    yield "  hybridwrap status"
    armed = [shlex.quote(str(failure_file(Path(), f))) for f in failures if failure_file(copy, f).exists()]
    if armed:
        yield f"to repair what fails: rm {' '.join(armed)}"
    yield f"when you are done: rm -r {shlex.quote(str(copy))}"


def scorecard_lines(stack: Stack, checks: Sequence[Check], kept: Path | None) -> Iterator[str]:
    broken = [check for check in checks if not check.holds]
    yield click.style(f"\nScorecard of {_named(stack)}: {len(checks) - len(broken)} of {len(checks)} hold", bold=True)
    width = max(len(check.rule) for check in checks)
    for check in checks:
        word = click.style("holds ", fg="green") if check.holds else click.style("BROKEN", fg="red")
        for line in check.wrong or (check.evidence,):
            yield f"{word}  {check.rule.ljust(width)}  {line}"
    if kept:
        yield f"the copy is in {shown(kept)}; when you are done: rm -r {shlex.quote(str(kept))}"
    else:
        yield "the copy is removed; to go on from the failure yourself: hybridwrap rehearse --practise"


def scorecard_json(stack: Stack, drill: Drill, checks: Sequence[Check], kept: Path | None) -> Json:
    return {
        "version": 1,
        "stack": stack.name,
        "environment": stack.environment,
        "modules": list(drill.modules),
        "failures": [
            {"module": f.module, "command": f.command, "kind": "kill" if f.kill else "fail"} for f in drill.failures
        ],
        "holds": all(check.holds for check in checks),
        "checks": [{"rule": c.rule, "holds": c.holds, "evidence": c.evidence, "wrong": list(c.wrong)} for c in checks],
        "folder": str(kept) if kept else "",
    }


def shown(path: Path) -> str:
    """Relative to where the reader is, if it lies there."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _named(stack: Stack) -> str:
    return f"{stack.name} in {stack.environment}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
