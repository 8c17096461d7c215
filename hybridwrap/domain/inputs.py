"""From a module's inputs as declared to the values that the engine gets, and to what the ledger keeps of them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from hybridwrap.domain.entry import RecordedInput
from hybridwrap.domain.json import Json, canonical, loads
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.stack import FromCaller, FromEnv, FromFile, Input, Literal, Module, Reference, Variable
from hybridwrap.errors import PreflightRefused

TF_VAR = "TF_VAR_"
STRUCTURES = ("list", "set", "map", "object", "tuple")

Render = Callable[[str, Mapping[Reference, Json]], Json]


class Given(Struct, frozen=True):
    """A value that one of the user's own variable files sets; `value` is None where it is no literal."""

    value: Json
    file: str


def _no_defaults(_folder: Path) -> Mapping[str, Json]:
    return {}


class Host(Struct, frozen=True):
    """What inputs can come from besides the manifest and other modules.

    `render` gives a template its value and raises ValueError. `read_text` raises OSError or ValueError.
    `given` reads the variable files that the engine will load, the strongest value of each name; `defaults` what the
    sensitive variables of the module in a folder are when nobody gives them a value.
    """

    render: Render
    environ: Mapping[str, str]
    read_text: Callable[[Path], str]
    given: Callable[[Module], Mapping[str, Given]]
    defaults: Callable[[Path], Mapping[str, Json]] = _no_defaults


class Wait(Struct, frozen=True):
    """A reference that has no value that may be used, and why; `cause` is what other references may wait for, too."""

    reference: Reference
    reason: str
    cause: str = ""


def told(waits: Iterable[Wait]) -> str:
    """All reasons in one line, each cause once."""
    waiting: dict[str, list[str]] = {}
    for wait in waits:
        waiting.setdefault(wait.cause or wait.reason, []).append(f"{wait.reference}" if wait.cause else "")
    return "; ".join(f"waits for {', '.join(names)}: {why}" if names[0] else why for why, names in waiting.items())


@dataclass(frozen=True, slots=True)
class ResolvedInputs:
    """Inputs of one module. `values` go to the engine; `recorded` go to the ledger; with `waits` nothing may run.

    `outside` are values that reach the engine by itself: TF_VAR_ variables and the user's variable files.
    `upstream` are the outputs that went in, by reference. `defaults` are those of sensitive variables.
    """

    values: Mapping[str, Json] = field(repr=False)
    recorded: Mapping[str, RecordedInput]
    waits: tuple[Wait, ...] = ()
    outside: Mapping[str, Json] = field(default_factory=dict, repr=False)
    upstream: Mapping[str, Json] = field(default_factory=dict, repr=False)
    secret_upstream: bool = False
    defaults: tuple[Json, ...] = field(default=(), repr=False)

    @property
    def secret_values(self) -> tuple[Json, ...]:
        """What must not be seen in any text."""
        everything = {**self.outside, **self.values}
        given = (everything[name] for name, kept in self.recorded.items() if kept.sensitive and name in everything)
        return (*given, *self.defaults)

    @property
    def has_secrets(self) -> bool:
        return any(recorded.sensitive for recorded in self.recorded.values())


class _Upstream(Struct, frozen=True):
    known: Mapping[Reference, Json]
    sensitive: frozenset[Reference]
    waits: tuple[Wait, ...]


def resolve_inputs(
    module: Module,
    *,
    output: Callable[[Reference], Output | Wait | None],
    secret: Callable[[Reference], Json],
    host: Host,
) -> ResolvedInputs:
    """Give every input of a module its value. Only outputs that are known are used.

    `output` is what the ledger has of a reference, or why it must not be used; `secret` gives the value of a sensitive
    one and raises LookupError when it must be read again first. Raise PreflightRefused with all that is wrong on this
    host or with a template.
    """
    upstream = _look_upstream(module.references, output, secret)
    ready = {name: source for name, source in module.inputs.items() if not _waits(source, upstream)}
    values, problems = _values(module, ready, upstream.known, host)
    if problems:
        raise PreflightRefused("\n".join(problems), hint=f"hybridwrap render {module.name}")
    recorded = {
        name: secret_record(module, name, source, upstream.sensitive) or _open_record(name, source, values)
        for name, source in module.inputs.items()
    }
    outside = {name: (value, kept) for name, value, kept in outside_inputs(module, host)}
    return ResolvedInputs(
        values,
        {name: kept for name, (_, kept) in outside.items()} | recorded,
        upstream.waits,
        {name: value for name, (value, _) in outside.items()},
        {str(reference): value for reference, value in upstream.known.items()},
        secret_upstream=bool(upstream.sensitive),
        defaults=secret_defaults(module, host),
    )


