"""Looks for secrets in everything that a program left or showed, in every form that a program may write them in."""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from urllib.parse import quote, quote_plus

SHORTEST_LINE = 8  # a shorter one stands in many texts


def forms(secret: str) -> set[bytes]:
    """A secret as it stands, and as JSON (Python's, and Go's), HTML, URLs, base64 and hexadecimal digits have it."""
    texts = {secret, *(line for line in secret.splitlines() if len(line) >= SHORTEST_LINE)}
    found = {form for text in texts for form in (text, html.escape(text), html.escape(text, quote=False))}
    found |= {json.dumps(text, ensure_ascii=escaped)[1:-1] for text in texts for escaped in (True, False)}
    found |= {form.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") for form in set(found)}
    found |= {quote(secret, safe=""), quote_plus(secret), secret.encode().hex()}
    encoded = (base64.b64encode(secret.encode()), base64.urlsafe_b64encode(secret.encode()))
    return {form.encode() for form in found} | {data.rstrip(b"=") for data in encoded}


def found_in(data: bytes, secrets: Mapping[str, str]) -> set[str]:
    """Name the secrets that stand in data, also in compressed data."""
    texts = [data, *([gzip.decompress(data)] if data.startswith(b"\x1f\x8b") else [])]
    return {name for name, secret in secrets.items() if any(form in text for form in forms(secret) for text in texts)}


def below(folder: Path, secrets: Mapping[str, str]) -> dict[str, set[str]]:
    """The files below a folder that hold secrets, and which."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    found = ((str(file.relative_to(folder)), found_in(file.read_bytes(), secrets)) for file in files)
    return {name: names for name, names in found if names}


@contextmanager
def command_lines() -> Iterator[set[bytes]]:
    """Collect the command lines of all processes of this machine while something is at work."""
    seen: set[bytes] = set()
    over = Event()

    def watch() -> None:
        while not over.wait(0.02):
            for file in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(file.read_bytes())
                except OSError:  # it has ended
                    continue

    thread = Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
