"""An engine, a cloud and a host in memory only: a server `vm`, a `disk` that goes with it, a `mount` of that disk.

Whole runs of hybridwrap work on them within milliseconds, so that their interleavings can be played by the hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hybridwrap.domain.absence import Probe
from hybridwrap.domain.codec import plain
from hybridwrap.domain.engine_run import (
    Action,
    ChangeSummary,
    Ended,
    Hook,
    OutputChange,
    PlannedChange,
    Stream,
)
from hybridwrap.domain.entry import CloudObject, EngineIdentity, LockFile, Locks, Source
from hybridwrap.domain.hook_calls import Called, HookCall
from hybridwrap.domain.hooks import Argv
from hybridwrap.domain.inputs import Host
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.left_behind import Liveness, Unfinished
from hybridwrap.domain.lock_files import LockWish
from hybridwrap.domain.ports import Applied, Planned, PlanOptions, Store
from hybridwrap.domain.stack import (
    DeclaredOutput,
    EngineWish,
    Interface,
    LedgerSettings,
    Literal,
    Module,
    Reference,
    Stack,
    Variable,
)
from hybridwrap.domain.state import EngineState, Instance, StateOutput, StatePlace
from hybridwrap.run.context import Context, Options, Tools
from hybridwrap.run.knowledge import Knowledge
from hybridwrap.run.left_behind import finish_left_behind
from hybridwrap.run.owned import finish_owned
from hybridwrap.run.stop import Stop
from tests.support.ledgers import ENGINE, FakeClock, Ids, writer

HERE = Path(__file__).parent  # any folders that are there
SOURCES = {"vm": HERE, "disk": HERE.parent, "mount": HERE.parent.parent}
ADDRESS = {"vm": "x_server.it", "disk": "x_disk.it", "mount": "x_mount.it"}
MOUNT = Module(
    "mount",
    SOURCES["mount"],
    Interface(variables={"server": Variable("server")}),
    inputs={"server": Literal("{{ modules.disk.id }}", (Reference("disk", "id"),))},
)
VM_ID = Literal("{{ modules.vm.id }}", (Reference("vm", "id"),))
STACK = Stack(
    name="shop",
    environment="default",
    file=HERE / "hybridwrap.yaml",
    ledger=LedgerSettings(keep_source=False),
    modules={
        "vm": Module("vm", SOURCES["vm"], Interface(outputs={"id": DeclaredOutput("id")})),
        "disk": Module(
            "disk",
            SOURCES["disk"],
            Interface(variables={"server": Variable("server")}, outputs={"id": DeclaredOutput("id")}),
            inputs={"server": VM_ID},
            owner="vm",
        ),
    },
)


@dataclass
class World:
    """What exists, what the engines' states say, and what was done that must never be.

    What is of a `free` module outlives what it was made for, and must never have to.
    """

    free: frozenset[str] = frozenset()
    alive: dict[str, str] = field(default_factory=dict)  # id -> id of the server that it goes with
    states: dict[str, EngineState] = field(default_factory=dict)
    made: int = 0
    wrongs: list[str] = field(default_factory=list)

    def make(self, module: str, server: str) -> str:
        if server and server not in self.alive:
            self.wrongs.append(f"a {module} was made for {server}, which is gone")
        self.made += 1
        new = f"{module}-{self.made}"
        self.alive[new] = server
        return new

    def delete(self, thing: str) -> None:
        for each in [each for each, server in self.alive.items() if server == thing]:
            if each.partition("-")[0] in self.free:
                self.wrongs.append(f"{thing} was deleted under {each}")
            else:
                self.delete(each)
        self.alive.pop(thing, None)

    def ids(self, module: str) -> list[str]:
        return [thing for thing in self.alive if thing.startswith(f"{module}-")]


class Silent:
    """A watcher."""

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_args, **_more: None


@dataclass
class Folder:
    """An operation's folder, in memory."""

    operation: str
    path: Path
    told_of_plan: Stream = field(default_factory=Stream)
    told_of_work: Stream = field(default_factory=Stream)
    inputs_given: Mapping[str, Json] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    client: str = ""

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    def lock(self) -> Locks:
        return Locks(LockFile(f"{self.operation}/events.jsonl", 1, 1), LockFile(f"{self.operation}/runner.lock", 1, 2))

    def hand_over(self) -> int | None:
        return None

    def keep_claim(self, data: bytes) -> None:
        self.files["claim"] = data

    def keep_result(self, data: bytes) -> None:
        self.files["result"] = data

    def keep(self, name: str, data: bytes) -> Path:
        self.files[name] = data
        return self.path / name

    def close_business(self) -> None:
        self.files.pop("claim", None)
        self.files.pop("result", None)

    def drop_secrets(self) -> None: ...

    def rewrite_logs(self, mask: Callable[[str], str]) -> None: ...

    def release(self) -> None: ...

    def remove(self) -> None:
        self.files.clear()

    def claim(self) -> bytes | None:
        return self.files.get("claim")

    def result(self) -> bytes | None:
        return self.files.get("result")

    def kept(self, name: str) -> bytes | None:
        return self.files.get(name)

    def told(self) -> Stream:
        return self.told_of_work

    def told_by_plan(self) -> Stream:
        return self.told_of_plan

    def inputs(self) -> Mapping[str, Json]:
        return self.inputs_given


