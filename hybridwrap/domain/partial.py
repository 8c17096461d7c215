"""What is known after an operation, whole or unfinished: outputs by provenance, and every object ever seen.

Keeps: a failure never empties what was recorded, a value is called known only when it is proven new or untouched, and
an object's id stays listed until its delete was seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.engine_run import Action, OutputChange, Stream
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.state import EngineState, Found, Instance, StateOutput, instances_of
from hybridwrap.domain.trace import Fate, Step, trace


def outputs_after(
    *,
    succeeded: bool,
    declared: Collection[str],
    output_changes: Mapping[str, OutputChange],
    before: Mapping[str, Output],
    state_before: EngineState | None,
    state_after: EngineState | None,
) -> dict[str, Output]:
    """Say which outputs are known after an operation, and from where; sensitive values stay behind.

    `succeeded`: a whole apply did; one with targets proves nothing about the rest. `output_changes` are those of the
    plan, empty without one: then nothing is proven. `before` are the recorded ones. `state_after` is None also where
    it is not proven to be saved, which leaves all of them stale.
    """
    after = _usable(state_after)
    if succeeded and (state_after is None or state_after.readable):
        void = state_after.outputs.keys() - after.keys() if state_after else frozenset[str]()
        return {name: _settled(after.get(name), void=name in void) for name in sorted({*declared, *after, *void})}
    old = _comparable(before, after) if state_before is None else _usable(state_before)
    return {
        name: _unsettled(
            _Witnesses(
                change=output_changes.get(name),
                planned=bool(output_changes),
                new=after.get(name),
                old=old.get(name),
                recorded=before.get(name),
            )
        )
        for name in sorted({*declared, *before, *after})
    }


class _Witnesses(Struct, frozen=True):
    """What speaks about one output after an operation that did not succeed."""

    change: OutputChange | None
    planned: bool  # there is a plan
    new: StateOutput | None
    old: StateOutput | None
    recorded: Output | None

    @property
    def differs(self) -> bool:
        return self.new is not None and (self.old is None or _told(self.new) != _told(self.old))

    @property
    def sensitive(self) -> bool:
        return any(witness.sensitive for witness in (self.change, self.new, self.recorded) if witness)


def _usable(state: EngineState | None) -> dict[str, StateOutput]:
    """The outputs of a state but for those that a refresh has filled in with a null of no type: they are not known."""
    found = state.outputs if state else {}
    return {name: output for name, output in found.items() if output.value is not None or output.type != "dynamic"}


def _comparable(recorded: Mapping[str, Output], after: Mapping[str, StateOutput]) -> dict[str, StateOutput]:
    """What stood in the state before, by the record; a sensitive value is not in that and counts as unchanged."""
    comparable = {}
    for name, output in recorded.items():
        now = after.get(name, StateOutput(None, None, sensitive=False))
        if output.sensitive:
            comparable[name] = now
        elif output.value is not None:
            comparable[name] = StateOutput(
                output.value, now.type if output.type is None else output.type, now.sensitive
            )
    return comparable


def _told(output: StateOutput) -> object:
    """What is compared: with the type, as 1 and true are equal without."""
    return output.type, output.value


def _settled(output: StateOutput | None, *, void: bool) -> Output:
    if void:
        return Output(Provenance.MISSING)
    return _shown(Provenance.KNOWN, output) if output else Output(Provenance.KNOWN)  # a null is not stored


def _shown(provenance: Provenance, output: StateOutput, *, sensitive: bool = False) -> Output:
    hidden = sensitive or output.sensitive
    return Output(provenance, hidden, None if hidden else output.value, output.type)


def _unsettled(witnesses: _Witnesses) -> Output:
    if witnesses.new is not None:
        return _shown(_provenance(witnesses), witnesses.new, sensitive=witnesses.sensitive)
    recorded, change = witnesses.recorded, witnesses.change
    if change is not None and change.action is Action.NOOP and witnesses.old is None:
        return Output(Provenance.KNOWN, witnesses.sensitive)  # null before, null planned
    if recorded is not None and recorded.provenance is not Provenance.MISSING:
        return replace(recorded, provenance=Provenance.STALE)
    return Output(Provenance.MISSING, witnesses.sensitive)


def _provenance(witnesses: _Witnesses) -> Provenance:
    match witnesses.change.action if witnesses.change else None:
        case Action.NOOP | Action.CREATE:  # a create that is there now was not there before
            return Provenance.KNOWN
        case None if not witnesses.planned:
            return Provenance.PARTIAL if witnesses.differs else Provenance.STALE
        case None:
            return Provenance.STALE
        case _:
            return Provenance.KNOWN if witnesses.differs else Provenance.STALE


def objects_after(recorded: Iterable[CloudObject], stream: Stream, state_after: Found) -> tuple[CloudObject, ...]:
    """Carry a module's objects on: each is in the state, open, or retained; left out is only what was seen deleted.

    Give what the plan's refresh found with the stream: what is gone counts as deleted. A state that can't be read says
    nothing; no state at all says that nothing of what was made is saved.
    """
    steps = trace(stream)
    census = _Census(recorded)
    for step in steps:
        census.follow(step)
    if (instances := instances_of(state_after)) is not None:
        census.meet(instances)
        census.settle(stream)
    if _is_saved(state_after):
        census.drop(step for step in steps if step.action is Action.DELETE and step.fate is Fate.OPEN)
    for step in steps:
        if step.fate is Fate.OPEN and (step.provisioner or step.action is Action.CREATE):
            census.mark(step)
    return census.objects


def taken_out(recorded: Iterable[CloudObject], before: Found) -> tuple[CloudObject, ...]:
    """Add what the state before an operation says; mark what somebody else took out of it, or replaced, since the last.

    Terraform's state does not say whether that was destroyed or only forgotten: no doubt about an operation of ours,
    and no proof that it is gone.
    """
    instances = instances_of(before) if _is_saved(before) else None
    if instances is None:
        return tuple(recorded)
    census = _Census(recorded)
    census.meet(instances)
    census.part()
    return census.objects


def _is_saved(state: Found) -> bool:
    """Whether an engine has saved this state: not a place where there is nothing, nor one that a kill has emptied."""
    return isinstance(state, EngineState) and state.readable and not state.zero_bytes


class _Census:
    """A module's objects by address and id; the id of an open one may be "", which is: nobody knows it."""

    def __init__(self, recorded: Iterable[CloudObject]) -> None:
        self._known = {(o.address, o.id): o for o in recorded}
        self._placed: dict[tuple[str, str], CloudObject] = {}  # those that the state has
        self._current: dict[str, str] = {}  # id by address
        self._fresh: set[str] = set()  # addresses where the state has one that was not known

    @property
    def objects(self) -> tuple[CloudObject, ...]:
        everything = self._known | self._placed
        return tuple(everything[key] for key in sorted(everything))

    def follow(self, step: Step) -> None:
        """Take what a step tells; a create that is open waits for what the state says."""
        key = (step.address, step.id)
        told = CloudObject(step.address, step.type, step.id_key, step.id, open=step.fate is Fate.OPEN)
        match step.action, step.fate:
            case _ if step.provisioner:
                pass
            case Action.DELETE, Fate.DONE:
                self._known.pop(key, None)
            case (Action.CREATE, Fate.DONE) | (Action.UPDATE | Action.DELETE | Action.OTHER, Fate.OPEN):
                self._known[key] = told
            case Action.UPDATE | Action.DELETE, _ if step.id:
                self._known.setdefault(key, told)

    def meet(self, instances: Iterable[Instance]) -> None:
        """Find the objects of a state among the known ones, also moved or without an id."""
        moved = {(o.type, o.id): key for key, o in self._known.items() if o.id}
        unnamed = {o.address: key for key, o in self._known.items() if not o.open and o.id_key != "id"}
        for i in instances:
            keys = ((i.address, i.id), moved.get((i.type, i.id)), unnamed.get(i.address))
            known = next((self._known.pop(key) for key in keys if key in self._known), None)
            was = known or CloudObject(i.address)
            key, value = ("id", i.id) if i.id else (was.id_key, was.id)
            here = replace(was, address=i.address, type=i.type, id_key=key, id=value, retained=False, outside=False)
            self._placed[i.address, value] = here
            if not i.deposed:
                self._current[i.address] = value
                self._fresh |= set() if known else {i.address}

    def settle(self, stream: Stream) -> None:
        """Judge what the state does not have: found gone, retained, or open; close what is imported."""
        gone = {change.address for change in stream.drifted if change.action is Action.DELETE}
        kept = set(stream.forgotten)
        imported = {change.address for change in stream.planned if change.action is Action.IMPORT}
        for key, o in list(self._known.items()):
            vanished = bool(o.id) and stream.vanished.get(o.address) == o.id
            if vanished or (o.address in gone and o.id) or (not o.id and o.address in imported & self._fresh):
                del self._known[key]
            elif not (o.open or o.retained or o.outside):
                self._known[key] = replace(o, open=o.address not in kept, retained=o.address in kept)
        for key, o in self._placed.items():
            if o.address in imported:
                self._placed[key] = replace(o, open=False, unfinished=False)

    def part(self) -> None:
        """Leave what the state does not have to whoever has taken it out."""
        for key, o in self._known.items():
            self._known[key] = replace(o, outside=not (o.open or o.retained))

    def drop(self, begun: Iterable[Step]) -> None:
        """Leave out what the state has no more since its delete began: an engine forgets it when it succeeded."""
        for step in begun:
            self._known.pop((step.address, step.id), None)

    def mark(self, step: Step) -> None:
        """Mark open what was begun and not ended: the object that the state has there, else one without an id."""
        if step.address in (self._current if step.provisioner else self._fresh):
            key = (step.address, self._current[step.address])
            self._placed[key] = replace(self._placed[key], open=True, unfinished=True)
        else:
            self._known[step.address, ""] = CloudObject(step.address, step.type, open=True)
