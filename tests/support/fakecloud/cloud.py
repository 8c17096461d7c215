"""The fake cloud as a test holds it: what exists, what was called, and what shall go wrong."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tests.support.fakecloud.faults import Injected, Operation

Value = str | int | None | dict[str, str]

_TABLES = """
CREATE TABLE IF NOT EXISTS objects (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, attributes TEXT NOT NULL,
    parent TEXT REFERENCES objects (id) ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS faults (pattern TEXT NOT NULL, fault TEXT NOT NULL, argument TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS observers (operation TEXT NOT NULL, pattern TEXT NOT NULL, argv TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS calls (
    number INTEGER PRIMARY KEY, operation TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    object_id TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '',
    observed_exit INTEGER, observed TEXT NOT NULL DEFAULT '');
"""

_PREFIXES = {"server": "srv", "network": "net", "disk": "dsk"}


@dataclass(frozen=True, slots=True)
class CloudThing:
    """One object that exists; `attributes` has everything but id, name and parent."""

    id: str
    kind: str  # server, network, disk
    name: str
    parent: str | None = None
    attributes: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One API call; times are RFC 3339 in UTC, `ended` is empty while it runs and for ever if its process died.

    `observed` is what an observer's command printed within the call, `observed_exit` how it ended.
    """

    number: int
    operation: Operation
    kind: str
    name: str
    object_id: str
    started: str
    ended: str
    error: str
    observed_exit: int | None
    observed: str

    @property
    def seconds(self) -> float:
        return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.started)).total_seconds()


class Cloud:
    """A cloud in a SQLite file that any number of processes may use at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self.connection() as database:
            database.executescript(_TABLES)

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, durable against the death of a process."""
        database = sqlite3.connect(self.path, timeout=30)
        database.row_factory = sqlite3.Row
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("PRAGMA synchronous = OFF")
        try:
            with database:
                yield database
        finally:
            database.close()

    def objects(self, kind: str = "%", *, name: str = "%") -> list[CloudThing]:
        """What exists, by SQL patterns, in order of names."""
        query = "SELECT * FROM objects WHERE kind LIKE ? AND name LIKE ? ORDER BY name, id"
        with self.connection() as database:
            return [_thing(row) for row in database.execute(query, (kind, name))]

    def find(self, object_id: str) -> CloudThing | None:
        with self.connection() as database:
            row = database.execute("SELECT * FROM objects WHERE id = ?", (object_id,)).fetchone()
        return None if row is None else _thing(row)

    def only(self, name: str) -> CloudThing:
        """The one object of that name; raise ValueError when there are more or none."""
        (thing,) = self.objects(name=name)
        return thing

    def add(
        self, kind: str, name: str, *, parent: str | None = None, attributes: Mapping[str, Value] | None = None
    ) -> CloudThing:
        """Make an object that no engine knows of: an orphan. Raise sqlite3.IntegrityError for an unknown parent."""
        thing = _new_thing(kind, name, parent, attributes or {})
        with self.connection() as database:
            database.execute(
                "INSERT INTO objects (id, kind, name, parent, attributes) VALUES (?, ?, ?, ?, ?)",
                (thing.id, kind, name, parent, json.dumps(dict(thing.attributes))),
            )
        return thing

    def change(self, object_id: str, attributes: Mapping[str, Value]) -> None:
        """Set attributes behind the engine's back: drift."""
        with self.connection() as database:
            (text,) = database.execute("SELECT attributes FROM objects WHERE id = ?", (object_id,)).fetchone()
            merged = json.dumps({**json.loads(text), **attributes})
            database.execute("UPDATE objects SET attributes = ? WHERE id = ?", (merged, object_id))

    def vanish(self, object_id: str) -> None:
        """Delete an object, and what it is a parent of, behind the engine's back."""
        with self.connection() as database:
            database.execute("DELETE FROM objects WHERE id = ?", (object_id,))

    def inject(self, pattern: str, fault: str) -> None:
        """Let calls for objects whose name fits the shell pattern go wrong until lifted: `inject("web*", "slow=2")`."""
        injected = Injected.parse(pattern, fault)
        with self.connection() as database:
            database.execute("INSERT INTO faults VALUES (?, ?, ?)", (pattern, injected.fault, injected.argument))

    def lift(self, pattern: str | None = None, *, fault: str = "%") -> None:
        """Take back what was injected with this pattern, or everything."""
        query = "DELETE FROM faults WHERE fault LIKE ? AND (? IS NULL OR pattern = ?)"
        with self.connection() as database:
            database.execute(query, (fault, pattern, pattern))

    def faults(self) -> list[Injected]:
        with self.connection() as database:
            return [Injected.parse(r["pattern"], f"{r['fault']}={r['argument']}") for r in _all(database, "faults")]

    def observe(self, argv: Sequence[str], *, operation: Operation = Operation.CREATE, pattern: str = "*") -> None:
        """Run a command within each such call, before its effect; `calls()` has what it printed."""
        with self.connection() as database:
            database.execute("INSERT INTO observers VALUES (?, ?, ?)", (operation, pattern, json.dumps(list(argv))))

    def calls(self, operation: Operation | str = "%", *, name: str = "%") -> list[Call]:
        """The calls so far, oldest first."""
        query = "SELECT * FROM calls WHERE operation LIKE ? AND name LIKE ? ORDER BY number"
        with self.connection() as database:
            return [_call(row) for row in database.execute(query, (operation, name))]

    def wait_for_calls(
        self, operation: Operation | str, *, name: str = "%", count: int = 1, seconds: float = 120
    ) -> list[Call]:
        """Wait until so many such calls have begun; raise TimeoutError."""
        deadline = time.monotonic() + seconds
        while len(found := self.calls(operation, name=name)) < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(found)} of {count} calls {operation} for {name} within {seconds} s")
            time.sleep(0.02)
        return found


def _all(database: sqlite3.Connection, table: str) -> list[sqlite3.Row]:
    return database.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()  # noqa: S608  our own table names


def _new_thing(kind: str, name: str, parent: str | None, given: Mapping[str, Value]) -> CloudThing:
    object_id = f"{_PREFIXES[kind]}-{secrets.token_hex(4)}"
    made: dict[str, Value] = {}
    if kind == "server":
        address = ".".join(str(byte) for byte in secrets.token_bytes(3))
        made = {"ip": f"10.{address}", "admin_password": f"pw-{object_id}"}
    return CloudThing(object_id, kind, name, parent, {**given, **made})


def _thing(row: sqlite3.Row) -> CloudThing:
    return CloudThing(row["id"], row["kind"], row["name"], row["parent"], json.loads(row["attributes"]))


def _call(row: sqlite3.Row) -> Call:
    values = dict(row)
    return Call(**{**values, "operation": Operation(values["operation"])})
