"""Requests to the HTTP interfaces of forges and chats: bounded, followed nowhere else, no secret in what is said.

A refusal says what the other side wants; what may go away by itself is tried again from the start, by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from msgspec import Struct

from hybridwrap import __version__
from hybridwrap.domain.json import Json, canonical, loads
from hybridwrap.domain.ports import Clock

T = TypeVar("T")

ANSWER_SECONDS = 15.0
TRIES = 4
PATIENCE_SECONDS = 60.0  # in all; the run is over, and somebody waits for the job to end
SAID = 200  # characters of what the other side says about a refusal
TOO_MANY = 429
SERVER_ERRORS = 500


class NotPublished(Exception):
    """It was refused, or nobody answered."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class TryAgain(NotPublished):
    """It may go another time; `after` is how many seconds the other side asks for, None when it does not say."""

    def __init__(self, message: str, *, status: int = 0, after: float | None = None) -> None:
        super().__init__(message, status=status)
        self.after = after


class Answer(Struct, frozen=True):
    headers: Mapping[str, str]  # names in small letters
    body: bytes

    def json(self) -> Json:
        """Raise NotPublished when it is none."""
        try:
            return loads(self.body)
        except ValueError:
            raise NotPublished("the answer is no JSON; is that the address of the interface?") from None


class Call(Struct, frozen=True):
    method: str
    url: str
    headers: Mapping[str, str]
    body: Json = None


def send(call: Call, now: float, seconds: float = ANSWER_SECONDS) -> Answer:
    """Send one request, once; `now` is in seconds since 1970. Raise TryAgain, NotPublished."""
    data = canonical(call.body) if call.body is not None else None
    headers = {"User-Agent": f"hybridwrap/{__version__}", "Content-Type": "application/json", **call.headers}
    try:
        request = Request(call.url, data=data, headers=headers, method=call.method)  # noqa: S310 - checked below
        if request.type not in ("http", "https"):
            raise NotPublished("its address is no http or https one")
        with build_opener(_Nowhere).open(request, timeout=seconds) as answered:
            return Answer(_small(answered.headers), answered.read())
    except HTTPError as error:
        raise _refusal(error, now) from None
    except ValueError:
        raise NotPublished("its address is none") from None
    except (URLError, HTTPException, OSError) as error:
        raise TryAgain(f"no answer: {getattr(error, 'reason', None) or type(error).__name__}") from None


def persistently(clock: Clock, work: Callable[[], T]) -> T:
    """Do work that may be begun again, a few times. Raise NotPublished."""
    waited, pause = 0.0, 1.0
    for _ in range(TRIES - 1):
        try:
            return work()
        except TryAgain as error:
            wait = pause if error.after is None else error.after
            if waited + wait > PATIENCE_SECONDS:
                raise
            clock.sleep(wait)
            waited, pause = waited + wait, pause * 2
    return work()


class _Nowhere(HTTPRedirectHandler):
    """Follows nothing: a token must not go anywhere but where it belongs."""

    def redirect_request(self, *_args: Any) -> None:
        return None


def _refusal(error: HTTPError, now: float) -> NotPublished:
    headers = _small(error.headers)
    with error:
        said = f"{error.code} {_words(error)}".rstrip()
    if (after := _asked_to_wait(error.code, headers, now)) is not None:
        return TryAgain(f"{said}: it takes no more for {after:.0f} s", status=error.code, after=after)
    if error.code >= SERVER_ERRORS or error.code == TOO_MANY:
        return TryAgain(said, status=error.code)
    return NotPublished(said, status=error.code)


def _words(error: HTTPError) -> str:
    """What the other side says, in a line: the `message` of a JSON object, or the beginning of a text."""
    try:
        text = error.read(65_536).decode(errors="replace")
    except (OSError, HTTPException):
        return ""
    try:
        found = loads(text.encode())
        text = str(found.get("message") or found.get("error") or "") if isinstance(found, dict) else text
    except ValueError:
        text = "" if text.lstrip().startswith("<") else text
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))[:SAID]


def _asked_to_wait(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Seconds, by docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api; GitLab has the first."""
    if status not in (403, TOO_MANY, 503):
        return None
    if re.fullmatch(r"\d+", retry := headers.get("retry-after", "")):
        return float(retry)
    if headers.get("x-ratelimit-remaining") == "0" and re.fullmatch(r"\d+", at := headers.get("x-ratelimit-reset", "")):
        return max(0.0, float(at) - now)
    return None


def _small(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
