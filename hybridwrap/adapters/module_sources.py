"""The sources of one stack's modules: what they are, a copy to keep, and how to get one back that is gone.

What is got back lies in the home's cache, in a folder that mirrors the one where the module was: whatever else lies
around it there is linked, so that paths relative to the module's folder lead to the same things as before.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from msgspec.structs import replace

from hybridwrap.adapters.commits import Commits, fingerprint_of, source_of
from hybridwrap.adapters.home import make_home
from hybridwrap.adapters.introspection import introspect
from hybridwrap.adapters.manifest.engines import takes_tofu
from hybridwrap.adapters.private_folders import make_private
from hybridwrap.adapters.source import closure
from hybridwrap.domain.entry import Source
from hybridwrap.domain.stack import EngineWish, Interface, Module, Stack
from hybridwrap.errors import PreflightRefused, UsageError

GIT_SECONDS = 300


class StackSources:
    def __init__(self, stack: Stack, home: Path, environ: Mapping[str, str]) -> None:
        self._stack = stack
        self._home = home
        self._environ = environ
        self._commits = Commits()
        self._main: bool | None = None  # whether the commit at hand is on the default branch, once it was asked

    def describe(self, module: Module) -> Source:
        if module.origin:  # a commit of another repository is none that can be checked out of this one
            return self.fingerprint(module)
        return source_of(module.source, self._commits, module.watch)

    def fingerprint(self, module: Module) -> Source:
        return replace(fingerprint_of(module.source, module.watch), origin=module.origin)

    def merged(self, module: Module) -> bool:
        parts = (*(() if module.origin else closure(module.source)), self._stack.file)
        return self._on_main() and all(self._commits.commit(part) for part in parts)

    def pack(self, folder: Path) -> bytes | None:
        from hybridwrap.adapters import source_archive

        try:
            return source_archive.pack(folder)
        except OSError as error:
            raise PreflightRefused(f"{error.filename or folder} can't be read any more: {error.strerror}") from error

    def interface(self, folder: Path, engine: EngineWish) -> Interface:
        shown = os.path.relpath(folder, self._stack.root)
        return introspect(folder, shown, tofu=takes_tofu(engine, self._environ))

    def steering(self, folder: Path, engine: EngineWish) -> frozenset[str]:
        from hybridwrap.adapters.steering import steering

        return steering(folder, tofu=takes_tofu(engine, self._environ))

    def unpack(self, data: bytes, folder: Path) -> Path:
        from hybridwrap.adapters import source_archive

        fresh = self._fresh()
        above = self._above(folder, source_archive.place_in(data))
        own = above / source_archive.unpack(data, fresh / above)
        mirror = self._settled(fresh, hashlib.sha256(f"{above}\0".encode() + data).hexdigest())
        return _surrounded(mirror, own, folder, self._home)

    def check_out(self, folder: Path, commit: str) -> Path:
        root = next((p for p in folder.parents if (p / ".git").exists()), None)
        if root is None:
            raise PreflightRefused(f"{folder} is in no git repository here")
        fresh = self._fresh()
        try:
            _check_out(root, commit, fresh)
        except PreflightRefused:
            shutil.rmtree(fresh)
            raise
        mirror = self._settled(fresh, commit)
        return _surrounded(mirror, PurePosixPath(folder.relative_to(root).as_posix()), folder, self._home)

    def _on_main(self) -> bool:
        if self._main is None:
            from hybridwrap.adapters.git import Repository

            try:
                self._main = Repository(self._stack.root).is_on_main(self._environ)
            except UsageError:
                self._main = False
        return self._main

    def _above(self, folder: Path, own: PurePosixPath) -> PurePosixPath:
        """What leads from the manifest's folder to the one that an archive was made of; "." outside of it."""
        base = folder.parents[len(own.parts) - 1] if own.parts else folder
        inside = base.is_relative_to(self._stack.root)
        return PurePosixPath(base.relative_to(self._stack.root).as_posix() if inside else ".")

    def _fresh(self) -> Path:
        make_home(self._home, self._stack.name)
        cache = self._home / "cache" / "sources"
        make_private(cache)
        return Path(mkdtemp(dir=cache, prefix=".new-"))

    def _settled(self, fresh: Path, name: str) -> Path:
        """Give a tree its name; one that is there already has the same content, and may be in use."""
        mirror = fresh.parent / name
        try:
            fresh.rename(mirror)
        except OSError:
            shutil.rmtree(fresh)
        return mirror


def _check_out(root: Path, commit: str, target: Path) -> None:
    """Write the files of a commit below a folder; the repository and its index are left alone."""
    index = target.with_name(f"{target.name}.index")
    env = {**os.environ, "GIT_INDEX_FILE": str(index)}
    try:
        for words in (("read-tree", commit), ("checkout-index", "--all", "--force", f"--prefix={target}/")):
            argv = ["git", "-C", str(root), *words]
            no_input = subprocess.DEVNULL
            subprocess.run(argv, env=env, check=True, capture_output=True, stdin=no_input, timeout=GIT_SECONDS)
    except subprocess.CalledProcessError as error:
        told = error.stderr.decode(errors="replace").strip()
        raise PreflightRefused(f"commit {commit} can't be checked out of {root}: {told}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PreflightRefused(f"git can't be asked for commit {commit} of {root}: {error}") from error
    finally:
        index.unlink(missing_ok=True)


def _surrounded(mirror: Path, own: PurePosixPath, folder: Path, home: Path) -> Path:
    """Link what lies around the module's folder, at each level above it, and return its place in the mirror."""
    depth = len(own.parts)
    for level in range(depth):
        real, mirrored = folder.parents[depth - 1 - level], mirror.joinpath(*own.parts[:level])
        for entry in sorted(real.iterdir()) if real.is_dir() else ():
            link = mirrored / entry.name
            if not entry.name.startswith(".") and entry != home and not os.path.lexists(link):
                with suppress(FileExistsError):  # another module of the same commit is torn down beside this one
                    link.symlink_to(entry)
    return mirror / own
