"""The folder on this host where hybridwrap keeps its files: `.hybridwrap/` beside the manifest, or $HYBRIDWRAP_HOME."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from hybridwrap.adapters.whole_file import put_whole
from hybridwrap.errors import PreflightRefused

NAME = ".hybridwrap"
HOME_VARIABLE = "HYBRIDWRAP_HOME"
_OWNER = "stack"  # a file that names the stack whose local states and data lie here


def home_of(root: Path, environ: Mapping[str, str]) -> Path:
    """Say where the home of the stack with this manifest folder is; nothing is made. Raise PreflightRefused."""
    chosen = environ.get(HOME_VARIABLE)
    return _chosen_home(chosen) if chosen else root / NAME


def _chosen_home(chosen: str) -> Path:
    """One that is relative would be another one, with nothing in it, wherever hybridwrap is called."""
    home = Path(os.path.expanduser(chosen))  # noqa: PTH111 - a user that does not exist is no error
    if not home.is_absolute():
        raise PreflightRefused(
            f"{HOME_VARIABLE} is {chosen}, which is another folder wherever hybridwrap is called",
            hint=f"export {HOME_VARIABLE}={quote(str(home.absolute()))}    or another absolute path",
        )
    found = next(path for path in (home, *home.parents) if os.path.lexists(path))
    if not os.path.isdir(found):  # noqa: PTH112 - the right to look is asked for where it is needed
        what = "is no folder" if found == home else f"can't be made: {found} is no folder"
        raise PreflightRefused(
            f"{HOME_VARIABLE} is {chosen}, which {what}",
            hint=f"set {HOME_VARIABLE} to a folder that can be written, or unset it: then all lies in {NAME}",
        )
    return home


def owner_of(home: Path) -> str:
    """The stack that a home belongs to, "" for none that is known."""
    try:
        return (home / _OWNER).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def make_home(home: Path, stack: str) -> None:
    """Make the home: 0700, with its own .gitignore, for one stack only. Raise PreflightRefused.

    Two stacks in one home would share the local states of modules that have the same name.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = home / _OWNER
        if not owner.exists():
            home.chmod(0o700)
            (home / ".gitignore").write_text("*\n", encoding="utf-8")
            put_whole(owner, f"{stack}\n".encode())  # nobody who starts at the same time reads a half of it
        found = owner.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise PreflightRefused(
            f"{home} can't be made: {error.strerror}", hint="set HYBRIDWRAP_HOME to a folder that can be written"
        ) from error
    if found != stack:
        raise PreflightRefused(
            f'{home} belongs to the stack "{found}", not to "{stack}"',
            hint="give every stack a HYBRIDWRAP_HOME of its own",
        )
