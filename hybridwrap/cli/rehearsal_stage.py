"""The terminal of a drill: what is said, what is typed, what is printed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from hybridwrap.adapters.rehearsal.stage import CopyStage, bare_environment
from hybridwrap.adapters.rehearsal.writing import failure_file
from hybridwrap.cli.lines import faint
from hybridwrap.cli.wrapping import say
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.rehearsal import Failure, Seen, Typed

STDOUT, STDERR = 1, 2
SHOW_CURSOR = "\x1b[?25h"


class ShownStage:
    """A copy whose commands are shown; on stderr where stdout is for a program."""

    def __init__(self, folder: Path, ledger: Ledger, *, err: bool) -> None:
        self._copy = CopyStage(folder, bare_environment(os.environ), STDERR if err else STDOUT)
        self._err = err
        self.ledger = ledger

    def say(self, text: str) -> None:
        say(f"\n{click.style(text, bold=True)}", err=self._err)

    def type(self, *words: str) -> int:
        self._show("hybridwrap", *words)
        return self._ended(self._copy.run(words))

    def type_until_killed(self, kills: Sequence[Failure], *words: str) -> Typed:
        self._show("hybridwrap", *words)
        typed = self._copy.run_killed(words, kills)
        if not typed.killed:
            self._ended(typed.exit_code)
            return typed
        if not self._err and sys.stdout.isatty():
            click.echo(SHOW_CURSOR)  # who was killed could not, nor end its line
        self._echo(faint(f"killed, with the engine of {' and of '.join(kill.module for kill in typed.killed)}"))
        return typed

    def type_without_ledger(self, *words: str) -> int:
        with self._copy.without_ledger():
            return self.type(*words)

    def repair(self, failure: Failure) -> None:
        self._show("rm", str(failure_file(Path(), failure)))
        self._copy.repair(failure)

    def look(self) -> Seen:
        return self._copy.look()

    def stored(self, module: str, seq: int) -> float:
        return self._copy.stored(Keys(self.ledger.stack, self.ledger.environment).entry(module, seq))

    def _show(self, *words: str) -> None:
        self._echo(click.style(f"$ {shlex.join(words)}", fg="cyan"))

    def _ended(self, code: int) -> int:
        if code:
            self._echo(faint(f"exit code {code}"))
        return code

    def _echo(self, line: str) -> None:
        click.echo(line, err=self._err)
