"""Leave out the plan of a module when nothing that it is made from has changed: no engine is started for it.

Keeps: what the ledger does not prove is planned. Drift is not looked for, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from hybridwrap.domain.duration import in_words
from hybridwrap.domain.inputs import ResolvedInputs, inputs_digest, upstream_digest
from hybridwrap.domain.pending import MAKES_PENDING
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, Run
from hybridwrap.domain.status import Status
from hybridwrap.domain.ulid import made_at
from hybridwrap.run.context import Context, Skip

PLANNED = frozenset({"apply", "observe"})  # acts that came out of a plan
DONE = frozenset({"ok", "unchanged"})
NEVER = datetime.fromtimestamp(0, UTC)


def skipped(context: Context, name: str, inputs: ResolvedInputs) -> ModuleEnd | None:
    """End a module without a plan, or say why it gets one although it was ok; None is a plan."""
    skip, record = context.options.skip, context.knowledge.record(name)
    if skip is None or name in skip.never or record.status is not Status.OK:
        return None
    if why := next(_reasons(context, skip, record, inputs), ""):
        context.watch.warning(name, f"planned, not skipped: {why}")
        return None
    return ModuleEnd("unchanged", reason=f"last planned {_told(last_planned(skip.runs, record))}", skipped=True)


def told_of_skipped(context: Context, ends: Mapping[str, ModuleEnd]) -> None:
    """Say once what was not looked for, and since when."""
    skip = context.options.skip
    names = [name for name, end in ends.items() if end.skipped]
    if not skip or not names:
        return
    planned = ((last_planned(skip.runs, context.knowledge.record(name)) or NEVER, name) for name in names)
    moment, oldest = min(planned)
    context.watch.note(
        f"{len(names)} of {len(ends)} not planned: nothing that goes into them has changed. "
        f"Drift was not looked for; in {oldest} it last was {_told(moment)}"
    )


def _reasons(context: Context, skip: Skip, record: Record, inputs: ResolvedInputs) -> Iterator[str]:
    """Say what speaks against skipping a module that is ok, the most telling first."""
    key, module = context.tools.digest_key, context.tools.stack.modules[record.module]
    yield from (f"nobody knows how {thing.address} ended" for thing in record.objects if thing.open)
    if not inputs_digest(inputs, key):
        yield "it has secret inputs, and there is no key (ledger.encryption) to tell whether they have changed"
    if not record.inputs_digest or record.source is None:
        yield "there is no record of all that it was made from"
        return
    if upstream_digest(inputs, key) != record.upstream_digest:
        yield "outputs that it uses have changed"
    if inputs_digest(inputs, key) != record.inputs_digest:
        yield "its inputs have changed"
    now = context.tools.sources.fingerprint(module)
    if now.digest != record.source.digest:
        yield "its files have changed"
    if now.lock != record.source.lock:
        yield "its dependency lock file has changed"
    yield from _engine_reasons(context, record, inputs)
    yield from _age_reasons(context, skip, record)


def _engine_reasons(context: Context, record: Record, inputs: ResolvedInputs) -> Iterator[str]:
    engine = context.tools.engines.at(context.tools.stack.modules[record.module], inputs.values)
    if engine.identity != record.engine:
        yield f"the engine is {engine.identity.product} {engine.identity.version} now"
    if record.state is None or engine.place != record.state.place:
        yield "its state is not in the recorded place"


def _age_reasons(context: Context, skip: Skip, record: Record) -> Iterator[str]:
    planned = last_planned(skip.runs, record)
    if not planned:
        yield f"it was not planned since {record.command}"
        return
    age = (context.tools.clock.now() - planned).total_seconds()
    if age > skip.max_age_seconds:
        yield f"it was last planned {_told(planned)}, more than {in_words(skip.max_age_seconds)} ago"


def last_planned(runs: Iterable[Run], record: Record) -> datetime | None:
    """The start of the newest run that is known to have planned all of a module, None when there is none.

    What does not change a module leaves no entry: that it was planned is then in the end of the run alone.
    """
    since = (run for run in runs if run.start.run >= record.run and run.start.command in MAKES_PENDING)
    later = next((run.start.time for run in since if run.start.whole and _planned(run, record.module)), "")
    if later:
        return datetime.fromisoformat(later)
    return made_at(record.run) if record.command in PLANNED else None


def _planned(run: Run, module: str) -> bool:
    end = run.ends.get(module)
    return end is not None and end.result in DONE and not end.skipped


def _told(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "never"
