"""A stack without its manifest: from nothing but the place of its ledger."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec.structs import replace

from hybridwrap.cli.options import Place
from hybridwrap.cli.stores import store_of
from hybridwrap.domain.stack import LedgerSettings, Stack
from hybridwrap.errors import UsageError

SETTINGS = frozenset({"region", "profile", "endpoint", "use_path_style"})
ENCRYPTION = frozenset({"kms_key_id", "key_from_env"})
CHARTER = "ledger.json"

Found = Mapping[str, tuple[str, ...]]  # stack -> its environments


def stack_in_ledger(place: Place, environ: Mapping[str, str]) -> Stack:
    """Build the stack that a ledger remembers. Raise UsageError, LedgerUnreachable."""
    from hybridwrap.cli.compose import equip
    from hybridwrap.domain.recalled import recalled
    from hybridwrap.run.recorded import RUNS_LOOKED_AT

    settings = settings_of(place.ledger)
    found = dict(_ledgers(settings, place.ledger))
    name = _one("--stack", place.stack or "", tuple(found), place)
    environment = _one("-e", place.environment or "", found[name], place)
    root = _cache(environ) / sha256(f"{place.ledger}\0{name}".encode()).hexdigest()[:16]
    bare = Stack(name, environment, root / "hybridwrap.yaml", {}, settings, environments=found[name])
    ledger = equip(bare).ledger
    return replace(bare, modules=recalled(ledger.records(), ledger.runs(RUNS_LOOKED_AT), bare))


def environments_in_ledger(place: Place) -> tuple[str, ...]:
    """Name the environments that a stack has in a ledger. Raise UsageError, LedgerUnreachable."""
    found = dict(_ledgers(settings_of(place.ledger), place.ledger))
    return found[_one("--stack", place.stack or "", tuple(found), place)]


def settings_of(written: str) -> LedgerSettings:
    """Read the place of a ledger: a folder, or s3://BUCKET/PREFIX with `?region=…` and the like. Raise UsageError."""
    if not written.startswith("s3://"):
        folder = Path(written).expanduser().absolute()
        if not folder.is_dir():
            raise UsageError(f"no folder {written}", hint="hybridwrap status --ledger s3://BUCKET/PREFIX")
        return LedgerSettings(folder)
    parts = urlsplit(written)
    said = dict(parse_qsl(parts.query))
    if not parts.netloc:
        raise UsageError(f"{written} names no bucket", hint="hybridwrap status --ledger s3://BUCKET/PREFIX")
    if unknown := sorted(set(said) - SETTINGS - ENCRYPTION):
        known = ", ".join(sorted(SETTINGS | ENCRYPTION))
        raise UsageError(f"{written}: {', '.join(unknown)} is nothing that a ledger in S3 has; it has {known}")
    settings = {name: value == "true" if name == "use_path_style" else value for name, value in said.items()}
    prefix = parts.path.strip("/")
    return LedgerSettings(
        bucket=parts.netloc,
        prefix=f"{prefix}/" if prefix else "",
        settings={name: value for name, value in settings.items() if name in SETTINGS},
        encryption={name: value for name, value in said.items() if name in ENCRYPTION},
    )


def _ledgers(settings: LedgerSettings, written: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The stacks with their environments, by the folders of their ledgers. Raise UsageError when there are none."""
    found: dict[str, list[str]] = {}
    for root in sorted(_in_folder(settings.folder) if settings.folder else _in_bucket(settings)):
        stack, environment = (unquote(part) for part in root.split("/")[1:3])
        found.setdefault(stack, []).append(environment)
    if not found:
        where = " (the prefix is part of the place; none said in a manifest: hybridwrap)" if settings.bucket else ""
        raise UsageError(
            f"there is no ledger at {written}{where}", hint="hybridwrap status --ledger s3://BUCKET/PREFIX"
        )
    return ((stack, tuple(environments)) for stack, environments in found.items())


def _in_folder(folder: Path) -> Iterator[str]:
    return (str(file.parent.relative_to(folder)) for file in folder.glob(f"v1/*/*/{CHARTER}"))


def _in_bucket(settings: LedgerSettings) -> Iterator[str]:
    """One request for each: what comes after a ledger's own keys is the next one."""
    store, after = store_of(settings), ""
    while item := next(store.list("v1/", after=after, limit=1), None):
        root = "/".join(item.key.split("/")[:3])
        yield root
        after = f"{root}/~"


def _one(option: str, wanted: str, there: tuple[str, ...], place: Place) -> str:
    if wanted in there:
        return wanted
    if not wanted and len(there) == 1:
        return there[0]
    what = "stack" if option == "--stack" else "environment"
    why = f'no {what} "{wanted}" in that ledger' if wanted else f"which {what}?"
    hint = f"hybridwrap status --ledger {place.ledger} {option} {there[0]}"
    raise UsageError(f"{why}; there are: {', '.join(there)}", hint=hint)


def _cache(environ: Mapping[str, str]) -> Path:
    """Where things of this user may be kept that are safe to lose; nothing is made."""
    return Path(environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "hybridwrap"  # noqa: PTH111
