"""One bucket: whether it is there, how it differs from what it should be, and how it is made so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from hybridwrap.adapters.bootstrap.settings import UNSUPPORTED, Setting, Wishes, settings_for
from hybridwrap.adapters.s3_connection import S3Connection, S3Settings
from hybridwrap.adapters.s3_errors import Answer
from hybridwrap.errors import LedgerUnreachable, PreflightRefused

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

T = TypeVar("T")
NOT_FOUND = 404
HOME_REGION = "us-east-1"  # the one that must not be named at a bucket's making
NOT_KNOWN = frozenset({"NotImplemented", "MethodNotAllowed", "UnsupportedOperation", "XNotImplemented"})
NOT_KNOWN_STATUSES = frozenset({405, 501})


class Difference(Struct, frozen=True):
    setting: Setting
    now: str  # in words

    @property
    def is_met(self) -> bool:
        return self.setting.is_met_by(self.now)

    @property
    def can_be_made(self) -> bool:
        return not self.is_met and self.now != UNSUPPORTED


class Bucket:
    """Raise LedgerUnreachable for whatever the server refuses."""

    def __init__(self, settings: S3Settings, wishes: Wishes) -> None:
        self._name = settings.bucket
        self._connection = S3Connection(settings)
        self._wishes = wishes

    @property
    def place(self) -> str:
        return f"s3://{self._name} in {self._connection.region}"

    def exists(self) -> bool:
        return self._asked(lambda client: client.head_bucket(Bucket=self._name), _is_absent) is not None

    def make(self) -> bool:
        """Make the bucket; False when it is ours already. Raise PreflightRefused when its name is somebody else's."""
        region = self._connection.region
        where: Any = {} if region == HOME_REGION else {"CreateBucketConfiguration": {"LocationConstraint": region}}

        def is_ours(answer: Answer) -> bool:
            if answer.code == "BucketAlreadyExists":
                text = f"s3://{self._name} can't be made: somebody else has a bucket of that name"
                raise PreflightRefused(text, hint="choose another name: those of all of AWS are one set")
            return answer.code == "BucketAlreadyOwnedByYou"

        return self._asked(lambda client: client.create_bucket(Bucket=self._name, **where), is_ours) is not None

    def differences(self) -> tuple[Difference, ...]:
        """Look at each setting."""
        partition = self._connection.session.get_partition_for_region(self._connection.region)
        wanted = settings_for(self._name, f"arn:{partition}:s3:::{self._name}", self._wishes)
        return tuple(Difference(setting, self._look(setting)) for setting in wanted)

    def change(self, difference: Difference) -> str:
        """Set one setting, and say how it is then."""
        made = self._asked(difference.setting.make, _is_not_known)
        return UNSUPPORTED if made is None or made is False else self._look(difference.setting)

    def _look(self, setting: Setting) -> str:
        return self._asked(setting.look, _is_not_known) or UNSUPPORTED

    def _asked(self, ask: Callable[[S3Client], T], is_no: Callable[[Answer], bool]) -> T | None:
        """Ask the server; None for an answer that is a plain no."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return ask(self._connection.often)
        except ClientError as error:
            answer = Answer.of(error.response, error.operation_name)
            if is_no(answer):
                return None
            raise LedgerUnreachable(
                answer.explained(f"s3://{self._name}", self._connection.region),
                hint="allow it, or choose another profile; then: hybridwrap bootstrap",
            ) from error
        except BotoCoreError as error:
            raise LedgerUnreachable(f"s3://{self._name}: {error}", hint="hybridwrap doctor") from error


def _is_absent(answer: Answer) -> bool:
    return answer.status == NOT_FOUND


def _is_not_known(answer: Answer) -> bool:
    """Whether a server lacks the setting: they say so in many ways, but none of them by a refusal."""
    return answer.code in NOT_KNOWN or answer.status in NOT_KNOWN_STATUSES
