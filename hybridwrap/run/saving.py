"""Plan modules and keep the plans in the ledger, to be applied exactly so later, perhaps on another machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from hybridwrap.domain.charter import stamp
from hybridwrap.domain.codec import plain
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.json import canonical
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.saved import Basis, SavedInputs, SavedPart, SavedPlan, Seal
from hybridwrap.domain.stack import FromCaller, Module
from hybridwrap.run.context import Context
from hybridwrap.run.plan import Show
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.recorded import recorded_run

MakePlans = Callable[[Context, Sequence[str], Show], RunEnd]


def save_plans(context: Context, modules: Sequence[str], show: Show, make: MakePlans) -> RunEnd:
    """Make plans as `make` does, and keep them under the id of this run; nothing of a module is recorded.

    Raise PreflightRefused when there is no key to encrypt them with, LedgerUnreachable.
    """
    saved = context.tools.ledger.saved
    saved.must_seal()
    context = replace(context, options=replace(context.options, saved=context.run))
    kept: dict[str, SavedPlan] = {}

    def keep_and_show(prepared: Prepared) -> None:
        kept[prepared.module.name] = _kept(context, prepared)
        show(prepared)

    def work() -> Mapping[str, ModuleEnd]:
        ends = make(context, modules, keep_and_show).modules
        saved.add(_part(context, ends, kept), context.tools.ids.new())
        return ends

    saved.prune()
    return recorded_run(context, "plan", modules, work)


def _kept(context: Context, prepared: Prepared) -> SavedPlan:
    saved, record, digest = context.tools.ledger.saved, prepared.record, prepared.planned.digest
    inputs = inputs_of(prepared.module, prepared.inputs)
    seal = Seal(context.run, record.module, digest, record.tail, prepared.actions, inputs)
    basis = Basis(
        plan=saved.put(context.run, prepared.folder.pack_plan()),
        seal=saved.put(context.run, canonical(plain(seal))),
        digest=digest,
        seq=record.seq,
        tail=record.tail,
        state=prepared.mark,
        source=prepared.source,
        engine=prepared.engine.identity,
        folder=str(prepared.module.source),
    )
    return SavedPlan("", planned=prepared.actions, basis=basis)


def inputs_of(module: Module, inputs: ResolvedInputs) -> SavedInputs:
    """All values that go into a plan."""
    caller = tuple(name for name, source in module.inputs.items() if isinstance(source, FromCaller))
    return SavedInputs(inputs.values, inputs.outside, inputs.upstream, caller)


def _part(context: Context, ends: Mapping[str, ModuleEnd], kept: Mapping[str, SavedPlan]) -> SavedPart:
    modules = {
        name: replace(kept.get(name, SavedPlan("")), result=end.result, reason=end.reason, counts=end.counts)
        for name, end in ends.items()
    }
    now = stamp(context.tools.clock.now())
    return SavedPart(context.run, now, context.tools.ledger.writer, context.options.plan, modules)
