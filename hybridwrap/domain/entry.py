"""One record of the ledger: an envelope that is the same for all, and a body for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from hybridwrap.domain.ci import CiJob
from hybridwrap.domain.declared import Declared
from hybridwrap.domain.drift import Drift
from hybridwrap.domain.engine_run import Diagnostic, PlannedChange
from hybridwrap.domain.hooks import HookRun
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.state import StatePlace
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.trace import Step

FORMAT_VERSION = 1


class Kind(StrEnum):
    BEGIN = "begin"
    CONFIRM = "confirm"
    END = "end"
    CANCEL = "cancel"
    TAKEOVER = "takeover"
    OBSERVE = "observe"
    ADOPT = "adopt"
    RETAIN = "retain"
    MOVED = "moved"
    LATE = "late"


class Writer(Struct, frozen=True):
    """Who wrote an entry, and from where."""

    user: str
    host: str
    boot: str  # id of the host's boot
    pid: int
    started: str  # of the process
    version: str  # of hybridwrap
    ci_url: str = ""
    ci: CiJob | None = None  # the same job, for its CI system to be asked

    def __str__(self) -> str:
        return f"{self.user}@{self.host}"


class LockFile(Struct, frozen=True):
    """A file whose `flock` proves that its holder lives."""

    path: str
    device: int
    inode: int


class Locks(Struct, frozen=True):
    engine: LockFile  # the event file: held by the engine's process
    runner: LockFile  # held by hybridwrap


class Source(Struct, frozen=True):
    digest: str
    git: str = ""  # the commit, "" when the tree was not clean git
    blob: str = ""  # of the module's folder, where git does not have it and it is small enough
    lock: str = ""  # digest of the dependency lock file, "" when there is none
    origin: str = ""  # of a remote source: its address, and which version or commit of it that was


class EngineIdentity(Struct, frozen=True):
    product: str
    version: str


class StateMark(Struct, frozen=True):
    """Which state it was: place, lineage and serial; lineage "" and serial 0 when there was none."""

    place: StatePlace
    lineage: str = ""
    serial: int = 0


class RecordedInput(Struct, frozen=True):
    """An input as the ledger keeps it: its value, or for a secret only where it came from."""

    value: Json = None
    sensitive: bool = False
    reference: str = ""  # template text, `env:NAME` or `file:PATH`


class CloudObject(Struct, frozen=True):
    """An object that this incarnation is known to have made or seen; `open`: begun, and nobody knows how it ended."""

    address: str
    type: str = ""
    id_key: str = ""
    id: str = ""
    open: bool = False
    retained: bool = False  # taken out of the state on purpose: alive and unmanaged
    outside: bool = False  # taken out of the state by somebody else since: no doubt of ours, and not seen gone
    unfinished: bool = False  # open, in the state, and its creation or a provisioner did not come to an end


class KeptState(Struct, frozen=True):
    """A state that the engine could not save, and that is not back in its place.

    It lies at `path` on the host of the operation; as a blob only where blobs are encrypted. `rival` is the blob of
    what lay in its place.
    """

    path: str
    lineage: str
    serial: int
    digest: str  # sha256
    blob: str = ""
    rival: str = ""


class Signal(Struct, frozen=True):
    name: str
    time: str


class Begin(Struct, frozen=True):
    command: str  # apply, destroy, tf …
    run: str
    engine: EngineIdentity
    source: Source
    state: StateMark
    locks: Locks
    plan_digest: str = ""
    planned: tuple[PlannedChange, ...] = ()
    inputs: Mapping[str, RecordedInput] = {}
    inputs_digest: str = ""  # "" when secrets have no key to make one with
    upstream_digest: str = ""  # of the outputs that the inputs were made from
    previous_status: Status = Status.NONE
    previous_outputs: Mapping[str, Output] = {}
    owner_incarnation: str = ""  # of the owner that the module lives and goes with
    declared: Declared | None = None
    saved: str = ""  # the saved run by whose approval it acts
    hooks: tuple[HookRun, ...] = ()  # that were called before it


class Confirm(Struct, frozen=True):
    state: StateMark


class End(Struct, frozen=True):
    outcome: Outcome
    status: Status
    state: StateMark | None = None
    outputs: Mapping[str, Output] = {}
    objects: tuple[CloudObject, ...] = ()
    failed_command: tuple[str, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    reason: str = ""  # which row of the outcome table, in words
    warnings: tuple[str, ...] = ()
    signals: tuple[Signal, ...] = ()
    evidence: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}  # add, change, remove, ... as the engine says
    steps: tuple[Step, ...] = ()  # what the engine did to each object, in the order of the ends
    durations: Mapping[str, float] = {}  # seconds: init, plan, wait, apply, …
    log: str = ""  # where the engine's full log lies on the writer's host
    kept: KeptState | None = None
    state_lock: str = ""  # id of the engine's state lock that it left behind: proven to be its own


class Cancel(Struct, frozen=True):
    reason: str


class Takeover(Struct, frozen=True):
    """Somebody's word that the holder is dead."""

    run: str
    reason: str
    locks: Locks


