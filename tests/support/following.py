"""Somebody who types what hybridwrap says is to be typed next, and nothing else, until there is nothing more to do."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from tests.support.project import Project, Ran

COMMAND = re.compile(r"(?:hybridwrap|mv) (?:(?! {3}|;|, or| or,|\n|\bhybridwrap ).)*")
NEEDS_APPROVAL = frozenset({"apply", "destroy", "resume"})
LOOKING = ("hybridwrap status", "hybridwrap reconcile")
WORD = "seen in the console"
FILES = (".hybridwrap/ledger", ".hybridwrap/state")


@dataclass
class Follower:
    """`find_id` is what a person does who is to put an object's id into a command: look for it by its address."""

    project: Project
    find_id: Callable[[str], str] = lambda _: ""
    first: str = ""  # what is wanted, and typed again whenever nothing else is said; else `reconcile` is asked
    done: Callable[[], bool] = lambda: False  # whether what is wanted is reached
    typed: list[str] = field(default_factory=list)

    def follow(self, *, steps: int = 10) -> list[str]:
        """Type on; return the commands. Fail where nothing is said, where it goes round in a circle, or takes long."""
        hints = [self.first] if self.first else self._from_the_top()
        while hints:
            assert len(self.typed) < steps, self.typed
            hints = self._type(hints)
        return self.typed

    def _type(self, hints: list[str]) -> list[str]:
        """Type one command after the other, until one changes something or says more."""
        for hint in hints:
            command, before = self._filled(hint), self._world()
            again = command in self.typed and command not in (*LOOKING, self.first)
            assert not again, f"a circle: {self.typed}, and again {command}"
            self.typed.append(command)
            ran = self._run(command)
            if said := said_next(ran):
                return said
            if self._world() != before:
                break
        return self._from_the_top()

    def _from_the_top(self) -> list[str]:
        """What somebody does who knows nothing: what he wanted, else `reconcile`, then `status`."""
        if self.first:
            return [] if self.done() else [self.first]
        for module in self.project.run("reconcile", "--json").json["modules"]:
            return [module["next"]]
        said = said_next(self.project.call("status"))
        return [] if any(command.startswith("hybridwrap plan") for command in said) else said  # nothing is wrong then

    def _filled(self, hint: str) -> str:
        def with_id(found: re.Match[str]) -> str:
            return f"{found[1]}={self.find_id(found[1])}"

        return re.sub(r"([^\s']+)=ID\b", with_id, hint.replace("how you know", WORD))

    def _run(self, command: str) -> Ran:
        program, *words = shlex.split(command)
        if program == "mv":
            subprocess.run([program, *words], cwd=self.project.root, check=True)
            return Ran(0, "", "")
        return self.project.run(*words, *(["--auto-approve"] if words[0] in NEEDS_APPROVAL else []))

    def _world(self) -> str:
        """All that a command can change: what the ledger says of modules, and the states."""
        digest = sha256()
        for folder in FILES:
            for file in sorted((self.project.root / folder).rglob("*")):
                if file.is_file() and "/runs/" not in str(file):
                    digest.update(f"{file}".encode() + file.read_bytes())
        return digest.hexdigest()


def said_next(ran: Ran) -> list[str]:
    """The commands that a command has told to be typed next, in their order."""
    return [command for line in _next_lines(ran) for command in COMMAND.findall(line)]


def _next_lines(ran: Ran) -> Iterator[str]:
    lines = ran.text.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=False):
        if "next:" in line:
            yield line.split("next:", 1)[1]
        elif line.startswith("next, once"):
            yield after
