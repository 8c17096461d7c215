"""What is different between two runs, module by module: how it ended, what went in, what came out, what did it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from hybridwrap.domain.entry import RecordedInput
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.run.report import ModuleReport, Report


class Told(Struct, frozen=True):
    """A value as it may be shown; of a secret only where it came from."""

    value: Json
    secret: bool = False


class Change(Struct, frozen=True):
    """`what` is result, status, input, output, object, engine or source; None stands for what was not there."""

    what: str
    name: str
    before: Told | None
    after: Told | None


class ModuleDifference(Struct, frozen=True):
    """No changes: the same in both runs. A module that one run did not select has no counterpart there."""

    module: str
    before: ModuleReport | None
    after: ModuleReport | None
    changes: tuple[Change, ...] = ()


def differences(before: Report, after: Report) -> tuple[ModuleDifference, ...]:
    """Compare two runs as they left their modules, in the order of the later one."""
    old = {module.module: module for module in before.modules}
    new = {module.module: module for module in after.modules}
    return tuple(_difference(name, old.get(name), new.get(name)) for name in dict.fromkeys([*new, *old]))


def _difference(name: str, old: ModuleReport | None, new: ModuleReport | None) -> ModuleDifference:
    if old is None or new is None:
        return ModuleDifference(name, old, new)
    changes = (
        *_changed("result", {"": Told(old.result)}, {"": Told(new.result)}),
        *_changed("status", {"": Told(str(old.record.status))}, {"": Told(str(new.record.status))}),
        *_changed("engine", _engine(old), _engine(new)),
        *_sources(old, new),
        *_changed("input", _inputs(old), _inputs(new)),
        *_secrets(old, new),
        *_changed("output", _outputs(old.record.outputs), _outputs(new.record.outputs)),
        *_changed("object", _objects(old), _objects(new)),
    )
    return ModuleDifference(name, old, new, changes)


def _changed(what: str, old: Mapping[str, Told], new: Mapping[str, Told]) -> Iterator[Change]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield Change(what, name, old.get(name), new.get(name))


def _inputs(module: ModuleReport) -> dict[str, Told]:
    return {name: _input(recorded) for name, recorded in module.inputs.items()}


def _input(recorded: RecordedInput) -> Told:
    hidden = recorded.sensitive or recorded.value is None
    return Told(recorded.reference if hidden else recorded.value, recorded.sensitive)


def _secrets(old: ModuleReport, new: ModuleReport) -> Iterator[Change]:
    """Secrets that come from where they came from before, and are others: only the digest over all inputs tells."""
    digests = (_inputs_digest(old), _inputs_digest(new))
    if all(digests) and digests[0] != digests[1] and _inputs(old) == _inputs(new):
        secrets = sorted(name for name, recorded in new.inputs.items() if recorded.sensitive)
        secret = Told(None, secret=True)
        yield Change("input", " or ".join(secrets), secret, secret)


def _inputs_digest(module: ModuleReport) -> str:
    return module.share.begin.inputs_digest if module.share.begin else module.record.inputs_digest


def _outputs(outputs: Mapping[str, Output]) -> dict[str, Told]:
    there = {name: output for name, output in outputs.items() if output.provenance is not Provenance.MISSING}
    return {name: Told(None if output.sensitive else output.value, output.sensitive) for name, output in there.items()}


def _objects(module: ModuleReport) -> dict[str, Told]:
    return {each.address: Told(each.id) for each in module.record.objects}


def _engine(module: ModuleReport) -> dict[str, Told]:
    return {"": Told(f"{module.engine.product} {module.engine.version}")} if module.engine else {}


def _sources(old: ModuleReport, new: ModuleReport) -> Iterator[Change]:
    """By content: another commit with the same files is the same source."""
    if old.source and new.source and old.source.digest != new.source.digest:
        before, after = (Told(source.git or source.digest) for source in (old.source, new.source))
        yield Change("source", "", before, after)