@dataclass
class Machine:
    """One host: its checkout of the stack, the folders of all clients on it, and who of them is dead."""

    stack: Stack = STACK
    folders: dict[str, Folder] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)


@dataclass
class Folders:
    """As one client sees them."""

    host: Machine
    client: str

    def make(self, operation: str) -> Folder:
        folder = Folder(operation, Path("operations") / operation, client=self.client)
        self.host.folders[operation] = folder
        return folder

    def look(self, locks: Locks) -> Liveness:
        folder = self.host.folders.get(locks.engine.path.partition("/")[0])
        if folder is None:
            return Liveness.NOT_VISIBLE
        return Liveness.DEAD if folder.client in self.host.dead else Liveness.RUNNER

    def take(self, locks: Locks) -> Folder | Liveness:
        found = self.look(locks)
        return self.host.folders[locks.engine.path.partition("/")[0]] if found is Liveness.DEAD else found

    def unfinished(self) -> tuple[Unfinished, ...]:
        return tuple(
            Unfinished(folder.path, folder.files["claim"], "result" in folder.files)
            for folder in self.host.folders.values()
            if "claim" in folder.files and folder.client in self.host.dead
        )

    def open(self, path: Path) -> Folder | None:
        folder = self.host.folders.get(path.name)
        return folder if folder and folder.client in self.host.dead else None

    def write_note(self, name: str, text: str) -> Path:
        return Path(name)

    def sweep(self) -> tuple[str, ...]:
        return ()


