"""The contracts that adapters fulfil."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from hybridwrap.domain.deviation import Deviation
from hybridwrap.domain.engine_run import ChangeSummary, Diagnostic, Ended, Hook, PlannedChange, Stream
from hybridwrap.domain.entry import EngineIdentity, Locks
from hybridwrap.domain.identity import Caller
from hybridwrap.domain.json import Json
from hybridwrap.domain.left_behind import Liveness, Unfinished
from hybridwrap.domain.lock_files import LockWish
from hybridwrap.domain.repair import Repair
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import EngineState, StatePlace, Unreadable
from hybridwrap.domain.state_lock import StateLock


class Creation(StrEnum):
    """What became of one attempt to create a key."""

    STORED = "stored"
    EXISTS = "exists"
    UNSETTLED = "unsettled"  # the store says: conflict under way, ask again
    IN_DOUBT = "in doubt"  # no answer, or one that does not say: it may land at any later time
    REFUSED = "refused"  # the store says no, for a reason that asking again does not change


class Attempt(Struct, frozen=True):
    creation: Creation
    detail: str = ""
    hint: str = ""  # what to do about a refusal, where the store knows


class Listed(Struct, frozen=True):
    key: str
    tag: str  # changes whenever the content changes


class Store(Protocol):
    """A place for small objects under string keys with `/`; a strongly consistent one.

    All but `create` raise LedgerUnreachable; `create` never raises for what the store answers. A tag changes whenever
    the content does. Safe for several threads.
    """

    @property
    def place(self) -> str:
        """Where it lies, for people."""

    def create(self, key: str, data: bytes) -> Attempt:
        """Try once to store data under a key that does not exist."""

    def read(self, key: str) -> bytes | None: ...

    def replace(self, key: str, data: bytes, *, over: str | None = None) -> str | None:
        """Store data whatever is there, or only over the content with the tag `over` ("": over nothing).

        Return the new tag, None when something else is there.
        """

    def list(self, prefix: str, *, after: str = "", limit: int | None = None) -> Iterator[Listed]:
        """Keys with the prefix that come after `after`; those of one folder in the order of their bytes."""

    def folders(self, folder: str) -> frozenset[str]:
        """Name the folders right in one, all with `/` at the end, that hold keys however deep."""

    def delete(self, key: str) -> None:
        """Remove a key; one that is not there is no error."""


class Copies(Protocol):
    """What a store's objects were before: their versions, or a backup."""

    @property
    def place(self) -> str:
        """Where they lie, for people."""

    def of(self, key: str) -> Iterator[bytes]:
        """Contents that a key had, the oldest first. Raise LedgerUnreachable."""


class HeadCache(Protocol):
    """Heads as they were read last, on this host: content under (key, tag), safe to lose."""

    def load(self) -> Mapping[str, tuple[str, bytes]]:
        """Key -> tag and content."""

    def save(self, heads: Mapping[str, tuple[str, bytes]]) -> None: ...


class Cipher(Protocol):
    """Encryption of blobs."""

    @property
    def is_one_key(self) -> bool:
        """Whether one key encrypts all, which a process may have wrong; else each blob says what decrypts it."""

    def seal(self, data: bytes) -> bytes:
        """Encrypt; the result begins with `blobs.SEALED`. Raise LedgerUnreachable."""

    def open(self, data: bytes) -> bytes:
        """Decrypt what `seal` made. Raise LedgerUnreachable when there is no key for it, WrongKey."""


class Clock(Protocol):
    def now(self) -> datetime:
        """The time of day, in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    def sleep(self, seconds: float) -> None: ...


class Ids(Protocol):
    def new(self) -> str:
        """Mint an id that sorts by the time of its making: 26 characters of Crockford's base 32 (ULID)."""


