"""How a bucket is spoken to: the SDK's clients, made when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from hybridwrap.adapters.s3_errors import Answer, way_out
from hybridwrap.adapters.s3_signed_reads import SignedReads
from hybridwrap.errors import LedgerUnreachable

if TYPE_CHECKING:
    from boto3.session import Session
    from botocore.config import Config
    from botocore.model import OperationModel
    from mypy_boto3_s3 import S3Client

T = TypeVar("T")
TIMEOUT_SECONDS = 5
CONNECTIONS = 32
ATTEMPTS = 5


class S3Settings(Struct, frozen=True):
    """Where the bucket is and how it is spoken to; "" leaves the choice to the SDK and its environment."""

    bucket: str
    prefix: str = ""
    region: str = ""
    profile: str = ""
    endpoint: str = ""
    path_style: bool = False
    kms_key_id: str = ""  # objects are then encrypted by SSE-KMS

    @property
    def folder(self) -> str:
        """What all keys begin with."""
        return f"{self.prefix.rstrip('/')}/" if self.prefix.strip("/") else ""


class S3Connection:
    """Safe for several threads, which the making of clients is not. Every part raises LedgerUnreachable."""

    def __init__(self, settings: S3Settings) -> None:
        self._settings = settings
        self._lock = RLock()
        self._made: dict[str, object] = {}

    @property
    def session(self) -> Session:
        return self._one("session", self._session)

    @property
    def once(self) -> S3Client:
        """The client for what is sent once."""
        return self._one("once", partial(self._client, 1))

    @property
    def often(self) -> S3Client:
        """The client for what may be repeated."""
        return self._one("often", partial(self._client, ATTEMPTS))

    @property
    def reads(self) -> SignedReads:
        return self._one("reads", lambda: SignedReads(self.often, self.session.get_credentials))

    @property
    def region(self) -> str:
        return self._settings.region or self.often.meta.region_name

    @contextmanager
    def explaining(self, action: str, where: str) -> Iterator[None]:
        """Have a request that fails raise LedgerUnreachable, which says what it was for and what to do."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            answer = Answer.of(error.response, action)
            raise LedgerUnreachable(answer.explained(where, self.region), hint=answer.way_out or None) from error
        except BotoCoreError as error:
            raise LedgerUnreachable(f"{where}: {error}", hint=way_out(error)) from error

    def _one(self, name: str, make: Callable[[], T]) -> T:
        with self._lock:
            if name not in self._made:
                self._made[name] = make()
            return self._made[name]  # type: ignore[return-value]  # each name goes with one type

    def _session(self) -> Session:
        import boto3
        import botocore.session
        from botocore.exceptions import BotoCoreError

        base = botocore.session.get_session()
        # Times stay as they are told: nobody asks for those of a listing, and reading them is two thirds of its cost.
        base.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=str)
        profile, region = self._settings.profile or None, self._settings.region or None
        try:
            return boto3.Session(profile_name=profile, region_name=region, botocore_session=base)
        except BotoCoreError as error:
            raise LedgerUnreachable(f"s3://{self._settings.bucket}: {error}", hint=way_out(error)) from error

    def _client(self, attempts: int) -> S3Client:
        from botocore.exceptions import BotoCoreError

        endpoint = self._settings.endpoint or None
        try:
            client = self.session.client("s3", endpoint_url=endpoint, config=self._config(attempts))
        except (BotoCoreError, ValueError) as error:
            raise LedgerUnreachable(f"s3://{self._settings.bucket}: {error}", hint=way_out(error)) from error
        client.meta.events.register_last("before-parameter-build.s3", _redirect_no_further)
        return client

    def _config(self, attempts: int) -> Config:
        from botocore.config import Config

        return Config(
            retries={"mode": "standard", "total_max_attempts": attempts},
            connect_timeout=TIMEOUT_SECONDS,
            read_timeout=TIMEOUT_SECONDS,
            max_pool_connections=CONNECTIONS,
            s3={"addressing_style": "path" if self._settings.path_style else "auto"},
            # The ledger's own hash chain guards its bytes; many servers do not know the SDK's default checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )


def _redirect_no_further(model: OperationModel, context: dict[str, Any], **_: object) -> None:
    """Follow no redirect of HeadBucket: the SDK asks it where a redirect leads, and again when that is redirected."""
    if model.name == "HeadBucket":
        context["s3_redirect"]["redirected"] = True
