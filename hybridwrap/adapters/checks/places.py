"""Where a stack's ledger and states lie, and whether they can be read and written there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.adapters.checks.bucket import check_bucket
from hybridwrap.adapters.checks.host import SIGN, why_not_written
from hybridwrap.adapters.checks.permissions import (
    NAME,
    Trial,
    ledger_trials,
    ledger_writes,
    state_trials,
    state_writes,
    try_it,
)
from hybridwrap.adapters.checks.residue import remove_all
from hybridwrap.adapters.file_system import network_kind, read_mounts
from hybridwrap.adapters.folder_store import elsewhere
from hybridwrap.adapters.s3_connection import S3Connection, S3Settings
from hybridwrap.adapters.s3_store import S3Store
from hybridwrap.domain.charter import stamp
from hybridwrap.domain.checkup import UNREACHABLE, Finding, Verdict, ok, problem, warning
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ports import Clock, Ids
from hybridwrap.domain.store_probe import probe
from hybridwrap.errors import LedgerUnreachable


class Bucket(Struct, frozen=True):
    """A bucket under test."""

    settings: S3Settings
    connection: S3Connection
    clock: Clock
    name: str  # of things that nobody else has

    @classmethod
    def of(cls, settings: S3Settings, clock: Clock, ids: Ids) -> Bucket:
        return cls(settings, S3Connection(settings), clock, f"{NAME}{ids.new()}")

    def tried(self, trials: Iterable[Trial]) -> Iterator[Finding]:
        return (try_it(self.connection, self.settings, trial) for trial in trials)


def check_s3_ledger(bucket: Bucket, keys: Keys) -> Iterator[Finding]:
    """Look at a ledger in S3. A problem with the bucket as a whole ends it."""
    settings = bucket.settings
    found = list(check_bucket(bucket.connection, settings, bucket.clock.now()))
    yield from found
    if any(finding.verdict is Verdict.PROBLEM for finding in found):
        return
    prefix = f"{settings.prefix}{keys.root}"
    found = list(bucket.tried(ledger_trials(prefix, bucket.name, settings.bucket)))
    yield from found
    if any(finding.verdict is not Verdict.OK for finding in found):
        yield _not_tried()
        return
    fit = _conditional(bucket, f"{keys.root}probe/{bucket.name}")
    yield fit
    if fit.verdict is Verdict.OK:
        yield from bucket.tried(ledger_writes(prefix, bucket.name, settings.bucket))


def check_s3_states(bucket: Bucket, folders: Iterable[str], *, known: bool) -> Iterator[Finding]:
    """Look at where states lie in a bucket; `known`: the ledger lies there, too, and the bucket was looked at."""
    found = [] if known else list(check_bucket(bucket.connection, bucket.settings, bucket.clock.now()))
    yield from found
    if any(finding.verdict is Verdict.PROBLEM for finding in found):
        return
    for folder in folders:
        yield from _state_folder(bucket, folder)


def _state_folder(bucket: Bucket, folder: str) -> Iterator[Finding]:
    found = list(bucket.tried(state_trials(folder, bucket.name, bucket.settings.bucket)))
    yield from found
    if any(finding.verdict is not Verdict.OK for finding in found):
        yield _not_tried()
        return
    fit = _conditional(bucket, f"{folder}{bucket.name}")
    yield replace(fit, subject="state lock") if fit.verdict is Verdict.OK else fit
    if fit.verdict is Verdict.OK:
        yield from bucket.tried(state_writes(folder, bucket.name, bucket.settings.bucket))


def _not_tried() -> Finding:
    text = "no write was tried, as what it leaves could not be removed, or could not be seen"
    return warning("s3:PutObject", text, "repair the lines above, then hybridwrap doctor")


def _conditional(bucket: Bucket, prefix: str) -> Finding:
    """Prove by objects that are removed again that of all creates of a key one wins."""
    store = S3Store(bucket.settings)
    try:
        probed = probe(store, prefix, stamp(bucket.clock.now()))
    except LedgerUnreachable as error:
        fix = error.hint if error.hint != LedgerUnreachable.hint else "allow s3:PutObject there"
        return problem("conditional writes", error.message, fix, UNREACHABLE)
    finally:
        remove_all(bucket.connection, bucket.settings, f"{bucket.settings.prefix}{prefix}/")
    return ok("conditional writes", f"a second create is refused, and of those who create at once {probed.race} wins")


def check_folder_ledger(folder: Path, chosen_by: str) -> Iterator[Finding]:
    """Look at a folder that holds a ledger, or would; `chosen_by` says what decides where it lies."""
    place = next(path for path in (folder, *folder.parents) if path.exists())
    if why := why_not_written(place):
        other = elsewhere(folder, chosen_by)
        fix = f"give yourself the right to write there{f', or {other}' if other else ''}"
        yield problem("ledger", f"{folder} can't be written: {why}", fix, UNREACHABLE)
    elif kind := network_kind(place, read_mounts()):
        fix = "use a folder on a local disk, or `ledger: {s3: …}`"
        yield problem("ledger", f"{folder} lies on a network file system ({kind})", fix, UNREACHABLE)
    elif not _has_links(place):
        fix = "use a folder on another file system, or `ledger: {s3: …}`"
        yield problem("ledger", f"{folder} lies on a file system without hard links", fix, UNREACHABLE)
    else:
        yield ok("ledger", f"{folder}; only this machine sees it")


def _has_links(place: Path) -> bool:
    with NamedTemporaryFile(dir=place, prefix=SIGN) as first:
        second = Path(f"{first.name}-link")
        try:
            second.hardlink_to(first.name)
        except OSError:
            return False
        second.unlink()
    return True


def folders_of(keys: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """By folder, with its slash, the modules whose state's key lies there."""
    found: dict[str, list[str]] = {}
    for module, key in keys.items():
        found.setdefault(f"{key.rpartition('/')[0]}/" if "/" in key else "", []).append(module)
    return {folder: tuple(modules) for folder, modules in sorted(found.items())}
