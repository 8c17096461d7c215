"""A store in an S3 bucket, on AWS or on any server with working conditional writes.

Keeps: a create is one request, once. The SDK's own retries would answer "exists" to a write of ours whose first answer
was lost, so that client has none; what may be repeated goes through a second client, with retries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, TypeVar

from hybridwrap.adapters.s3_connection import S3Connection, S3Settings
from hybridwrap.adapters.s3_errors import NOT_OF_S3, Answer, way_out
from hybridwrap.domain.ports import Attempt, Creation, Listed
from hybridwrap.errors import LedgerUnreachable

T = TypeVar("T")
PAGE = 1000  # keys in one answer to a listing, at most
NOT_THERE = frozenset({"NoSuchKey", "404"})
NOT_THE_ONE = frozenset({404, 409, 412})


class S3Store:
    def __init__(self, settings: S3Settings) -> None:
        self._settings = settings
        self._connection = S3Connection(settings)
        self._prefix = settings.folder

    @property
    def place(self) -> str:
        return self._url("")

    def create(self, key: str, data: bytes) -> Attempt:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._connection.once.put_object(**self._put(key, data), IfNoneMatch="*")
        except ClientError as error:
            return Answer.of(error.response, "PutObject").attempt(self._url(key), self._connection.region)
        except BotoCoreError as error:
            return Attempt(_without_answer(error), f"{self._url(key)}: {error}", way_out(error))
        except LedgerUnreachable as error:
            return Attempt(Creation.REFUSED, error.message, error.hint)
        if not _has("ETag", answer):
            return Attempt(Creation.IN_DOUBT, f"{self._url(key)}: {NOT_OF_S3}")
        return Attempt(Creation.STORED)

    def read(self, key: str) -> bytes | None:
        quick = self._connection.reads.read(self._prefix + key)
        if quick is not None:
            return quick.content

        def get() -> bytes:
            self._connection.reads.expect(self._prefix + key)
            found = self._connection.often.get_object(Bucket=self._settings.bucket, Key=self._prefix + key)
            self._must_have("ETag", found, key)
            return found["Body"].read()

        return self._asked("GetObject", key, get, lambda answer: answer.code in NOT_THERE)

    def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
        only: dict[str, Any] = {} if over is None else {"IfMatch": over} if over else {"IfNoneMatch": "*"}

        def put() -> str:
            answer = self._connection.often.put_object(**self._put(key, data), **only)
            self._must_have("ETag", answer, key)
            return answer["ETag"]

        return self._asked("PutObject", key, put, lambda answer: bool(only) and answer.status in NOT_THE_ONE)

    def list(self, prefix: str, *, after: str = "", limit: int | None = None) -> Iterator[Listed]:
        start = {"StartAfter": self._prefix + after} if after else {}
        size = {} if limit is None else {"MaxKeys": min(limit, PAGE)}
        items = chain.from_iterable(page.get("Contents", []) for page in self._pages(prefix, {**start, **size}))
        return (Listed(item["Key"].removeprefix(self._prefix), item["ETag"]) for item in islice(items, limit))

    def folders(self, folder: str) -> frozenset[str]:
        pages = self._pages(folder, {"Delimiter": "/"})
        found = chain.from_iterable(page.get("CommonPrefixes", []) for page in pages)
        return frozenset(item["Prefix"].removeprefix(self._prefix) for item in found)

    def delete(self, key: str) -> None:
        def remove() -> None:
            self._connection.often.delete_object(Bucket=self._settings.bucket, Key=self._prefix + key)

        self._asked("DeleteObject", key, remove, lambda answer: answer.code in NOT_THERE)

    def _pages(self, prefix: str, more: dict[str, Any]) -> Iterator[dict[str, Any]]:
        page = self._page(prefix, more)
        yield page
        while page.get("IsTruncated"):
            self._must_have("NextContinuationToken", page, prefix)
            page = self._page(prefix, {**more, "ContinuationToken": page["NextContinuationToken"]})
            yield page

    def _page(self, prefix: str, more: dict[str, Any]) -> dict[str, Any]:
        def ask() -> dict[str, Any]:
            page = self._connection.often.list_objects_v2(
                Bucket=self._settings.bucket, Prefix=self._prefix + prefix, **more
            )
            self._must_have("IsTruncated", page, prefix)
            return dict(page)

        return self._asked("ListObjectsV2", prefix, ask, lambda _: False) or {}

    def _asked(self, action: str, key: str, request: Callable[[], T], absent: Callable[[Answer], bool]) -> T | None:
        """Send a request that may be repeated; None when the answer says that the object is absent."""
        from botocore.exceptions import ClientError

        with self._connection.explaining(action, self._url(key)):
            try:
                return request()
            except ClientError as error:
                if absent(Answer.of(error.response, action)):
                    return None
                raise

    def _must_have(self, member: str, answer: Mapping[str, object], key: str) -> None:
        """Raise LedgerUnreachable for an answer without what S3 never leaves out: an empty listing is no proof then."""
        if not _has(member, answer):
            raise LedgerUnreachable(f"{self._url(key)}: {NOT_OF_S3}")

    def _put(self, key: str, data: bytes) -> dict[str, Any]:
        kms = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": self._settings.kms_key_id}
        more = kms if self._settings.kms_key_id else {}
        return {"Bucket": self._settings.bucket, "Key": self._prefix + key, "Body": data, **more}

    def _url(self, key: str) -> str:
        at = f" at {self._settings.endpoint}" if self._settings.endpoint else ""
        return f"s3://{self._settings.bucket}/{self._prefix}{key}{at}"


def _without_answer(error: Exception) -> Creation:
    """Without credentials nothing was sent; in any other case nobody knows."""
    from botocore.exceptions import CredentialRetrievalError, NoCredentialsError, PartialCredentialsError

    never_sent = isinstance(error, NoCredentialsError | PartialCredentialsError | CredentialRetrievalError)
    return Creation.REFUSED if never_sent else Creation.IN_DOUBT


def _has(member: str, answer: Mapping[str, object]) -> bool:
    """Whether what the types promise is there: they tell of S3, and something else may have answered."""
    return member in answer
