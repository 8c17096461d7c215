"""A stack: modules with their inputs and the edges between them, as one manifest and one environment declare it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.hooks import Hooks
from hybridwrap.domain.json import Json


class Reference(Struct, frozen=True):
    """An output of another module, named in an input; with no output named, all of its state.

    A module of another stack is STACK/MODULE: no name of ours has a slash, so that nobody takes it for one.
    """

    module: str
    output: str

    @property
    def stack(self) -> str:
        """The other stack's name here, "" for a module of this one."""
        return self.module.partition("/")[0] if "/" in self.module else ""

    @property
    def expression(self) -> str:
        """As a template has it."""
        stack, slash, module = self.module.partition("/")
        return f"stacks.{stack}.modules.{module}.{self.output}" if slash else f"modules.{self}"

    def __str__(self) -> str:
        return f"{self.module}.{self.output}" if self.output else self.module


@dataclass(frozen=True, slots=True)
class Literal:
    """A value as written; `tree` may hold strings that are templates: then `references` names what they need."""

    tree: Json
    references: tuple[Reference, ...] = ()
    place: str = field(default="", compare=False)  # file:line:column in the manifest, of each kind of input


@dataclass(frozen=True, slots=True)
class FromEnv:
    name: str
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class FromFile:
    path: Path
    written: str = ""  # the path as the manifest has it
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class FromCaller:
    """A value given with the command; it is data, never a template."""

    value: Json
    place: str = field(default="-var", compare=False)


Input = Literal | FromEnv | FromFile | FromCaller


class Variable(Struct, frozen=True):
    """A variable that a module declares; `type` is its type expression as written, "" when it has none."""

    name: str
    type: str = ""
    required: bool = True
    sensitive: bool = False
    ephemeral: bool = False
    const: bool = False  # needs a value in every command (Terraform 1.15)
    line: int = 0


class DeclaredOutput(Struct, frozen=True):
    name: str
    sensitive: bool = False
    line: int = 0


class BackendBlock(Struct, frozen=True):
    """A backend block in a module's source; `settings` holds its literal attributes, "..." for those that are not."""

    type: str
    settings: Mapping[str, Json] = {}
    file: str = ""
    line: int = 0


class StateRead(Struct, frozen=True):
    """A `terraform_remote_state` in a module's source: another state that it reads by itself.

    `expressions` are the settings, and `workspace`, that are no literals; `defaults` those of the variables in them.
    """

    name: str
    backend: str
    settings: Mapping[str, Json] = {}
    expressions: Mapping[str, str] = {}
    defaults: Mapping[str, Json] = {}
    workspace: str = "default"
    file: str = ""
    line: int = 0

    @property
    def shown(self) -> str:
        return f"{self.file}:{self.line}"


class Interface(Struct, frozen=True):
    """What a module's source declares."""

    variables: Mapping[str, Variable] = {}
    outputs: Mapping[str, DeclaredOutput] = {}
    backend: BackendBlock | None = None
    cloud: bool = False
    required_version: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()  # addresses of resources with prevent_destroy
    state_reads: tuple[StateRead, ...] = ()


class StateSettings(Struct, frozen=True):
    """Where the manifest wants the engine's state; `settings` are the backend's own, `{…}` filled in."""

    backend: str  # local or s3
    settings: Mapping[str, Json] = {}


class EngineWish(Struct, frozen=True):
    program: str = "auto"  # auto, terraform, tofu, embedded, or a path
    version: str = ""  # a version constraint as Terraform writes it


class LedgerSettings(Struct, frozen=True):
    """Where the ledger lies: `bucket` and `prefix` for S3, else `folder`."""

    folder: Path | None = None
    in_home: bool = False  # nothing was said: the folder lies where hybridwrap keeps its files
    bucket: str = ""
    prefix: str = ""
    settings: Mapping[str, Json] = {}  # region, profile, endpoint, path style, SSE-KMS
    encryption: Mapping[str, str] = {}
    keep_source: bool = True


class Retry(Struct, frozen=True):
    on: tuple[str, ...] = ()
    attempts: int = 1
    wait_seconds: float = 0.0


class Verify(Struct, frozen=True):
    """How to look whether the module's objects are absent: a command, an argv list; a search in AWS by tags."""

    absent: tuple[str, ...] = ()
    timeout_seconds: float = 60.0
    aws_tags: Mapping[str, str] = {}
    aws_region: str = ""

    @property
    def asks(self) -> bool:
        """Whether anybody is asked."""
        return bool(self.absent or self.aws_tags)