@dataclass
class Engine:
    """Plans and applies one module in the world; each is a step that others can come between."""

    world: World
    module: Module
    step: Callable[[], None]
    identity: EngineIdentity = ENGINE
    env: Mapping[str, str] = field(default_factory=dict)
    wanted: PlanOptions = field(default_factory=PlanOptions)
    inputs: Mapping[str, Json] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.module.name

    @property
    def place(self) -> StatePlace:
        return StatePlace("local", f"state/{self.name}.tfstate")

    @property
    def repair(self) -> Engine:
        return self

    def renew(self) -> Mapping[str, str]:
        return {}

    def init(self, folder: Folder, *, upgrade: bool = False) -> bool:
        return False

    def lock(self, wish: LockWish) -> bool:
        return False

    def unsaved_state(self) -> bytes | None:
        return None

    def planned_names(self, folder: Folder) -> Mapping[str, str]:
        return {}

    def plan(self, folder: Folder, inputs: Mapping[str, Json], options: PlanOptions, listen: Any) -> Planned:
        self.step()
        self.wanted, self.inputs = options, inputs
        there = self.state()
        known = {i.id for i in there.instances} if there else set()
        lost = sorted(known - self.world.alive.keys())
        present = known & self.world.alive.keys()
        gone = dict(zip([ADDRESS[self.name]] * len(lost), lost, strict=True))
        action = Action.DELETE if options.destroy and present else Action.CREATE
        acts = bool(present) if options.destroy else not present
        changes = (PlannedChange(ADDRESS[self.name], action, "x"),) if acts else ()
        outputs = {"id": OutputChange(Action.CREATE)} if action is Action.CREATE and acts else {}
        told = Stream("terraform", "1.11.4", planned=changes, output_changes=outputs, vanished=gone)
        folder.told_of_plan, folder.inputs_given = told, inputs
        return Planned(Ended(0), told, changes=acts or bool(gone))

    def apply(self, folder: Folder, listen: Any) -> Applied:
        self.step()
        planned = folder.told_of_plan.planned
        hooks: tuple[Hook, ...] = ()
        instances: tuple[Instance, ...] = ()
        before = self.state()
        if planned and planned[0].action is Action.CREATE:
            new = self.world.make(self.name, str(self.inputs.get("server", "")))
            hooks = self._hooks(Action.CREATE, new, at_the_end=True)
            instances = (Instance(ADDRESS[self.name], "x", "p", new),)
        elif planned and before:
            for instance in before.instances:
                self.world.delete(instance.id)
                hooks += self._hooks(Action.DELETE, instance.id, at_the_end=False)
        elif before and not self.wanted.destroy:
            instances = before.instances
        self._save(instances)
        summary = ChangeSummary("apply", {"add": len(instances), "remove": len(hooks) // 2 - len(instances)})
        told = Stream("terraform", "1.11.4", planned=planned, hooks=hooks, summaries=(summary,))
        folder.told_of_work = told
        return Applied(Ended(0, argv=("terraform", "apply")), told)

    def _hooks(self, action: Action, id_: str, *, at_the_end: bool) -> tuple[Hook, Hook]:
        named, bare = {"id_key": "id", "id_value": id_}, {"id_key": "", "id_value": ""}
        first, last = (bare, named) if at_the_end else (named, bare)
        address = ADDRESS[self.name]
        return Hook(address, action, "start", "x", **first), Hook(address, action, "complete", "x", **last)

    def _save(self, instances: tuple[Instance, ...]) -> None:
        before = self.state()
        outputs = {"id": StateOutput(instances[0].id, "string", sensitive=False)} if instances else {}
        serial = before.serial + 1 if before else 1
        self.world.states[self.name] = EngineState(f"of {self.name}", serial, outputs=outputs, instances=instances)

    def remove_from_state(self, folder: Folder, addresses: Sequence[str]) -> tuple[Ended, str]:
        self.step()
        self._save(())
        return Ended(0), ""

    def state(self) -> EngineState | None:
        return self.world.states.get(self.name)

    def state_bytes(self) -> bytes | None:
        found = self.state()
        return canonical(plain(found)) if found else None

    def state_lock(self) -> None:
        return None


@dataclass
class Engines:
    world: World
    step: Callable[[], None]

    def at(self, module: Module, inputs: Mapping[str, Json] | None = None) -> Engine:
        return Engine(self.world, module, self.step)

    def place(self, module: Module) -> StatePlace:
        return self.at(module).place

    def interrupt(self, *, again: bool = False) -> int:
        return 0


class Sources:
    def describe(self, module: Module) -> Source:
        return Source("d1", "c0ffee")

    def fingerprint(self, module: Module) -> Source:
        return Source("d1")

    def merged(self, module: Module) -> bool:
        return False

    def pack(self, folder: Path) -> bytes | None:
        return None

    def unpack(self, data: bytes, folder: Path) -> Path:
        return folder

    def check_out(self, folder: Path, commit: str) -> Path:
        return folder

    def interface(self, folder: Path, engine: EngineWish) -> Interface:
        return next(m.interface for m in (*STACK.modules.values(), MOUNT) if m.source == folder)

    def steering(self, folder: Path, engine: EngineWish) -> frozenset[str]:
        return frozenset()


class Nobody:
    """A prober that knows nobody to ask."""

    def ask(self, module: Module, objects: Sequence[CloudObject]) -> tuple[Probe, ...]:
        return ()


class NoHooks:
    """Nothing is called in this world."""

    def call(self, call: HookCall, stopped: Callable[[], bool], mask: Callable[[str], str]) -> tuple[Called, ...]:
        return ()

    def why_not(self, hook: Argv, module: Module | None) -> str:
        return ""


def begin_command(
    store: Store, world: World, host: Machine, client: str, *, step: Callable[[], None], destroys: bool = False
) -> Context:
    """What a command begins with: the ledger opened, what the dead left finished.

    A client is named by two digits, which its ids begin with, and what it does.
    """
    clock, ids = FakeClock(), Ids(prefix=client[:2])
    ledger = Ledger(store, "shop", "default", writer(client), clock, ids)
    ledger.open()
    tools = Tools(
        stack=host.stack,
        ledger=ledger,
        engines=Engines(world, step),  # type: ignore[arg-type]
        folders=Folders(host, client),  # type: ignore[arg-type]
        host=Host(lambda _, known: next(iter(known.values())), {}, lambda _: "", lambda _: {}),
        sources=Sources(),
        prober=Nobody(),
        hooks=NoHooks(),
        clock=clock,
        ids=ids,
    )
    options = Options(PlanOptions(destroy=destroys), parallelism=1)
    stop = Stop(clock, lambda **_: 0)
    context = Context(
        ids.new(), (client,), tools, options, Silent(), stop, Knowledge(ledger.records(host.stack.modules))
    )
    finish_left_behind(context)
    finish_owned(context)
    return context
