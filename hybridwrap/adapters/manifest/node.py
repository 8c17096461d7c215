"""A document as a tree whose every value knows where it stands, and what was found wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from msgspec import Struct

from hybridwrap.domain.json import Json
from hybridwrap.errors import Problem

Scalar = None | bool | int | Decimal | str


class Mark(Struct, frozen=True):
    """A place in a file; line and column count from 1, 0 means the whole file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class Node(Struct, frozen=True):
    """A value with the mark of itself and of the key that leads to it."""

    value: Scalar | list[Node] | dict[str, Node]
    mark: Mark
    key: Mark

    @property
    def fields(self) -> Mapping[str, Node]:
        """The children of a mapping; none for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> Iterable[Node]:
        """The children of a list; none for anything else."""
        return self.value if isinstance(self.value, list) else ()

    def get(self, *path: str) -> Node | None:
        node: Node | None = self
        for name in path:
            node = node.fields.get(name) if node else None
        return node


def empty(mark: Mark) -> Node:
    return Node({}, mark, mark)


def plain(node: Node) -> Json:
    """The tree without its marks."""
    match node.value:
        case dict() as fields:
            return {name: plain(child) for name, child in fields.items()}
        case list() as items:
            return [plain(child) for child in items]
        case scalar:
            return scalar


def overlay(base: Node | None, top: Node | None) -> Node | None:
    """Lay one tree over another: mappings merge deeply, all else is replaced."""
    if base is None or top is None:
        return top or base
    if not isinstance(base.value, dict) or not isinstance(top.value, dict) or comes_from_outside(base, top):
        return top
    merged = dict(base.value)
    for name, child in top.value.items():
        merged[name] = overlay(base.value.get(name), child) or child
    return Node(merged, top.mark, top.key)


OUTSIDE = ("from_env", "from_file")


def comes_from_outside(*nodes: Node) -> bool:
    """Whether any of the nodes is an input that names its source: `{from_env: NAME}` merges with nothing."""
    return any(len(node.fields) == 1 and next(iter(node.fields)) in OUTSIDE for node in nodes)


def dotted(path: Iterable[str | int]) -> str:
    """Write a path as people do: `modules.vm.tags[0]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("-", "_").isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"['{step}']"
    return text


@dataclass(slots=True)
class Findings:
    """What is wrong (errors) or doubtful (warnings), each thing once."""

    _errors: dict[tuple[Mark, str], Problem] = field(default_factory=dict)
    _warnings: dict[tuple[Mark, str], Problem] = field(default_factory=dict)

    def error(self, at: Mark, where: str, message: str) -> None:
        self._errors.setdefault((at, message), Problem(at.file, at.line, at.column, where, message))

    def warn(self, at: Mark, where: str, message: str) -> None:
        self._warnings.setdefault((at, message), Problem(at.file, at.line, at.column, where, message))

    @property
    def errors(self) -> list[Problem]:
        return sorted(self._errors.values(), key=_place)

    @property
    def warnings(self) -> list[Problem]:
        return sorted(self._warnings.values(), key=_place)

    def take(self, problems: Iterable[Problem]) -> None:
        """Add errors that another reader found."""
        for p in problems:
            self.error(Mark(p.file, p.line, p.column), p.where, p.message)


def _place(problem: Problem) -> tuple[str, int, int]:
    return problem.file, problem.line, problem.column
