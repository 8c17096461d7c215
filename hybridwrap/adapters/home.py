"""The folder on this host where hybridwrap keeps its files: `.hybridwrap/` beside the manifest, or $HYBRIDWRAP_HOME."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hybridwrap.adapters.whole_file import put_whole
from hybridwrap.errors import PreflightRefused

NAME = ".hybridwrap"
HOME_VARIABLE = "HYBRIDWRAP_HOME"
_OWNER = "stack"  # a file that names the stack whose local states and data lie here


def home_of(root: Path, environ: Mapping[str, str]) -> Path:
    """Say where the home of the stack with this manifest folder is; nothing is made."""
    chosen = environ.get(HOME_VARIABLE)
    return Path(chosen).expanduser().absolute() if chosen else root / NAME


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
