"""Encryption of blobs with AES-256-GCM, by a key of the user's own or by data keys that AWS KMS hands out.

A sealed blob: `SEALED`, two bytes for the length of the wrapped data key, the wrapped key (nothing for a key of the
user's own), 12 bytes of nonce, ciphertext with its tag. All before the nonce is authenticated too.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Protocol

from hybridwrap.domain.blobs import SEALED
from hybridwrap.errors import LedgerUnreachable, PreflightRefused, WrongKey

KEY_BYTES = 32
NONCE_BYTES = 12


class DataKeys(Protocol):
    """Where the keys that encrypt come from."""

    def current(self) -> tuple[bytes, bytes]:
        """The key to encrypt with, and its wrapped form, which is stored."""

    def unwrap(self, wrapped: bytes) -> bytes: ...

    @property
    def is_one(self) -> bool: ...


class Kms(Protocol):
    """What is used of boto3's client."""

    def decrypt(self, *, CiphertextBlob: bytes) -> Any: ...  # noqa: N803 - the names are boto3's

    def generate_data_key(self, *, KeyId: str, KeySpec: str) -> Any: ...  # noqa: N803


class BlobCipher:
    def __init__(self, keys: DataKeys) -> None:
        self._keys = keys

    @property
    def is_one_key(self) -> bool:
        return self._keys.is_one

    def seal(self, data: bytes) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        key, wrapped = self._keys.current()
        head = SEALED + len(wrapped).to_bytes(2, "big") + wrapped
        nonce = os.urandom(NONCE_BYTES)
        return head + nonce + AESGCM(key).encrypt(nonce, data, head)

    def open(self, data: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        start = len(SEALED) + 2
        end = start + int.from_bytes(data[len(SEALED) : start], "big")
        nonce, sealed = data[end : end + NONCE_BYTES], data[end + NONCE_BYTES :]
        try:
            return AESGCM(self._keys.unwrap(data[start:end])).decrypt(nonce, sealed, data[:end])
        except (InvalidTag, ValueError) as error:
            raise WrongKey("a blob can't be decrypted: another key made it") from error


class OwnKey:
    """One key for all blobs."""

    is_one = True

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def from_env(cls, name: str, environ: Mapping[str, str]) -> OwnKey:
        """Raise PreflightRefused unless the variable holds 32 bytes in base 64."""
        new = f"export {name}=$(openssl rand -base64 {KEY_BYTES})   once, and keep it"
        if not environ.get(name):
            raise PreflightRefused(
                f"ledger.encryption.key_from_env: {name} is not set",
                hint=f"set it to the key that this ledger is written with; for a new ledger: {new}",
            )
        try:
            key = base64.b64decode(environ[name], validate=True)
        except binascii.Error:
            key = b""
        if len(key) != KEY_BYTES:
            raise PreflightRefused(
                f"ledger.encryption.key_from_env: {name} does not hold {KEY_BYTES} bytes in base 64",
                hint=new,
            )
        return cls(key)

    def current(self) -> tuple[bytes, bytes]:
        return self._key, b""

    def unwrap(self, wrapped: bytes) -> bytes:
        if wrapped:
            raise WrongKey("a blob is encrypted with a key of AWS KMS, not with the one that is set")
        return self._key


class KmsKeys:
    """Data keys of AWS KMS: one new key for each process, wrapped keys of others unwrapped once."""

    is_one = False

    def __init__(self, key_id: str, connect: Callable[[], Kms]) -> None:
        self._key_id = key_id
        self._connect = connect
        self._unwrapped: dict[bytes, bytes] = {}

    def current(self) -> tuple[bytes, bytes]:
        return self._own

    def unwrap(self, wrapped: bytes) -> bytes:
        from botocore.exceptions import BotoCoreError, ClientError

        if wrapped not in self._unwrapped:
            try:
                self._unwrapped[wrapped] = self._kms.decrypt(CiphertextBlob=wrapped)["Plaintext"]
            except (BotoCoreError, ClientError) as error:
                raise LedgerUnreachable(f"KMS did not unwrap the key of a blob (kms:Decrypt): {error}") from error
        return self._unwrapped[wrapped]

    @cached_property
    def _own(self) -> tuple[bytes, bytes]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            made = self._kms.generate_data_key(KeyId=self._key_id, KeySpec="AES_256")
        except (BotoCoreError, ClientError) as error:
            raise LedgerUnreachable(
                f"KMS key {self._key_id} made no data key (kms:GenerateDataKey): {error}"
            ) from error
        self._unwrapped[made["CiphertextBlob"]] = made["Plaintext"]
        return made["Plaintext"], made["CiphertextBlob"]

    @cached_property
    def _kms(self) -> Kms:
        return self._connect()


def connect_kms(*, region: str = "", profile: str = "", endpoint: str = "") -> Kms:
    import boto3

    session: Any = boto3.Session(profile_name=profile or None, region_name=region or None)
    client: Kms = session.client("kms", endpoint_url=endpoint or None)
    return client
