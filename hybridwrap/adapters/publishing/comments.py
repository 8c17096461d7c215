"""One comment for a stack in an environment, made once and then kept up to date in its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from hybridwrap.adapters.publishing.http import NotPublished, persistently
from hybridwrap.domain.ports import Clock

GONE = (403, 404)  # of a comment that was just listed: removed since, or written by somebody else


class Comment(Struct, frozen=True):
    id: int
    body: str


class Thread(Protocol):
    """The comments of one pull or merge request. All raise NotPublished."""

    @property
    def number(self) -> int:
        """By which people know it."""

    def comments(self) -> Iterator[Comment]:
        """The oldest first, as far as anybody wants to read."""

    def create(self, body: str) -> None: ...

    def update(self, comment: int, body: str) -> None: ...


def put_comment(thread: Thread, marker: str, body: str, clock: Clock) -> str:
    """Write the comment that begins with a marker, where it stands; say what was done. Raise NotPublished."""
    return persistently(clock, lambda: _put(thread, f"{marker}\n{body}", marker))


def _put(thread: Thread, text: str, marker: str) -> str:
    """Looks first each time: a request without an answer may have been carried out."""
    found = next((comment for comment in thread.comments() if comment.body.startswith(marker)), None)
    if found is not None and found.body == text:
        return "comment is current"
    if found is not None:
        try:
            thread.update(found.id, text)
        except NotPublished as error:
            if error.status not in GONE:
                raise
        else:
            return "comment updated"
    thread.create(text)
    return "comment written"
