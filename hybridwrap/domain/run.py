"""One call of hybridwrap that may write, or many that share a run: its immutable document, and its end."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.entry import Writer
from hybridwrap.domain.hooks import HookRun


class PendingModule(Struct, frozen=True):
    """A module that a run selected and did not reach, and what it waits for."""

    reason: str
    waits_for: str = ""
    run: str = ""  # the run that left it pending


class RunStart(Struct, frozen=True):
    run: str
    command: str
    time: str
    writer: Writer
    argv: tuple[str, ...]
    modules: tuple[str, ...]  # selected, in order
    edges: Mapping[str, tuple[str, ...]]  # module -> what it needs
    carried: Mapping[str, PendingModule] = {}  # still pending from earlier runs
    inputs: str = ""  # blob of what the modules were to get (run_inputs.py), of a run that makes modules pending
    whole: bool = True  # False: its plans did not look at all of a module (-target, -refresh=false, …)
    shared: str = ""  # the name under which many processes work on this run; empty for a run of one process
    part: str = ""  # id of what one of them does
    saved: str = ""  # the saved run whose plans it applies; of a plan that saves them, its own id


class ModuleEnd(Struct, frozen=True):
    """How one module of a run ended: ok, unchanged, error, pending, unknown, busy, declined, stopped, refused.

    Of a look for drift also: drifted, accepted; of that and of adopt: empty.
    """

    result: str
    exit_code: int = 0
    operation: str = ""
    reason: str = ""
    hint: str = ""
    waits_for: str = ""
    errors: tuple[Diagnostic, ...] = ()
    counts: Mapping[str, int] = {}
    seconds: float = 0.0
    skipped: bool = False  # unchanged by its digests: it was not planned
    began: str = ""  # RFC 3339, UTC; empty when its turn never came
    waited: float = 0.0  # seconds before its turn, for others
    waited_for: str = ""
    hooks: tuple[HookRun, ...] = ()


class RunEnd(Struct, frozen=True):
    run: str
    time: str
    exit_code: int
    modules: Mapping[str, ModuleEnd]
    parts: tuple[str, ...] = ()  # of a shared run: those that are summed up here
    said_by: Mapping[str, str] = {}  # module -> the part whose word on it counts
    hooks: tuple[HookRun, ...] = ()  # of the run itself


class Run(Struct, frozen=True):
    start: RunStart
    end: RunEnd | None  # None: still at work, or killed
    told: Mapping[str, ModuleEnd] = {}  # of a shared run that has no end yet, and of its parts
    parts: tuple[Run, ...] = ()  # of a shared run that was read in full

    @property
    def ends(self) -> Mapping[str, ModuleEnd]:
        """How its modules ended, as far as anybody has said so."""
        return self.end.modules if self.end else self.told