class OwnerEnd(Struct, frozen=True):
    """The entry that confirmed an owner's incarnation absent."""

    module: str
    incarnation: str
    seq: int
    digest: str  # sha256 of the entry's bytes


class Observe(Struct, frozen=True):
    """What was seen without an operation; a field that is None says nothing."""

    run: str
    reason: str
    status: Status | None = None
    state: StateMark | None = None
    outputs: Mapping[str, Output] | None = None
    objects: tuple[CloudObject, ...] | None = None
    inputs: Mapping[str, RecordedInput] | None = None
    inputs_digest: str = ""
    upstream_digest: str = ""
    source: Source | None = None
    engine: EngineIdentity | None = None
    evidence: tuple[str, ...] = ()  # of absence
    owner_end: OwnerEnd | None = None  # what the absence of an owned module follows from
    drift: Drift | None = None


class Carried(Struct, frozen=True):
    """What a rename takes along of a record besides state, outputs and objects; all fields are those of `Record`."""

    incarnation: str
    status: Status
    outcome: Outcome | None = None
    reason: str = ""
    since: str = ""
    by: str = ""
    run: str = ""
    operation: str = ""
    command: str = ""
    inputs: Mapping[str, RecordedInput] = {}
    inputs_digest: str = ""
    upstream_digest: str = ""
    source: Source | None = None
    engine: EngineIdentity | None = None
    planned: tuple[PlannedChange, ...] = ()
    failed_command: tuple[str, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    warnings: tuple[str, ...] = ()
    log: str = ""
    state_lock: str = ""
    evidence: tuple[str, ...] = ()
    doubted: bool = False
    declared: Declared | None = None
    owner_incarnation: str = ""
    drift: Drift | None = None


class Adopt(Struct, frozen=True):
    """An existing state taken into the ledger, or what came here by a rename."""

    run: str
    reason: str
    state: StateMark
    outputs: Mapping[str, Output] = {}
    objects: tuple[CloudObject, ...] = ()
    origin: Mapping[str, Json] = {}  # {module, seq, hash} after a rename
    carried: Carried | None = None  # after a rename


class Retain(Struct, frozen=True):
    run: str
    reason: str


class Moved(Struct, frozen=True):
    to: str
    reason: str


class Late(Struct, frozen=True):
    """The result of a superseded operation, as evidence only."""

    end: End


Body = Begin | Confirm | End | Cancel | Takeover | Observe | Adopt | Retain | Moved | Late

BODIES: Mapping[Kind, type[Body]] = {
    Kind.BEGIN: Begin,
    Kind.CONFIRM: Confirm,
    Kind.END: End,
    Kind.CANCEL: Cancel,
    Kind.TAKEOVER: Takeover,
    Kind.OBSERVE: Observe,
    Kind.ADOPT: Adopt,
    Kind.RETAIN: Retain,
    Kind.MOVED: Moved,
    Kind.LATE: Late,
}
KINDS: Mapping[type[Body], Kind] = {body: kind for kind, body in BODIES.items()}


class Entry(Struct, frozen=True):
    ledger: str  # id of the ledger
    module: str
    incarnation: str
    seq: int
    operation: str
    entry_id: str  # one per logical append, the same over its retries
    prev: str  # sha256 of the previous entry's bytes, "" for the first
    time: str  # RFC 3339, UTC
    writer: Writer
    body: Body

    @property
    def kind(self) -> Kind:
        return KINDS[type(self.body)]
