"""What a plain (unquoted) scalar means: YAML 1.2's core values, and a refusal where YAML's versions disagree."""

from __future__ import annotations

import re
from decimal import Decimal

from hybridwrap.adapters.manifest.node import Scalar

WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
MAX_INT_DIGITS = 1000
INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")

# Each kind of text that one YAML reader takes for text and another for something else, and what is the matter with it.
DOUBTS = (
    (re.compile(r"(?i)yes|no|on|off"), "is a boolean in YAML 1.1 and a text in YAML 1.2; write true or false"),
    (re.compile(r"[-+]?0[0-9_]+(\.[0-9]*)?"), "loses its leading zero or becomes an octal number"),
    (re.compile(r"[-+]?0[oxb][0-9A-Fa-f_]+"), "is another number, or a text, in each version of YAML"),
    (re.compile(r"[-+]?[0-9][0-9_]*_[0-9_.]*"), "is a number in YAML 1.1 and a text in YAML 1.2"),
    (re.compile(r"\+[0-9.]+"), "loses its plus sign"),
    (re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+"), "is a text in YAML 1.1 and a number in YAML 1.2"),
    (re.compile(r"-?[0-9]+\.[0-9]*0"), "loses the zero at its end"),
    (re.compile(r"[-+]?([0-9]+\.|\.[0-9]+)"), "is a number in some versions of YAML only"),
    (re.compile(r"(?i)[-+]?\.(inf|nan)"), "is no number that JSON can hold"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?"), "is a date in YAML 1.1 and a text in YAML 1.2"),
    (re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?"), "is a number to the base of 60 in YAML 1.1"),
)


def read_plain(text: str) -> Scalar:
    """Read an unquoted scalar. Raise ValueError, with what to write instead, where readers of YAML disagree."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in "0123456789+-." and text[0] not in "yYnNoO":
        return text
    for pattern, doubt in DOUBTS:
        if pattern.fullmatch(text):
            raise ValueError(f'{text} {doubt}; for a text write "{text}" in quotes')
    if INTEGER.fullmatch(text):
        return _integer(text)
    return Decimal(text) if DECIMAL.fullmatch(text) else text


def _integer(text: str) -> int | Decimal:
    # Python reads at most 4300 digits into an int; Decimal has no such limit and is written back the same.
    return int(text) if len(text) < MAX_INT_DIGITS else Decimal(text)
