"""What git says of a working copy: a commit to compare with, the files that differ from it, a file as it was."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from hybridwrap.adapters.home import NAME
from hybridwrap.adapters.source import GENERATED
from hybridwrap.domain.changes import Base
from hybridwrap.domain.json import loads
from hybridwrap.errors import UsageError

SECONDS = 120
DEPTH = "fetch the history: git fetch --unshallow, `fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` of GitLab"
NO_COMMIT = "0" * 40  # what CI systems say for the commit before the first one
_OWN = frozenset({GENERATED, NAME, ".terraform"})  # what runs make is no change, also where nobody ignores it
USUAL = ("origin/main", "origin/master", "main", "master")


class NoAnswer(Exception):
    """Git ended with an error; the text is what it said."""


class Repository:
    """The repository that a folder belongs to. Raise UsageError when it belongs to none."""

    def __init__(self, folder: Path) -> None:
        try:
            top = _git(folder, "rev-parse", "--show-toplevel")
        except NoAnswer as error:
            raise UsageError(
                f"git can't say what has changed in {folder}: {error}", hint="leave out --changed"
            ) from error
        self.root = Path(os.path.realpath(os.fsdecode(top.rstrip(b"\n"))))

    def base(self, ref: str, environ: Mapping[str, str]) -> Base:
        """The merge base with `ref`, or what a CI system would compare with. Raise UsageError."""
        head = self._commit("HEAD")
        if head is None:
            return Base(self._nothing(), "there is no commit yet")
        if ref:
            return self._merge_base(ref, head)
        if before := _before_push(environ):
            return self._pushed_over(before)
        main = self._main(environ)
        if main is None:
            raise UsageError(
                f"git does not know the default branch of {self.root}, and --changed names no commit",
                hint="--changed=REF; or once: git remote set-head origin --auto",
            )
        found = self._merge_base(main, head)
        return found if found.commit != head else self._parent(head, main)

    def changed(self, base: Base) -> Iterator[tuple[str, bool]]:
        """Paths below the root that differ from a commit, also untracked ones, and whether each stands for a tree."""
        differing = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
        for words in ((*differing, base.commit, "--"), ("ls-files", "-z", "--others", "--exclude-standard")):
            for name in self._ask(*words).split(b"\0"):
                path = os.fsdecode(name)
                if path and not _OWN.intersection(path.split("/")):
                    yield path.rstrip("/"), path.endswith("/") or (self.root / path).is_dir()

    def file_at(self, base: Base, path: str) -> bytes | None:
        """A file's content at a commit, None when there was none."""
        try:
            return _git(self.root, "cat-file", "blob", f"{base.commit}:{path}")
        except NoAnswer:
            return None

    def files_at(self, base: Base) -> list[str]:
        """The paths of all files of a commit."""
        return [os.fsdecode(name) for name in self._ask("ls-tree", "-r", "-z", "--name-only", base.commit).split(b"\0")]

    def is_on_main(self, environ: Mapping[str, str]) -> bool:
        """Whether the commit at hand is one of the default branch."""
        main = self._main(environ)
        if main is None:
            return False
        try:
            _git(self.root, "merge-base", "--is-ancestor", "HEAD", main)
        except NoAnswer:
            return False
        return True

    def _merge_base(self, ref: str, head: str) -> Base:
        if self._commit(ref) is None:
            where, _, branch = ref.rpartition("/")
            fetch = f"git fetch {where} {branch}" if where == "origin" else f"git fetch origin {ref}"
            raise UsageError(f'this clone has no commit "{ref}"{self._depth()}', hint=f"{fetch}; or {DEPTH}")
        try:
            found = _git(self.root, "merge-base", ref, head).decode().strip()
        except NoAnswer:
            raise UsageError(
                f'this clone has no commit that "{ref}" and HEAD have in common{self._depth()}', hint=DEPTH
            ) from None
        return Base(found, f"the merge base with {ref}" if found != self._commit(ref) else ref)

    def _pushed_over(self, before: str) -> Base:
        if self._commit(before) is None:
            raise UsageError(f"this clone has no commit {before}, which was pushed over{self._depth()}", hint=DEPTH)
        return Base(before, "the commit before the push")

    def _parent(self, head: str, main: str) -> Base:
        if parent := self._commit(f"{head}^1"):
            return Base(parent, f"the commit before HEAD, which is on {main}")
        if self._is_shallow():
            raise UsageError(f"this clone has nothing from before HEAD{self._depth()}", hint=DEPTH)
        return Base(self._nothing(), "HEAD is the first commit")

    def _main(self, environ: Mapping[str, str]) -> str | None:
        """The branch that changes go to: of a pull request its target, else the remote's default one."""
        said = environ.get("GITHUB_BASE_REF") or environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
        if said or (said := environ.get("CI_DEFAULT_BRANCH")):
            return f"origin/{said}"
        try:
            return _git(self.root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD").decode().strip()
        except NoAnswer:
            return next((name for name in USUAL if self._commit(name)), None)

    def _commit(self, ref: str) -> str | None:
        try:
            words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
            return _git(self.root, *words).decode().strip()
        except NoAnswer:
            return None

    def _nothing(self) -> str:
        """The tree without files."""
        return self._ask("hash-object", "-t", "tree", "--stdin").decode().strip()

    def _is_shallow(self) -> bool:
        return self._ask("rev-parse", "--is-shallow-repository").strip() == b"true"

    def _depth(self) -> str:
        return ": it is shallow, its history ends too early" if self._is_shallow() else ""

    def _ask(self, *words: str) -> bytes:
        try:
            return _git(self.root, *words)
        except NoAnswer as error:
            raise UsageError(f"git {words[0]} failed in {self.root}: {error}") from error


def _before_push(environ: Mapping[str, str]) -> str:
    """The commit that a push replaced, as the CI system tells it: a push can be of many commits; "" when none did."""
    if environ.get("CI_PIPELINE_SOURCE") == "push":
        found = environ.get("CI_COMMIT_BEFORE_SHA", "") if _on_main(environ) else ""
    elif environ.get("GITHUB_EVENT_NAME") == "push":
        found = _github_before(environ)
    else:
        found = ""
    return "" if found == NO_COMMIT else found


def _on_main(environ: Mapping[str, str]) -> bool:
    return environ.get("CI_COMMIT_BRANCH") == environ.get("CI_DEFAULT_BRANCH")


def _github_before(environ: Mapping[str, str]) -> str:
    """Of GitHub's event file: `before`, where the push was to the default branch."""
    try:
        event = loads(Path(environ["GITHUB_EVENT_PATH"]).read_bytes())
        main = event["repository"]["default_branch"]
        return str(event["before"]) if event["ref"] == f"refs/heads/{main}" else ""
    except (KeyError, TypeError, ValueError, OSError):
        return ""


def _git(folder: Path, *words: str) -> bytes:
    argv = ["git", "--no-optional-locks", "-C", str(folder), *words]
    try:
        done = subprocess.run(argv, capture_output=True, check=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    except subprocess.CalledProcessError as error:
        told = error.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise NoAnswer(told or f"exit code {error.returncode}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoAnswer(str(error)) from error
    return done.stdout
