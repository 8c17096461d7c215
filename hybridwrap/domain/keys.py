"""The names of things in a store: one place that spells them."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from urllib.parse import unquote

from msgspec import Struct

LATEST = 9_999_999_999_999  # milliseconds: the year 2286
PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_SEQ = re.compile(r"/(\d{8,})\.json$")


@lru_cache(maxsize=4096)
def quoted(name: str) -> str:
    """Spell a name as one part of a key: bytes of UTF-8 outside `A-Za-z0-9_.-`, and a leading dot, as %XX."""
    spelled = "".join(chr(byte) if byte in PLAIN else f"%{byte:02X}" for byte in name.encode())
    return f"%2E{spelled[1:]}" if spelled.startswith(".") else spelled


class Keys(Struct, frozen=True):
    """Keys of one stack in one environment."""

    stack: str
    environment: str

    @property
    def root(self) -> str:
        return f"v1/{quoted(self.stack)}/{quoted(self.environment)}/"

    @property
    def ledger(self) -> str:
        return f"{self.root}ledger.json"

    @property
    def key_proof(self) -> str:
        return f"{self.root}key.sealed"

    @property
    def logs(self) -> str:
        return f"{self.root}log/"

    def log(self, module: str) -> str:
        return f"{self.logs}{quoted(module)}/"

    def module_of_log(self, folder: str) -> str:
        return unquote(folder.removeprefix(self.logs).removesuffix("/"))

    def entry(self, module: str, seq: int) -> str:
        return f"{self.log(module)}{seq:08}.json"

    @property
    def heads(self) -> str:
        return f"{self.root}head/"

    def head(self, module: str) -> str:
        return f"{self.heads}{quoted(module)}.json"

    def module_of_head(self, key: str) -> str:
        return unquote(key.removeprefix(self.heads).removesuffix(".json"))

    @property
    def head_pack(self) -> str:
        return f"{self.root}heads.gz"

    @property
    def runs(self) -> str:
        return f"{self.root}runs/"

    def run(self, run: str, time: datetime) -> str:
        """The key of a run's document; newer runs come first in a listing."""
        return f"{self.runs}{LATEST - int(time.timestamp() * 1000):013}-{quoted(run)}.json"

    def run_of(self, key: str) -> str:
        """The id of the run that a document, or the end of one, belongs to."""
        name = key.removeprefix(self.runs).removesuffix(".json").removesuffix(".end")
        return unquote(name.partition("-")[2])

    def shared(self, command: str, name: str) -> str:
        """The key under which processes that know a run by a name find its id."""
        return f"{self.root}shared/{quoted(command)}/{quoted(name)}.json"

    def parts(self, run: str) -> str:
        return f"{self.root}parts/{quoted(run)}/"

    def part(self, run: str, part: str) -> str:
        return f"{self.parts(run)}{quoted(part)}.json"

    def told(self, run: str, part: str, module: str, result: str) -> str:
        """The key of how one module ended: a listing says it, without a read."""
        return f"{self.parts(run)}{quoted(part)}/{quoted(module)}.{quoted(result)}.json"

    def sign(self, run: str, part: str) -> str:
        """The key of a part's sign of life."""
        return f"{self.parts(run)}{quoted(part)}.sign.json"

    def turn(self, run: str, module: str, number: int) -> str:
        """The key under which a process says that it takes up a module, for the first time or again."""
        return f"{self.parts(run)}turns/{quoted(module)}/{number:04}.json"

    def beats(self, module: str) -> str:
        return f"{self.root}beat/{quoted(module)}/"

    def beat(self, module: str, operation: str) -> str:
        return f"{self.beats(module)}{quoted(operation)}.json"

    def blob(self, digest: str) -> str:
        return f"{self.root}blob/{digest}"

    @property
    def saved(self) -> str:
        return f"{self.root}saved/"

    def saved_run(self, run: str) -> str:
        """The folder of all that a saved run keeps."""
        return f"{self.saved}{quoted(run)}/"

    def run_of_saved(self, key: str) -> str:
        return unquote(key.removeprefix(self.saved).partition("/")[0])

    def saved_part(self, run: str, part: str) -> str:
        return f"{self.saved_run(run)}{quoted(part)}.json"

    def saved_secret(self, run: str, digest: str) -> str:
        return f"{self.saved_run(run)}{digest}.sealed"

    def probe(self, name: str) -> str:
        return f"{self.root}probe/{name}"


def run_end(start: str) -> str:
    """The key of a run's end, which sorts directly before that of its document."""
    return f"{start.removesuffix('.json')}.end.json"


def seq_of(key: str) -> int | None:
    """The seq in the key of an entry, None for any other key."""
    found = _SEQ.search(key)
    return int(found[1]) if found else None
