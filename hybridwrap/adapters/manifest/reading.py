"""From YAML text to a tree with marks; everything that can be wrong with the text itself is said at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from msgspec.structs import replace

from hybridwrap.adapters.manifest.node import Findings, Mark, Node, dotted
from hybridwrap.adapters.manifest.scalars import read_plain
from hybridwrap.errors import InvalidManifest, Problem, UsageError

MAX_BYTES = 4 * 1024 * 1024
MAX_NODES = 200_000  # after aliases are expanded
MAX_DEPTH = 60
TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")
QUOTE_TEMPLATE = 'a template must stand in quotes: "{{ … }}"'

# The scanner in C is 15 times faster; a PyYAML built without libyaml lacks it.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Event = Any  # PyYAML's stubs know the events, but not the attributes that each kind has
Steps = tuple[str | int, ...]


def read_bytes(file: Path) -> bytes:
    """Read a manifest. Raise UsageError when there is none to read, InvalidManifest when it is too large."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read {file}: {error.strerror}", hint="name a file that can be read with -f"
        ) from error
    if len(data) > MAX_BYTES:
        raise _invalid(Mark(str(file)), f"is {len(data)} bytes long; a manifest may have {MAX_BYTES}")
    return data


def parse(data: bytes, name: str) -> Node:
    """Read one YAML document. Raise InvalidManifest with every problem of the text."""
    text = _decode(data, name)
    reader = _Reader(name)
    try:
        root = reader.document(iter(yaml.parse(text, Loader=LOADER)))
    except yaml.YAMLError as error:
        mark, message = _explain(error, text, name)
        if all(found.line != mark.line for found in reader.findings.errors):  # else it is a consequence
            reader.findings.error(mark, "", message)
        root = None
    if reader.findings.errors or root is None:
        raise InvalidManifest(reader.findings.errors)
    return root


def _invalid(mark: Mark, message: str) -> InvalidManifest:
    return InvalidManifest([Problem(mark.file, mark.line, mark.column, "", message)])


def _decode(data: bytes, name: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _invalid(Mark(name), "is UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise _invalid(
            Mark(name, line, column), f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from error


def _explain(error: yaml.YAMLError, text: str, name: str) -> tuple[Mark, str]:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:  # a character that YAML does not allow
        position = getattr(error, "position", 0)
        line = text.count("\n", 0, position) + 1
        return Mark(name, line, position - text.rfind("\n", 0, position)), "has a character that YAML does not allow"
    lines = text.splitlines()
    near = [lines[m.line] for m in (mark, getattr(error, "context_mark", None)) if m and m.line < len(lines)]
    problem = getattr(error, "problem", None) or "syntax error"
    if mark.line < len(lines) and lines[mark.line][mark.column : mark.column + 1] == "\t":
        problem = "a tab; YAML is indented with blanks"
    hint = f"; {QUOTE_TEMPLATE}" if any("{{" in line for line in near) else ""
    return Mark(name, mark.line + 1, mark.column + 1), f"not YAML: {problem}{hint}"


class _Reader:
    """Builds the tree from PyYAML's events: those have every mark, and aliases are not expanded yet."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.findings = Findings()
        self.anchors: dict[str, tuple[Node, int]] = {}  # with the number of nodes below
        self.count = 0

    def document(self, events: Iterator[Event]) -> Node | None:
        root: Node | None = None
        for event in events:
            match event:
                case yaml.DocumentStartEvent() if root is not None:
                    self.findings.error(
                        self.mark(event), "", "a second document begins here; a manifest is one document"
                    )
                    return root
                case yaml.ScalarEvent() | yaml.MappingStartEvent() | yaml.SequenceStartEvent() | yaml.AliasEvent():
                    root = self.node(event, events, (), self.mark(event))
        if root is None or root.value is None:
            self.findings.error(Mark(self.name), "", "is empty; a manifest begins with `version: 1`")
        return root

    def node(self, event: Event, events: Iterator[Event], path: Steps, key: Mark) -> Node:
        before, self.count = self.count, self.count + 1
        mark = self.mark(event)
        if self.count > MAX_NODES:
            raise _invalid(mark, f"{dotted(path)} makes the document larger than {MAX_NODES} values: too many aliases?")
        if len(path) > MAX_DEPTH:
            raise _invalid(mark, f"is nested more than {MAX_DEPTH} levels deep")
        match event:
            case yaml.AliasEvent():
                return self.alias(event, path, key)
            case yaml.ScalarEvent():
                node = Node(self.scalar(event, path), mark, key)
            case yaml.SequenceStartEvent():
                node = Node(self.sequence(events, path), mark, key)
            case _:
                node = Node(self.mapping(events, path), mark, key)
        if not isinstance(event, yaml.ScalarEvent) and event.tag not in (None, "!"):
            self.findings.error(mark, dotted(path), f"the tag {event.tag} is not supported")
        if event.anchor:
            self.anchors[event.anchor] = (node, self.count - before)
        return node

    def alias(self, event: Event, path: Steps, key: Mark) -> Node:
        if event.anchor not in self.anchors:
            self.findings.error(self.mark(event), dotted(path), f"no anchor &{event.anchor} stands before this alias")
            return Node(None, self.mark(event), key)
        node, size = self.anchors[event.anchor]
        self.count += size
        return replace(node, key=key)

    def scalar(self, event: Event, path: Steps) -> Any:
        if event.tag not in TEXT_TAGS:
            self.findings.error(self.mark(event), dotted(path), f"the tag {event.tag} is not supported; quote a text")
        if event.tag or event.style not in (None, ""):
            return event.value
        try:
            return read_plain(event.value)
        except ValueError as doubt:
            self.findings.error(self.mark(event), dotted(path), str(doubt))
            return None

    def sequence(self, events: Iterator[Event], path: Steps) -> list[Node]:
        items: list[Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(self.node(event, events, (*path, len(items)), self.mark(event)))
        return items

    def mapping(self, events: Iterator[Event], path: Steps) -> dict[str, Node]:
        fields: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            name, key = self.key(event, events, path), self.mark(event)
            value = self.node(next(events), events, (*path, name), key)
            if name == "<<" and event.style in (None, ""):
                merged |= self.merge(value, path)
            elif name in fields:
                first = fields[name].key
                self.findings.error(
                    key, dotted((*path, name)), f"is here for the second time; the first is in line {first.line}"
                )
            else:
                fields[name] = value
        return merged | fields

    def key(self, event: Event, events: Iterator[Event], path: Steps) -> str:
        if isinstance(event, yaml.ScalarEvent):
            return str(event.value)
        found = len(self.findings.errors)
        self.node(event, events, path, self.mark(event))
        del self.findings.errors[found:]
        template = isinstance(event, yaml.MappingStartEvent) and event.flow_style
        self.findings.error(self.mark(event), dotted(path), QUOTE_TEMPLATE if template else "a key must be a text")
        return ""

    def merge(self, value: Node, path: Steps) -> dict[str, Node]:
        sources = list(value.items) or [value]
        if not all(isinstance(source.value, dict) for source in sources):
            self.findings.error(value.mark, dotted(path), "<< takes a mapping or a list of mappings")
        merged: dict[str, Node] = {}
        for source in reversed(sources):
            merged |= source.fields
        return merged

    def mark(self, event: Event) -> Mark:
        start = event.start_mark
        return Mark(self.name, start.line + 1, start.column + 1)
