"""What every part of one manifest is read with: the names that placeholders stand for, and where findings go."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from hybridwrap.adapters.manifest.node import Findings, Node, dotted
from hybridwrap.adapters.manifest.wording import did_you_mean
from hybridwrap.adapters.remote_sources import Fetched
from hybridwrap.adapters.templates import is_template
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import FileLine, Reference

PLACEHOLDER = re.compile(r"\{([A-Za-z_]+(?:\.\w+)*)\}")

Where = tuple[str | int, ...]


class Scope(Struct, frozen=True):
    """One manifest in one environment.

    `findings` are about the manifest itself: with an error there is no stack. `source_findings` are about it and the
    modules' sources together: with an error there is a stack that can be looked at, and nothing may be run.
    """

    file: Path
    stack: str
    environment: str
    environ: Mapping[str, str]
    findings: Findings = msgspec.field(default_factory=Findings)
    source_findings: Findings = msgspec.field(default_factory=Findings)
    references: dict[str, tuple[Reference, ...]] = {}  # of templates, as far as read
    given: Collection[str] = ()  # variables that the caller sets
    families: Collection[str] = ()  # modules with `for_each`
    folders: Mapping[str, Path] = {}  # of the files, by their names in marks; the manifest's own first
    fetching: str = "never"  # remote sources, see remote.py
    fetched: dict[tuple[str, str], Fetched | None] = {}  # by source and version

    @property
    def root(self) -> Path:
        return self.file.parent

    def beside(self, node: Node, written: str) -> Path:
        """A path as the file means it in which it is written."""
        return Path(os.path.normpath(self.folders.get(node.mark.file, self.root) / Path(written).expanduser()))

    def place(self, node: Node) -> FileLine:
        """Where its key is written."""
        return FileLine(self.folders.get(node.key.file, self.root) / Path(node.key.file).name, node.key.line)

    def is_included(self, node: Node) -> bool:
        """Whether it stands in a file that the manifest includes."""
        return node.key.file in list(self.folders)[1:]

    def from_root(self, node: Node, written: str) -> str:
        """The same path as the manifest would write it: as it is, but in an included file."""
        elsewhere = self.folders.get(node.mark.file, self.root) != self.root
        return os.path.relpath(self.beside(node, written), self.root) if elsewhere else written

    def error(self, node: Node, where: Where, message: str) -> None:
        self.findings.error(node.mark, dotted(where), message)

    def fill(self, node: Node, where: Where, module: str = "") -> str:
        """Put the names into a text: {stack} and {environment}, and {module} inside a module."""
        names = {"stack": self.stack, "environment": self.environment} | ({"module": module} if module else {})
        text = str(node.value)
        if is_template(text):
            self.error(node, where, "a template can only be an input")
            return text
        for name in PLACEHOLDER.findall(text):
            if name not in names:
                shown = did_you_mean(name, names)
                self.error(node, where, f"nothing is known for the placeholder {{{name}}}{shown}")
        return PLACEHOLDER.sub(lambda found: names.get(found[1], found[0]), text)

    def fill_tree(self, node: Node, where: Where, module: str = "") -> Json:
        """Put the names into every text of a tree."""
        match node.value:
            case dict() as fields:
                return {name: self.fill_tree(child, (*where, name), module) for name, child in fields.items()}
            case list() as items:
                return [self.fill_tree(child, (*where, at), module) for at, child in enumerate(items)]
            case str():
                return self.fill(node, where, module)
            case scalar:
                return scalar