class OperationFolder(Protocol):
    """One operation's own files on this host: folder 0700, files 0600."""

    @property
    def operation(self) -> str: ...

    @property
    def path(self) -> Path: ...

    @property
    def events(self) -> Path:
        """The event stream of the command that mutates."""

    def lock(self) -> Locks:
        """Take `flock` on the event file and on the runner's own file, created when missing. Raise PreflightRefused."""

    def hand_over(self) -> int | None:
        """Give away the locked, open event file, once: to be an engine's stdout, and for the caller to close.

        None when the folder is not locked.
        """

    def keep_claim(self, data: bytes) -> None:
        """Write down which slot of which log is going to be asked for: from now on the folder is unfinished.

        Raise PreflightRefused.
        """

    def keep_result(self, data: bytes) -> None:
        """Write the result durably (fsync of file and folder) before the ledger is told, if the disk lets us."""

    def keep(self, name: str, data: bytes) -> Path:
        """Write any other file durably; it stays until somebody removes it. Raise OutcomeUnknown."""

    def pack_plan(self) -> bytes:
        """Put the plan of this folder into one piece, with the values and the events that belong to it."""

    def take_plan(self, data: bytes, digest: str) -> Stream:
        """Lay out what `pack_plan` made of the plan with this sha256; return what its engine said.

        Raise PreflightRefused, ApprovalOutdated.
        """

    def plan_names(self, planned_in: str, applied_in: Path) -> bool:
        """Whether the plan here has values in it that tell in which folder it was made, and this is another one."""

    def close_business(self) -> None:
        """Forget claim and result: the ledger has everything."""

    def drop_secrets(self) -> None:
        """Remove var-file and plan file."""

    def rewrite_logs(self, mask: Callable[[str], str]) -> None:
        """Take what must not stay on disk out of the event files and stderr; the engine must be gone."""

    def release(self) -> None:
        """Let go of the runner's lock."""

    def remove(self) -> None: ...


class LeftFolder(OperationFolder, Protocol):
    """The folder of an operation whose processes are gone; who has it holds both its locks."""

    def claim(self) -> bytes | None: ...

    def result(self) -> bytes | None: ...

    def kept(self, name: str) -> bytes | None:
        """What was written by `keep`."""

    def told(self) -> Stream:
        """What the command that mutates has said."""

    def told_by_plan(self) -> Stream: ...

    def inputs(self) -> Mapping[str, Json]:
        """The variables that were given to the engine, secrets and all; empty once they are removed."""


class OperationFolders(Protocol):
    """The folders of one home; those of a ledger's holders are found wherever they lie on this host."""

    def make(self, operation: str) -> OperationFolder:
        """Make the folder. Raise PreflightRefused when that is not possible."""

    def unfinished(self) -> tuple[Unfinished, ...]:
        """Folders with a claim, of every environment, oldest first."""

    def look(self, locks: Locks) -> Liveness:
        """Say what the locks prove now; for who only looks."""

    def take(self, locks: Locks) -> LeftFolder | Liveness:
        """Take both locks, if they are the recorded files and free: only then may anybody act on an operation's death.

        Nothing is held for any other answer.
        """

    def open(self, path: Path) -> LeftFolder | None:
        """Take the locks of a folder by its name; None when one is held or missing.

        It may be a copy: what its files say can be used, but its locks prove nothing about any engine.
        """

    def write_note(self, name: str, text: str) -> Path:
        """Write a file for people, beside the folders of operations. Raise PreflightRefused."""

    def sweep(self) -> tuple[str, ...]:
        """Remove what dead operations left that have nothing to be finished; say which ones."""


class PlanOptions(Struct, frozen=True):
    destroy: bool = False
    targets: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()
    refresh: bool = True
    refresh_only: bool = False
    lock: bool = True  # False: only look, also while somebody holds the engine's state lock
    lock_timeout: str = ""
    extra: tuple[str, ...] = ()  # the user's own words after `--`

    @property
    def whole(self) -> bool:
        """Whether an empty plan says that nothing of the module has changed, here or there."""
        return self.refresh and not (self.targets or self.refresh_only or self.extra)


class Planned(Struct, frozen=True):
    """A plan that was made: `changes` is what -detailed-exitcode says."""

    ended: Ended
    stream: Stream
    changes: bool
    digest: str = ""  # sha256 of the plan file


class Applied(Struct, frozen=True):
    """How a mutating command ended; `errored_state` is the content of `errored.tfstate`, None when there is none."""

    ended: Ended
    stream: Stream
    errored_state: bytes | None = None


class ByHand(Struct, frozen=True):
    """What a person needs to run a module's engine without us."""

    folder: Path  # where to run it
    lines: Mapping[str, tuple[str, ...]]  # init, plan, apply, output, destroy: for people, so they may ask
    var_file: Path  # named in the lines, and to be written
    files: Mapping[Path, str]  # what has to be there before, and is not


EngineEvent = Hook | PlannedChange | Diagnostic | ChangeSummary
Listen = Callable[[EngineEvent], None]


