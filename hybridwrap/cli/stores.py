"""From the manifest's ledger settings to a store and a cipher."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ports import Cipher, Copies, HeadCache, Store
from hybridwrap.domain.stack import LedgerSettings, Stack

if TYPE_CHECKING:
    from hybridwrap.adapters.s3_connection import S3Settings


def store_of(settings: LedgerSettings) -> Store:
    """Build the store of a ledger; nothing is asked of it yet."""
    if settings.bucket:
        from hybridwrap.adapters.s3_store import S3Store

        return S3Store(s3_settings_of(settings))
    from hybridwrap.adapters.folder_store import FolderStore

    if settings.folder is None:
        raise AssertionError("a ledger lies in a bucket or in a folder")
    return FolderStore(settings.folder, chosen_by(settings))


def chosen_by(settings: LedgerSettings) -> str:
    """What decides where a ledger lies that is in a folder."""
    from hybridwrap.adapters.folder_store import IN_MANIFEST
    from hybridwrap.adapters.home import HOME_VARIABLE

    return f"{HOME_VARIABLE}, or {IN_MANIFEST}" if settings.in_home else IN_MANIFEST


def copies_of(settings: LedgerSettings) -> Copies | None:
    """What a ledger's objects were before; None where nothing keeps that."""
    if not settings.bucket:
        return None
    from hybridwrap.adapters.s3_versions import S3Versions

    return S3Versions(s3_settings_of(settings))


def s3_settings_of(settings: LedgerSettings) -> S3Settings:
    """How the bucket of a ledger in S3 is spoken to."""
    from hybridwrap.adapters.s3_connection import S3Settings

    said = settings.settings
    return S3Settings(
        bucket=settings.bucket,
        prefix=settings.prefix,
        region=said.get("region", ""),
        profile=said.get("profile", ""),
        endpoint=said.get("endpoint", ""),
        path_style=said.get("use_path_style", False),
        kms_key_id=said.get("kms_key_id", ""),
    )


def near_store(store: Store, stack: Stack, home: Path) -> tuple[Store, HeadCache | None]:
    """Keep on this host what was read from a ledger far away; a folder is near as it is."""
    if not stack.ledger.bucket:
        return store, None
    from hybridwrap.adapters.head_cache import FileHeadCache
    from hybridwrap.adapters.known_documents import KnownDocuments

    keys = Keys(stack.name, stack.environment)
    place = sha256(f"{store.place}{keys.root}".encode()).hexdigest()[:16]
    known = KnownDocuments(store, home / "cache" / "runs", lambda key: key.startswith(keys.runs))
    return known, FileHeadCache(home / "cache" / f"heads-{place}")


def cipher_of(settings: LedgerSettings, environ: Mapping[str, str]) -> tuple[Cipher | None, bytes]:
    """Build the cipher of blobs, and the key for digests of secrets; no key, no digests of secrets.

    Raise PreflightRefused for a key that is none.
    """
    said = settings.encryption
    if not said:
        return None, b""
    from hybridwrap.adapters.blob_cipher import BlobCipher, KmsKeys, OwnKey, connect_kms

    if name := said.get("key_from_env"):
        own = OwnKey.from_env(name, environ)
        return BlobCipher(own), hmac.digest(own.current()[0], b"digests of secrets", "sha256")
    region, profile = settings.settings.get("region", ""), settings.settings.get("profile", "")
    return BlobCipher(KmsKeys(said["kms_key_id"], partial(connect_kms, region=region, profile=profile))), b""
