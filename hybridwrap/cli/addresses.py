"""Addresses of objects where there is no room for them: what tells one from the next stays."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridwrap.cli.lines import cells, fitted_in_the_middle

_KEY = r'\[(?:"(?:[^"\\]|\\.)*"|\d+)\]'
_ADDRESS = re.compile(rf"(?P<path>(?:module\.[\w-]+(?:{_KEY})?\.)*)(?P<type>(?:data\.)?[\w-]+\.)(?P<name>[\w-]+.*)")


def short_address(address: str, room: int) -> str:
    """Leave the modules out first, then the type; of name and key the middle."""
    candidates = [address, *_shorter(address)]
    fitting = next((each for each in candidates if cells(each) <= room), "")
    return fitting or fitted_in_the_middle(candidates[-1], room)


def _shorter(address: str) -> Iterator[str]:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return
    if found["path"]:
        yield f"…{found['type']}{found['name']}"
    yield f"…{found['name']}"