def host_problems(module: Module, host: Host) -> tuple[str, ...]:
    """Say which inputs from the environment or from files are not to be had here: known before anything runs."""
    outside = {name: source for name, source in module.inputs.items() if not isinstance(source, Literal)}
    return tuple(_values(module, outside, {}, host)[1])


def secrets_from_outside(module: Module, host: Host) -> tuple[Json, ...]:
    """The secret values that reach the engine by itself, as they are now."""
    outside = (value for _, value, kept in outside_inputs(module, host) if kept.sensitive)
    return (*outside, *secret_defaults(module, host))


def secret_defaults(module: Module, host: Host) -> tuple[Json, ...]:
    """What the sensitive variables that the manifest does not set are by default: an engine's error may quote it."""
    variables = module.interface.variables.values()
    names = {v.name for v in variables if is_secret(v) and not v.required and v.name not in module.inputs}
    return tuple(value for name, value in host.defaults(module.source).items() if name in names) if names else ()


def own_secrets(module: Module, host: Host) -> dict[str, Json]:
    """The secret values that a module gets from no other one, by variable; those that are not to be had here not."""
    outside = {name: value for name, value, kept in outside_inputs(module, host) if kept.sensitive}
    ours = {
        name: source
        for name, source in module.inputs.items()
        if not (isinstance(source, Literal) and source.references) and secret_record(module, name, source, frozenset())
    }
    return outside | _values(module, ours, {}, host)[0]


def _values(
    module: Module, sources: Mapping[str, Input], known: Mapping[Reference, Json], host: Host
) -> tuple[dict[str, Json], list[str]]:
    values: dict[str, Json] = {}
    problems: list[str] = []
    for name, source in sources.items():
        try:
            values[name] = _value(source, module.interface.variables.get(name), known, host)
        except (OSError, ValueError) as error:
            problems.append(_problem(module, name, source, error))
    return values, problems


def _look_upstream(
    references: Iterable[Reference],
    output: Callable[[Reference], Output | Wait | None],
    secret: Callable[[Reference], Json],
) -> _Upstream:
    known, sensitive, waits = {}, set(), []
    for reference in references:
        found = output(reference)
        if isinstance(found, Wait):
            waits.append(found)
            continue
        if found is None or found.provenance is not Provenance.KNOWN:
            waits.append(Wait(reference, why_not(reference, found)))
            continue
        if not found.sensitive:
            known[reference] = found.value
            continue
        sensitive.add(reference)
        try:
            known[reference] = secret(reference)
        except LookupError as error:
            why = str(error) if reference.stack else f"{reference} must be read again: apply {reference.module}"
            waits.append(Wait(reference, why))
    return _Upstream(known, frozenset(sensitive), tuple(waits))


def why_not(reference: Reference, found: Output | None) -> str:
    """Say why an output can't be used."""
    match found.provenance if found else None:
        case Provenance.STALE:
            return f"{reference} is stale: older than the last change of {reference.module}"
        case Provenance.PARTIAL:
            return f"{reference} is partial: read after an unfinished operation on {reference.module}"
        case Provenance.MISSING:
            return f"{reference} is missing: the last operation on {reference.module} did not get to it"
        case _:
            return f"{reference} is not there yet: {reference.module} was not applied"


def _waits(source: Input, upstream: _Upstream) -> bool:
    return isinstance(source, Literal) and any(reference not in upstream.known for reference in source.references)


def _value(source: Input, variable: Variable | None, known: Mapping[Reference, Json], host: Host) -> Json:
    match source:
        case Literal():
            return filled(source.tree, lambda text: host.render(text, known))
        case FromCaller(value):
            return value
        case FromEnv(name):
            if name not in host.environ:
                raise ValueError(f"the environment variable {name} is not set")
            return _typed(host.environ[name], variable, name)
        case FromFile(path):
            return _typed(host.read_text(path), variable, str(path))


