"""Masks secrets in text by knowing their values: the engine itself prints some that it had hidden before.

Values of fewer than four characters are left: masking them would tear up every text, and hide nothing.
"""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import chain
from typing import Final
from urllib.parse import quote, quote_plus

from msgspec.structs import replace
from simplejson import dumps

from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.json import Json, canonical, loads

MASK: Final = "(sensitive value)"
SHORTEST: Final = 4
_SHORTEST_LINE: Final = 8  # of a value of several lines, which may be printed line by line

UNFOLDED: Final = "jsonencode("
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')

# Go's JSON writes these as code points, ours does not.
_GO_ESCAPES: Final = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Redaction:
    """Knows secret values, nested ones too, and every form in which they may be printed."""

    def __init__(self, values: Iterable[Json] = ()) -> None:
        leaves = set(_leaves(list(values)))
        self._leaves = frozenset(leaves)
        texts = {form for leaf in leaves if isinstance(leaf, str) for form in _forms(leaf)} - {MASK}
        numbers = {str(leaf) for leaf in leaves if not isinstance(leaf, str)} - texts
        patterns = {text: re.escape(text) for text in texts} | {number: _alone(number) for number in numbers}
        kept = [(form, pattern) for form, pattern in patterns.items() if len(form) >= SHORTEST]
        self._patterns = sorted(kept, key=lambda item: (-len(item[0]), item[0]))

    def unfolded(self) -> Redaction:
        """Know also what stands in secrets that are JSON texts: a plan for people shows them as `jsonencode({…})`."""
        documents = (_document(leaf) for leaf in self._leaves if isinstance(leaf, str))
        return Redaction((*self._leaves, *documents))

    def text(self, text: str) -> str:
        """Mask every secret, a longer one before one that it contains."""
        found = [pattern for form, pattern in self._patterns if form in text]
        return re.sub("|".join(found), MASK, text) if found else text

    def holds(self, value: Json) -> bool:
        """Whether a secret stands anywhere in a value."""
        if value is None or not self._patterns:
            return False
        text = canonical(value).decode()
        return any(form in text and re.search(pattern, text) for form, pattern in self._patterns)

    def diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        return replace(
            diagnostic,
            summary=self.text(diagnostic.summary),
            detail=self.text(diagnostic.detail),
            address=self.text(diagnostic.address),
        )


def masked_plan(mask: Redaction, text: str) -> str:
    """Mask a plan for people: with a secret go the texts that it stands in, and the ones that it is to replace.

    Of a secret that was changed only the new value is known; the old one stands beside it.
    """
    mask = mask.unfolded() if UNFOLDED in text else mask
    beside = (line.partition(" = ")[2] for line in text.splitlines() if mask.text(line) != line)
    replaced = [quoted for values in beside for quoted in _QUOTED.findall(values)]
    return mask.text(Redaction(replaced).text(text))


def _leaves(value: Json) -> Iterator[str | int | Decimal]:
    match value:
        case dict():
            yield from _leaves(list(value.values()))
        case list():
            yield from chain.from_iterable(map(_leaves, value))
        case bool() | None:
            pass
        case _:
            yield value


def _document(text: str) -> Json:
    """What a JSON text of several values holds, None for any other text."""
    try:
        return loads(text) if text.lstrip()[:1] in {"{", "["} else None
    except ValueError:
        return None


def _alone(number: str) -> str:
    """A number is a secret only where it stands alone, not as a part of an id or of another number."""
    return rf"(?<!\w)(?<!\d\.){re.escape(number)}(?!\w|\.\d)"


def _forms(text: str) -> Iterator[str]:
    """A text as it stands, by its lines, and as JSON, base64 and URLs write it."""
    lines = [line.strip() for line in text.splitlines()]
    for part in {text, text.strip(), *(line for line in lines if len(line) >= _SHORTEST_LINE)}:
        yield part
        yield from _in_json(part)
    data = text.encode(errors="surrogatepass")
    yield from (encoded.decode().rstrip("=") for encoded in (b64encode(data), urlsafe_b64encode(data)))
    yield from (quote(data, safe=""), quote_plus(data))


def _in_json(text: str) -> Iterator[str]:
    escaped = canonical(text).decode()[1:-1]
    yield escaped
    yield escaped.translate(_GO_ESCAPES)
    yield dumps(text)[1:-1]
