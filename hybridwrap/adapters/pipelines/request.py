"""What a pipeline is written from, besides the graph."""

from __future__ import annotations

import re
import shlex
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import asdict, fields, replace

from hybridwrap.domain.pipeline import ApplyJob, Shape, apply_jobs
from hybridwrap.domain.stack import Stack

MANIFEST = "hybridwrap.yaml"
PLANS, GRAPH = "plans", "graph"  # what an approval is for
_MADE_BY = re.compile(r"^# Made by: hybridwrap pipeline (?P<words>.+)$", re.MULTILINE)


class Wishes(Struct, frozen=True):
    """What can be chosen; None is whatever the file has now, and else the system's own."""

    shape: str | None = None
    approves: str | None = None
    branch: str | None = None
    repository: str | None = None
    image: str | None = None
    install: str | None = None
    setup: str | None = None

    def over(self, older: Wishes) -> Wishes:
        """These, and the older ones where nothing is said."""
        return replace(older, **{name: value for name, value in asdict(self).items() if value is not None})

    @property
    def words(self) -> tuple[str, ...]:
        """As options of the command."""
        return tuple(f"--{name}={value}" for name, value in asdict(self).items() if value is not None)


def remembered(text: str) -> Wishes | None:
    """Read from a pipeline what it was made with; None for a file that is none of ours."""
    found = _MADE_BY.search(text)
    if found is None:
        return None
    names = {field.name for field in fields(Wishes)}
    said = (word[2:].partition("=") for word in shlex.split(found["words"]) if word.startswith("--"))
    return Wishes(**{name: value for name, given, value in said if given and name in names})


class Request(Struct, frozen=True):
    """One pipeline for one stack in one environment."""

    system: str
    stack: Stack
    manifest: str  # as seen from the top of the repository
    shape: Shape
    wishes: Wishes

    @property
    def label(self) -> str:
        """What people call it: the stack, and the environment where there are several."""
        return f"{self.stack.name} {self.stack.environment}" if self._several else self.stack.name

    @property
    def slug(self) -> str:
        return self.label.replace(" ", "-")

    @property
    def gate(self) -> str:
        """The CI system's environment whose people approve."""
        return self.stack.environment if self._several else self.stack.name

    @property
    def place(self) -> tuple[str, ...]:
        """Options that name environment and manifest, as far as that is needed at the top of the repository."""
        environment = ("-e", self.stack.environment) if self._several else ()
        return (*environment, *(("-f", self.manifest) if self.manifest != MANIFEST else ()))

    @property
    def made_by(self) -> str:
        return shlex.join(["hybridwrap", "pipeline", self.system, *self.place, *self.wishes.words])

    @property
    def saves(self) -> bool:
        """Whether plans are saved, and exactly these are applied."""
        return (self.wishes.approves or (PLANS if self.stack.ledger.encryption else GRAPH)) == PLANS

    @property
    def minute(self) -> int:
        """Of the nightly job: each stack has its own, and always the same."""
        return int(sha256(self.label.encode()).hexdigest(), 16) % 60

    @property
    def jobs(self) -> tuple[ApplyJob, ...]:
        return apply_jobs({name: module.needs for name, module in self.stack.modules.items()}, self.shape)

    @property
    def _several(self) -> bool:
        return len(self.stack.environments) > 1
