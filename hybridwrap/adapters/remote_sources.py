"""Remote sources of modules, fetched by the engine into the home: by the `get` of a root module with one block.

`init -from-module` is no way: it refuses modules that use `../`, and leaves half a copy. What was fetched is never
written over: a newer one lies in a folder of its own, as an engine may be at work in the older one.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp

from msgspec import Struct

from hybridwrap.adapters.home import home_of, make_home
from hybridwrap.adapters.unused_sources import mark_used, using
from hybridwrap.adapters.whole_file import put_whole
from hybridwrap.domain.json import canonical, loads
from hybridwrap.errors import InvalidManifest

SECONDS = 600
# As the engines tell them from local paths; the shorthands of github.com and bitbucket.org are theirs.
_REMOTE = re.compile(r"[a-z0-9]+::.*|[a-z0-9+.-]+://.*|git@.*|(github|bitbucket)\.(com|org)/.*|[^?]*\?.*")
_REGISTRY = re.compile(r"([a-z0-9.-]+\.[a-z0-9.-]+(:\d+)?/)?[\w-]+/[\w-]+/[\w-]+(//.*)?", re.IGNORECASE)
_PINNED = re.compile(r"[?&](ref|rev|versionId|checksum)=[^&]+")
_SECRET = re.compile(r"(://[^/:@\s]*):[^/@\s]*@")
_BLOCK = re.compile(r' (for|from) module "it" \(\S+\)')
_IN = re.compile(rb"^- it in (.+)$", re.MULTILINE)
_PREAMBLE = re.compile(r'^Could not download module "it" \(\S+\) source code from "[^"]*":\s*')
_NAME = "it"


class Remote(Struct, frozen=True):
    """A source that is no folder here; `version` is the constraint for a module of a registry."""

    source: str
    version: str = ""

    def __str__(self) -> str:
        return without_secrets(f"{self.source} {self.version}".strip())

    @property
    def pinned(self) -> bool:
        """Whether it says which one it wants; a range of versions does, as far as its author means it."""
        return bool(self.version or _PINNED.search(self.source))


class Fetched(Struct, frozen=True):
    """`resolved` is what it was at that time: a version of a registry, a commit of git, "" where neither is known."""

    folder: Path
    resolved: str


class NotFetched(Exception):
    """The engine could not get a source; the text is what it said."""


def remote_of(source: str, version: str) -> Remote | None:
    """Tell a remote source from a folder: by its form, or by the version that only registries know."""
    return Remote(source, version) if version or _REMOTE.fullmatch(source) else None


def looks_like_registry(source: str) -> bool:
    return bool(_REGISTRY.fullmatch(source))


def without_secrets(text: str) -> str:
    """A text without the passwords of its URLs."""
    return _SECRET.sub(r"\1:…@", text)


class RemoteSources:
    """What one stack has fetched on this host."""

    def __init__(self, root: Path, stack: str, environ: Mapping[str, str]) -> None:
        self._root = root
        self._stack = stack
        self._environ = environ
        self._home = home_of(root, environ)

    def place(self, remote: Remote) -> Path:
        """The folder for all that is ever fetched of a source."""
        key = hashlib.sha256(canonical([remote.source, remote.version])).hexdigest()[:16]
        return self._home / "remote" / key

    def known(self, remote: Remote) -> Fetched | None:
        """What was fetched last, None when nothing was."""
        place = self.place(remote)
        try:
            found = loads((place / "current.json").read_bytes())
            fetched = Fetched(place / str(found["folder"]), str(found["resolved"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return fetched if fetched.folder.is_dir() else None

    def take(self, remote: Remote) -> Fetched | None:
        """The same for who will use it: nobody removes it then for a long time."""
        place = self.place(remote)
        with using(place):
            found = self.known(remote)
            if found:
                mark_used(place / found.folder.relative_to(place).parts[0])
        return found

    def fetch(self, remote: Remote, program: str, env: Mapping[str, str]) -> Fetched:
        """Get a source as it is now. Raise NotFetched, EngineNotUsable, PreflightRefused."""
        make_home(self._home, self._stack)
        place = self.place(remote)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = Path(mkdtemp(dir=place, prefix=".new-"))
        try:
            self._get(remote, program, env, fresh)
            folder, resolved = _result(fresh)
        except NotFetched:
            shutil.rmtree(fresh)
            raise
        settled = place / (resolved or fresh.name.removeprefix(".new-"))
        with using(place):
            try:
                fresh.rename(settled)
            except OSError:  # it is there, with the same content; an engine may be at work in it
                shutil.rmtree(fresh)
            mark_used(settled)
            _point(place, f"{settled.name}/{folder}", resolved)
        return Fetched(settled / folder, resolved)

    def _get(self, remote: Remote, program: str, env: Mapping[str, str], folder: Path) -> None:
        from hybridwrap.adapters.engine import programs

        given = {**self._environ, **env}
        engine = programs.find(program, search=given.get("PATH", ""), base=self._root)
        _write_root(folder, remote, ())
        done = _run(engine.argv, given, folder)
        if done.returncode and (there := _IN.search(done.stdout)):
            # From 1.15 on, Terraform wants values for its variables, of which nobody knows before it is there.
            _write_root(folder, remote, _required(folder / os.fsdecode(there[1]), str(remote)))
            done = _run(engine.argv, given, folder)
        if done.returncode:
            raise NotFetched(_told(done.stderr.decode(errors="replace")))


def _write_root(folder: Path, remote: Remote, arguments: Iterable[str]) -> None:
    block = {"source": _literal(remote.source)} | ({"version": remote.version} if remote.version else {})
    tree = {"module": {_NAME: {**dict.fromkeys(arguments), **block}}}
    (folder / "main.tf.json").write_bytes(canonical(tree))


def _required(folder: Path, shown: str) -> list[str]:
    from hybridwrap.adapters.introspection import introspect

    try:
        variables = introspect(folder, shown, tofu=False).variables
    except InvalidManifest as error:
        raise NotFetched(str(error.problems[0])) from error
    return [name for name, variable in variables.items() if variable.required]


def _run(argv: Sequence[str], env: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [*argv, "get", "-no-color"],
            cwd=folder,
            env=_quiet(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotFetched(str(error)) from error


def _quiet(env: Mapping[str, str]) -> dict[str, str]:
    """Nobody is there to be asked for a password, and only our own folder counts."""
    kept = {name: value for name, value in env.items() if name != "TF_DATA_DIR" and not name.startswith("TF_CLI_ARGS")}
    configuration = env.get("TF_CLI_CONFIG_FILE")
    if configuration and not Path(configuration).exists():
        kept["TF_CLI_CONFIG_FILE"] = os.devnull
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "CHECKPOINT_DISABLE": "1", "TF_INPUT": "0"}


def _literal(text: str) -> str:
    """In the JSON form of the engine's language, strings are templates."""
    return text.replace("${", "$${").replace("%{", "%%{")


def _told(stderr: str) -> str:
    """What the engine says last, in one line: before it stands only where in our file the block is."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", stderr) if part.strip()]
    found = next((part for part in paragraphs if _PREAMBLE.match(part)), paragraphs[-1] if paragraphs else "no reason")
    return without_secrets(_BLOCK.sub("", _PREAMBLE.sub("", found)).removeprefix("Error: "))


def _result(root: Path) -> tuple[str, str]:
    """Where below a folder the module lies, and what it is: by the engine's own list, and by git."""
    try:
        modules = loads((root / ".terraform/modules/modules.json").read_bytes())["Modules"]
        own = next(module for module in modules if module["Key"] == _NAME)
        return str(own["Dir"]), str(own.get("Version") or _commit(root / ".terraform/modules" / _NAME))
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise NotFetched("the engine does not say where it has put the module") from error


def _commit(folder: Path) -> str:
    if not (folder / ".git").exists():
        return ""
    argv = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(argv, capture_output=True, check=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode().strip()


def _point(place: Path, folder: str, resolved: str) -> None:
    put_whole(place / "current.json", canonical({"folder": folder, "resolved": resolved}))