class Guard(Struct, frozen=True):
    max_destroys: int | None = None
    protected_types: tuple[str, ...] = ()


class Credentials(Struct, frozen=True):
    """A program that prints variables for the environment of a module's engine; without a command nobody is asked."""

    command: tuple[str, ...] = ()
    timeout_seconds: float = 60.0

    def of(self, module: str) -> Credentials:
        """Those of one module: its name stands for {module}."""
        return replace(self, command=tuple(word.replace("{module}", module) for word in self.command))


class FileLine(Struct, frozen=True):
    """A line of a file."""

    file: Path  # absolute
    line: int

    def shown(self, root: Path) -> str:
        """For people, the file relative to a folder where it lies there."""
        file = self.file.relative_to(root) if self.file.is_relative_to(root) else self.file
        return f"{file}:{self.line}"


class Module(Struct, frozen=True):
    """One root module in one environment with one engine state."""

    name: str
    source: Path  # absolute folder
    interface: Interface = Interface()
    inputs: Mapping[str, Input] = {}
    depends_on: tuple[str, ...] = ()
    reads: Mapping[str, str] = {}  # modules whose states its source reads by itself, and where: file:line
    owner: str = ""
    var_files: tuple[Path, ...] = ()
    env: Mapping[str, str] = {}
    credentials: Credentials = Credentials()
    account: str = ""  # the AWS account that its engine must act in; "": any
    state: StateSettings = StateSettings("local")
    backend_config: tuple[Path, ...] = ()
    workspace: str = ""
    engine: EngineWish = EngineWish()
    tags: tuple[str, ...] = ()
    protected: bool = False
    on_destroy: str = "destroy"  # or retain
    retry: Retry = Retry()
    timeout_seconds: float | None = None
    verify: Verify = Verify()
    guard: Guard = Guard()
    origin: str = ""  # of a remote source: what was fetched of it
    watch: tuple[str, ...] = ()  # absolute glob patterns of files outside the source that are a part of the module
    hooks: Hooks = Hooks()
    declared_at: FileLine | None = None  # in the manifest or a file that it includes, by the nearest layer

    @property
    def references(self) -> tuple[Reference, ...]:
        found = {r for i in self.inputs.values() if isinstance(i, Literal) for r in i.references}
        return tuple(sorted(found, key=str))

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the modules that come before this one, in alphabetical order."""
        return tuple(sorted(self.edges))

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """Modules of other stacks whose outputs this one uses, as STACK/MODULE."""
        return tuple(sorted({reference.module for reference in self.references if reference.stack}))

    @property
    def edges(self) -> Mapping[str, tuple[str, ...]]:
        """Why each of those modules comes before this one: `reference`, `depends_on`, `owner`, `state`."""
        found: dict[str, list[str]] = {}
        kinds = {
            "reference": dict.fromkeys(reference.module for reference in self.references if not reference.stack),
            "depends_on": self.depends_on,
            "owner": (self.owner,) if self.owner else (),
            "state": self.reads,
        }
        for kind, names in kinds.items():
            for name in names:
                found.setdefault(name, []).append(kind)
        return {name: tuple(why) for name, why in found.items()}


class OtherStack(Struct, frozen=True):
    """A stack whose outputs modules of this one use, in one of its environments; its ledger is only read.

    `manifest` is None where only the ledger's place is known; `written` is its path as seen from our manifest's folder.
    """

    name: str
    environment: str
    ledger: LedgerSettings
    manifest: Path | None = None
    written: str = ""


class Stack(Struct, frozen=True):
    name: str
    environment: str
    file: Path  # the manifest, absolute
    modules: Mapping[str, Module]
    ledger: LedgerSettings
    environments: tuple[str, ...] = ("default",)
    others: Mapping[str, OtherStack] = {}  # by their names here
    env: Mapping[str, str] = {}  # what the defaults give to the engine of every module
    credentials: Credentials = Credentials()  # of modules that say nothing else
    account: str = ""
    hooks: Hooks = Hooks()  # around a run
    warnings: tuple[str, ...] = ()
    orphans: frozenset[str] = frozenset()  # modules that were taken up from the ledger: the manifest has them no more

    @property
    def root(self) -> Path:
        """The manifest's folder."""
        return self.file.parent

    def named(self, module: str) -> str:
        """A module as a teardown is told which one is meant."""
        return f"--orphan {quote(module)}" if module in self.orphans else quote(module)