def filled(tree: Json, render: Callable[[str], Json]) -> Json:
    """Replace the templates of a tree; keys and what comes out of a template stay as they are."""
    match tree:
        case str():
            return render(tree) if "{{" in tree else tree
        case list():
            return [filled(item, render) for item in tree]
        case dict():
            return {name: filled(item, render) for name, item in tree.items()}
        case _:
            return tree


def _typed(text: str, variable: Variable | None, origin: str) -> Json:
    """A text stays a text; for a variable that takes a list or a map it must be JSON."""
    if variable is None or variable.type.partition("(")[0].strip() not in STRUCTURES:
        return text
    try:
        return loads(text)
    except ValueError:  # its message could quote the secret
        raise ValueError(f"{origin} must hold JSON: the variable takes {variable.type}") from None


def _problem(module: Module, name: str, source: Input, error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    path = f"{source.path}: " if isinstance(source, FromFile) and isinstance(error, OSError) else ""
    return f"{source.place}  modules.{module.name}.inputs.{name}: {path}{reason}".strip()


def _open_record(name: str, source: Input, values: Mapping[str, Json]) -> RecordedInput:
    return RecordedInput(values[name]) if name in values else RecordedInput(reference=_template(source))


def secret_record(module: Module, name: str, source: Input, sensitive: frozenset[Reference]) -> RecordedInput | None:
    """What the ledger keeps of a secret: where it came from. None for what is no secret."""
    match source:
        case FromEnv(variable):
            return RecordedInput(sensitive=True, reference=f"env:{variable}")
        case FromFile(path, written):
            return RecordedInput(sensitive=True, reference=f"file:{written or path}")
        case FromCaller() if is_secret(module.interface.variables.get(name)):
            return RecordedInput(sensitive=True, reference=f"option:-var {name}")
        case Literal() if is_secret(module.interface.variables.get(name)):
            # What is written beside a reference may be the secret itself.
            text = _template(source) if is_bare_reference(source) else f"manifest:modules.{module.name}.inputs.{name}"
            return RecordedInput(sensitive=True, reference=text)
        case Literal(references=references) if sensitive.intersection(references):
            return RecordedInput(sensitive=True, reference=_template(source))
    return None


def _template(source: Input) -> str:
    tree = source.tree if isinstance(source, Literal) else ""
    return tree if isinstance(tree, str) else canonical(tree).decode()


def is_bare_reference(source: Literal) -> bool:
    return "".join(_template(source).split()) in {f"{{{{{r.expression}}}}}" for r in source.references}


def is_secret(variable: Variable | None) -> bool:
    return variable is not None and (variable.sensitive or variable.ephemeral)


def outside_inputs(module: Module, host: Host) -> Iterator[tuple[str, Json, RecordedInput]]:
    """Values that reach the engine without us, for declared variables on which the manifest is silent."""
    given = host.given(module)
    for name, variable in module.interface.variables.items():
        if name in module.inputs:
            continue
        if name in given:  # a variable file beats TF_VAR_
            sensitive, reference = is_secret(variable), f"file:{given[name].file}"
            kept = None if sensitive else given[name].value
            yield name, given[name].value, RecordedInput(kept, sensitive=sensitive, reference=reference)
        elif (text := host.environ.get(TF_VAR + name)) is not None:
            yield name, text, RecordedInput(sensitive=True, reference=f"env:{TF_VAR}{name}")


def inputs_digest(resolved: ResolvedInputs, key: bytes = b"") -> str:
    """Digest all that the engine gets, in hex; "" while something is missing, or for secrets without a key."""
    if resolved.waits:
        return ""
    everything = {"values": dict(resolved.values), "outside": dict(resolved.outside)}
    return _digest(everything, key, secret=resolved.has_secrets)


def upstream_digest(resolved: ResolvedInputs, key: bytes = b"") -> str:
    """Digest the outputs that went in, as `inputs_digest` does."""
    return "" if resolved.waits else _digest(dict(resolved.upstream), key, secret=resolved.secret_upstream)


def _digest(value: Json, key: bytes, *, secret: bool) -> str:
    if not secret:
        return hashlib.sha256(canonical(value)).hexdigest()
    return hmac.new(key, canonical(value), hashlib.sha256).hexdigest() if key else ""