class ModuleEngine(Protocol):
    """The engine, set up for one module: its folder, environment, data folder, backend and workspace.

    Its plan and apply together have the module's `timeout`; whichever of them runs at its end is interrupted once.
    """

    @property
    def identity(self) -> EngineIdentity: ...

    @property
    def place(self) -> StatePlace: ...

    @property
    def repair(self) -> Repair: ...

    def whole_env(self) -> Mapping[str, str]:
        """The environment of its commands with the credentials that are made for it. Raise CredentialsRefused."""

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of its commands without what `credentials` adds; it may hold secrets."""

    def renew(self) -> Mapping[str, str]:
        """Have the module's credentials made anew, for every command from now on; return what is secret of them.

        Nothing to be done where the manifest names nobody to ask. Raise CredentialsRefused: then all stays as it was.
        """

    def caller(self) -> Caller:
        """Ask AWS as whom its commands act. Raise CredentialsRefused when that can't be told."""

    def command_lines(self, folder: Path, options: PlanOptions) -> Mapping[str, tuple[str, ...]]:
        """The exact command lines of init, plan and apply for an operation's folder."""

    def by_hand(self, folder: Path) -> ByHand:
        """The same for a person, with var-file and plan in a folder of his."""

    def init(self, folder: OperationFolder, *, upgrade: bool = False) -> bool:
        """Initialise unless nothing that it depends on has changed; say whether it ran. An upgrade always does.

        Raise CommandFailed, or PreflightRefused when a state from before, an errored state, an unwritable source or a
        missing workspace is in the way.
        """

    def lock(self, wish: LockWish) -> bool:
        """Add the providers' checksums to the dependency lock file; say whether it changed. Raise CommandFailed."""

    def plan(
        self, folder: OperationFolder, inputs: Mapping[str, Json], options: PlanOptions, listen: Listen
    ) -> Planned:
        """Write var-file and plan file into the folder. Raise CommandFailed when it fails: no plan file is left."""

    def show(self, folder: OperationFolder, *, colour: bool) -> str:
        """The engine's own text for the plan in the folder, sensitive values hidden."""

    def deviations(self, folder: OperationFolder) -> tuple[Deviation, ...]:
        """How objects differ from the state, by the refresh-only plan in the folder; empty if the engine can't tell."""

    def apply(self, folder: OperationFolder, listen: Listen) -> Applied:
        """Apply the plan in the folder with the same var-file; the folder must be locked.

        Never raises once the engine was started; before: EngineNotUsable or PreflightRefused.
        """

    def state(self) -> EngineState | None:
        """Read the state where it lies now, None when there is none. Raise OutcomeUnknown when it can't be read."""

    def state_bytes(self) -> bytes | None:
        """The state's bytes as they lie there (of an encrypted state: the envelope), None when there is none."""

    def state_lock(self) -> StateLock | Unreadable | None:
        """Look at the engine's lock on the state; None when there is none, Unreadable when only the engine can see it.

        Raise OutcomeUnknown when it can't be asked.
        """

    def release_state_lock(self, lock: StateLock) -> None:
        """Release a lock that was looked at. Raise PreflightRefused when it is another one or held by a living process.

        Raise OutcomeUnknown when it can't be done.
        """

    def run(self, folder: OperationFolder, argv: tuple[str, ...], inputs: Mapping[str, Json] | None = None) -> Ended:
        """Run any engine command with the terminal of the caller; `inputs` are given to it as variables.

        In a locked folder the engine's stdout passes the event file on its way to the terminal: the lock on it proves
        that the engine lives.
        """


_NO_INPUTS: Mapping[str, Json] = MappingProxyType({})


class Engines(Protocol):
    def at(self, module: Module, inputs: Mapping[str, Json] = _NO_INPUTS) -> ModuleEngine:
        """Set up the engine for a module. Raise EngineNotUsable or PreflightRefused.

        Those of `inputs` that every command needs (const variables) go into the environment of all its commands.
        """

    def place(self, module: Module) -> StatePlace | None:
        """Where the manifest puts a module's state, None when that can't be told without an engine."""

    def warnings(self) -> tuple[str, ...]:
        """What was left out of or changed in the engines' environment, each said once over all calls."""

    def end_by(self, moment: float) -> None:
        """Interrupt, once, an init, plan or apply that still runs at this moment of the monotonic clock."""

    def interrupt(self, *, again: bool = False) -> int:
        """Send one SIGINT to each living engine process that has had none, or `again` to all; say to how many."""
