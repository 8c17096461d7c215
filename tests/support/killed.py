"""Works on a folder store again and again, killed by SIGKILL before and after each of its calls to the disk in turn.

`python -m tests.support.killed create|replace FOLDER` prints one JSON object for each point: what was about to be
called or had just returned, and what the folder holds afterwards. A process of its own, since it forks.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass  # noqa: TID251  of a dataclass
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

from hybridwrap.adapters.folder_store import FolderStore

KEY = "log/00000001.json"
DISK = frozenset({"mkdir", "open", "write", "flush", "fsync", "link", "unlink", "rename", "flock", "close"})
OLD, NEW = b"old " * 5_000, b"new " * 5_000


@dataclass(frozen=True)
class Aftermath:
    point: str
    killed: bool
    content: str  # none, old, new, torn
    listed: list[str]
    again: str  # what became of the same work done again
    content_then: str


def main(work: str, folder: Path) -> None:
    for call in count(1):
        found = _aftermath(work, folder / str(call), call)
        print(json.dumps(asdict(found)))  # noqa: T201
        if not found.killed:
            return


def _aftermath(work: str, root: Path, call: int) -> Aftermath:
    store = FolderStore(root)
    if work == "replace":
        store.replace(KEY, OLD)
    note = root.with_suffix(".point")
    killed = _killed(lambda: _do(work, FolderStore(root)), call, note)
    fresh = FolderStore(root)
    content, listed = _named(fresh.read(KEY)), [item.key for item in fresh.list("")]
    again = _do(work, fresh)
    return Aftermath(note.read_text() if killed else "the end", killed, content, listed, again, _named(fresh.read(KEY)))


def _do(work: str, store: FolderStore) -> str:
    if work == "create":
        return str(store.create(KEY, NEW).creation)
    return "stored" if store.replace(KEY, NEW) else "refused"


def _named(content: bytes | None) -> str:
    return {None: "none", OLD: "old", NEW: "new"}.get(content, "torn")


def _killed(work: Callable[[], object], call: int, note: Path) -> bool:
    """Do the work in a fork; say whether it died before it came to its end."""
    child = os.fork()
    if child == 0:
        left = call

        def strike(_: FrameType, event: str, function: Any) -> None:
            nonlocal left
            left -= event in ("c_call", "c_return") and function.__name__ in DISK
            if left == 0:
                sys.setprofile(None)
                note.write_text(f"{'before' if event == 'c_call' else 'after'} {function.__name__}")
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(strike)
        work()
        sys.setprofile(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
