"""Documents of the ledger to bytes and back: canonical JSON, exact numbers, fields of newer writers ignored.

Keeps: a field too large to stand in an entry or head lies in a blob, and no secret value is ever written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import make_dataclass
from decimal import Decimal
from hashlib import sha256
from typing import TypeVar, get_type_hints

import msgspec

from hybridwrap.domain import json
from hybridwrap.domain.entry import BODIES, FORMAT_VERSION, Adopt, Body, Entry, Kind, Late, RecordedInput
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.record import Record
from hybridwrap.errors import LedgerDamaged, LedgerMisused

INLINE_BYTES = 48 * 1024
LARGE = frozenset({"inputs", "outputs", "previous_outputs", "planned", "objects", "errors", "steps", "drift"})
NESTED = frozenset({"end", "intent", "carried"})  # parts that have large fields of their own

Spill = Callable[[bytes], str]  # keeps bytes elsewhere, returns their digest
Fetch = Callable[[str], bytes]
T = TypeVar("T")

_CHECKED = re.compile(rb'\{"check":"([0-9a-f]{64})",')

# One union of dataclasses cannot be told apart by a decoder: the body is read by its kind, the rest as this.
_ENVELOPE_FIELDS = {name: kind for name, kind in get_type_hints(Entry).items() if name != "body"}
_ENVELOPE = make_dataclass("_Envelope", _ENVELOPE_FIELDS.items())


def digest_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def encode_entry(entry: Entry, spill: Spill) -> bytes:
    refuse_secrets(entry.module, entry.body)
    document = plain(entry)
    document["body"], blobs = _spilled(document["body"], spill)
    return json.canonical({**document, "v": FORMAT_VERSION, "kind": entry.kind.value, "blobs": blobs})


def decode_entry(data: bytes, where: str, fetch: Fetch) -> Entry:
    """Read one entry; `where` names it in errors. Raise LedgerDamaged for what is not an entry that we know."""
    document = parsed(data, where)
    document["body"] = _fetched(document.get("body"), document.get("blobs"), fetch, where)
    return _entry(document, where)


def decode_bare_entry(data: bytes, where: str) -> tuple[Entry, tuple[str, ...]]:
    """Read an entry without what lies in blobs, and the digests of these. Raise LedgerDamaged as `decode_entry`."""
    document = parsed(data, where)
    blobs = shaped(document.get("blobs") or {}, dict[str, str], where)
    return _entry(document, where), tuple(blobs.values())


def _entry(document: Mapping[str, Json], where: str) -> Entry:
    try:
        kind = Kind(document.get("kind", ""))
    except ValueError as error:
        raise LedgerDamaged(
            f"{where}: of unknown kind {document.get('kind')!r}", hint="install a newer hybridwrap"
        ) from error
    body = shaped(document.get("body"), BODIES[kind], where)
    envelope: object = shaped(document, _ENVELOPE, where)
    return Entry(**{name: getattr(envelope, name) for name in _ENVELOPE_FIELDS}, body=body)


def encode_head(record: Record, ledger: str, spill: Spill) -> bytes:
    document, blobs = _spilled(plain(record), spill)
    content = json.canonical({"v": FORMAT_VERSION, "ledger": ledger, "record": document, "blobs": blobs})
    return b'{"check":"%s",%s' % (digest_of(content).encode(), content[1:])


def decode_head(data: bytes, ledger: str, fetch: Fetch) -> Record | None:
    """Read a head, None when it is damaged or of another ledger: it is only a cache."""
    found = _CHECKED.match(data)
    if not found or digest_of(b"{" + data[found.end() :]).encode() != found[1]:
        return None
    try:
        document = parsed(data, "head")
        if document.get("ledger") != ledger:
            return None
        return shaped(_fetched(document.get("record"), document.get("blobs"), fetch, "head"), Record, "head")
    except LedgerDamaged:
        return None


def encode(document: object) -> bytes:
    """Write a document without large fields: of the ledger, of a run, a beat."""
    return json.canonical({**plain(document), "v": FORMAT_VERSION})


def decode(data: bytes, shape: type[T], where: str) -> T:
    return shaped(parsed(data, where), shape, where)


def plain(document: object) -> dict[str, Json]:
    built: dict[str, Json] = msgspec.to_builtins(document, builtin_types=(Decimal,), enc_hook=_any_mapping)
    return built


def _any_mapping(value: object) -> dict[str, Json]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in the ledger")


def parsed(data: bytes, where: str) -> dict[str, Json]:
    """Read a document of a format version that we know."""
    try:
        document = json.loads(data)
    except ValueError as error:
        raise LedgerDamaged(f"{where}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise LedgerDamaged(f"{where}: not a JSON object")
    if document.get("v") != FORMAT_VERSION:
        raise LedgerDamaged(
            f"{where}: of format {document.get('v')!r}, this hybridwrap knows {FORMAT_VERSION}",
            hint="install a newer hybridwrap",
        )
    return document


def shaped(document: Json, shape: type[T], where: str) -> T:
    try:
        return msgspec.convert(document, shape, builtin_types=(Decimal,))
    except msgspec.ValidationError as error:
        raise LedgerDamaged(f"{where}: {error}") from error


def refuse_secrets(module: str, body: Body) -> None:
    """Raise LedgerMisused when a body carries the value of a sensitive output or input."""
    holder = body.end if isinstance(body, Late) else body
    carried = holder.carried if isinstance(holder, Adopt) else None
    for name, value in (*_named_values(holder), *_named_values(carried)):
        if value.sensitive and value.value is not None:
            raise LedgerMisused(f"{module}: the value of the sensitive {name} was about to be written into the ledger")


def _named_values(body: object) -> Iterator[tuple[str, Output | RecordedInput]]:
    for field in ("outputs", "previous_outputs", "inputs"):
        values = getattr(body, field, None) or {}
        yield from ((f"{field.split('_')[-1][:-1]} {name!r}", value) for name, value in values.items())


def _spilled(document: Mapping[str, Json], spill: Spill, path: str = "") -> tuple[dict[str, Json], dict[str, str]]:
    """Part a document from its fields that are too large to stand in it; the blobs are named by dotted paths."""
    inline: dict[str, Json] = {}
    blobs: dict[str, str] = {}
    for field, value in document.items():
        if field in NESTED and value:
            inline[field], inner = _spilled(value, spill, f"{path}{field}.")
            blobs |= inner
        elif field in LARGE and value and len(data := json.canonical(value)) > INLINE_BYTES:
            blobs[f"{path}{field}"] = spill(data)
        else:
            inline[field] = value
    return inline, blobs


def _fetched(document: Json, blobs: Json, fetch: Fetch, where: str) -> Json:
    """Put the fields that lie in blobs back into their places."""
    try:
        for path, digest in (blobs or {}).items():
            *parents, field = path.split(".")
            place = document
            for parent in parents:
                place = place[parent]
            place[field] = json.loads(fetch(digest))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise LedgerDamaged(f"{where}: its blobs are not readable: {error!r}") from error
    return document
