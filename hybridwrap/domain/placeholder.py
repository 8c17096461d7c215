"""A value for a variable that the engine must be given and does not use: visible as what it is, of the right type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hybridwrap.domain.json import Json

TEXT: Final = "placeholder"
REFERENCE: Final = "placeholder"  # how the ledger names where such a value came from
_TOKEN = re.compile(r'[A-Za-z_][\w-]*|"[^"]*"|[(){}\[\]=:,]')
_SIMPLE: Final[Mapping[str, Json]] = {"string": TEXT, "number": 0, "bool": False, "any": TEXT}
_EMPTY: Final[Mapping[str, type[list[Json]] | type[dict[str, Json]]]] = {"list": list, "set": list, "map": dict}


def placeholder(type_: str) -> Json:
    """Make a value of a type expression as the engine's language has it; "" stands for any type."""
    return _Reader(_TOKEN.findall(type_) or ["any"]).value()


@dataclass
class _Reader:
    """Goes through a type expression once; what it can't read becomes a text, and the engine says what is wrong."""

    tokens: list[str]
    at: int = 0

    def value(self) -> Json:
        word = self._next()
        if word in _SIMPLE:
            return _SIMPLE[word]
        if word in _EMPTY:
            self._skip_brackets()
            return _EMPTY[word]()
        match word:
            case "object":
                return self._object()
            case "tuple":
                return self._tuple()
            case "optional":
                self._skip_brackets()
                return None
        return TEXT

    def _object(self) -> dict[str, Json]:
        found: dict[str, Json] = {}
        self._next("(")
        self._next("{")
        while (name := self._next()) not in {"}", ""}:
            if name == ",":
                continue
            self._next()  # = or :
            found[name.strip('"')] = self.value()
        self._next(")")
        return found

    def _tuple(self) -> list[Json]:
        found: list[Json] = []
        self._next("(")
        self._next("[")
        while self._peek() not in {"]", ""}:
            if self._peek() == ",":
                self._next()
                continue
            found.append(self.value())
        self._next("]")
        self._next(")")
        return found

    def _skip_brackets(self) -> None:
        depth = 0
        while (word := self._peek()) != "" and (depth or word in "({["):
            depth += (word in "({[") - (word in ")}]")
            self._next()
            if not depth:
                return

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _next(self, only: str = "") -> str:
        word = self._peek()
        if not only or word == only:
            self.at += 1
        return word
