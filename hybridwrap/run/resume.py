"""Go on with a run that did not come to its end: what it left is planned again, with the inputs that it had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from hybridwrap.domain.graph import order
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.pending import DONE, MAKES_PENDING
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import Run, RunEnd
from hybridwrap.domain.run_inputs import RunInputs, changes, decode_inputs, other_secrets, withheld
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.status import Status
from hybridwrap.errors import PreflightRefused, UsageError
from hybridwrap.run.apply import apply
from hybridwrap.run.context import Context, Tools
from hybridwrap.run.kept_inputs import inputs_now
from hybridwrap.run.known_secrets import KnownSecrets
from hybridwrap.run.walk import Approve

NARROWING = frozenset({"target", "replace", "refresh", "refresh-only"})
UNSETTLED = frozenset({Status.ERROR, Status.UNKNOWN, Status.RUNNING})


class Rest(Struct, frozen=True):
    """What is to be done about a run."""

    run: Run
    left: tuple[str, ...]  # planned again in any case
    done: tuple[str, ...]  # planned again only when something about them has changed
    not_declared: tuple[str, ...]

    @property
    def run_id(self) -> str:
        return self.run.start.run

    def modules(self, stack: Stack) -> tuple[str, ...]:
        """Name them in the order of a graph: other inputs than today's can make another one."""
        return tuple(name for name in _in_order(stack) if name in {*self.left, *self.done})


def rest_of(run: Run, records: Mapping[str, Record], stack: Stack) -> Rest:
    """Say what a run left; what later runs have settled, or destroyed, is theirs."""
    selected = run.start.modules
    declared = [name for name in _in_order(stack) if name in selected]
    left = tuple(name for name in declared if _is_left(run, records.get(name, Record(name))))
    return Rest(
        run,
        left,
        done=tuple(n for n in declared if n not in left and _is_done(run, records.get(n, Record(n)))),
        not_declared=tuple(name for name in selected if name not in stack.modules),
    )


def newest_unfinished(runs: Sequence[Run], records: Mapping[str, Record], stack: Stack) -> Rest | None:
    """Find the newest run that left something; `runs` newest first."""
    rests = (rest_of(run, records, stack) for run in runs if run.start.command in MAKES_PENDING)
    return next((rest for rest in rests if rest.left), None)


def named_run(ledger: Ledger, prefix: str) -> Run:
    """Find a run that can be gone on with. Raise UsageError."""
    run = ledger.run(prefix)
    if run.start.command not in MAKES_PENDING:
        raise UsageError(f"run {run.start.run} is one of `{run.start.command}`: only an apply can be gone on with")
    return run


def _in_order(stack: Stack) -> tuple[str, ...]:
    return order({name: module.needs for name, module in stack.modules.items()})


def _is_left(run: Run, record: Record) -> bool:
    if record.run > run.start.run:
        return record.status in UNSETTLED and record.command != "destroy"
    if record.run == run.start.run:
        return record.status in UNSETTLED
    end = run.ends.get(record.module)
    return end is None or end.result not in DONE


def _is_done(run: Run, record: Record) -> bool:
    return record.status is Status.OK and record.run <= run.start.run


def inputs_of_run(tools: Tools, rest: Rest) -> RunInputs:
    """Read what the modules were to get. Raise PreflightRefused when the run kept nothing of that."""
    if not rest.run.start.inputs:
        raise PreflightRefused(
            f"run {rest.run_id} kept no inputs", hint=f"hybridwrap resume {rest.run_id} --inputs current"
        )
    run = tools.ledger.run(rest.run_id) if rest.run.start.shared else rest.run
    blobs = dict.fromkeys(part.start.inputs for part in (run, *run.parts) if part.start.inputs)
    kept = {name: given for blob in blobs for name, given in decode_inputs(tools.ledger.get_blob(blob)).items()}
    return {name: kept.get(name, {}) for name in (*rest.left, *rest.done)}


def differences(tools: Tools, inputs: RunInputs, known: KnownSecrets) -> Mapping[str, str]:
    """Say by module what the manifest has otherwise than the run, as `size "small" -> "large"`."""
    now = inputs_now(tools, tuple(inputs))
    mask = known.mask(tools.stack)
    both = {name: (withheld(mask, was), withheld(mask, now[name])) for name, was in inputs.items()}
    told = {name: ", ".join(map(str, changes(*pair))) for name, pair in both.items()}
    return {name: text for name, text in told.items() if text}


def changed_secrets(tools: Tools, inputs: RunInputs) -> Mapping[str, str]:
    """Say by module which secrets are not those that the run had, as far as there are digests of them."""
    now = inputs_now(tools, tuple(inputs))
    others = {name: other_secrets(was, now[name]) for name, was in inputs.items()}
    return {
        name: ", ".join(f"{each} ({inputs[name][each]})" for each in names) for name, names in others.items() if names
    }


def options_not_repeated(argv: Sequence[str]) -> tuple[str, ...]:
    """Name those of a command line that made its plans narrower: what was left may be what they left out."""
    names = (word.partition("=")[0].lstrip("-") for word in argv if word.startswith("-"))
    return tuple(dict.fromkeys(f"-{name}" for name in names if name in NARROWING))


def resume(context: Context, rest: Rest, differing: Mapping[str, str], approve: Approve | None) -> RunEnd:
    """Apply what a run left; its other modules only as far as `context.options.skip` does not leave them out."""
    if options := options_not_repeated(rest.run.start.argv):
        context.watch.note(f"not repeated of run {rest.run_id}: {', '.join(options)}; what it left is planned whole")
    for name in rest.not_declared:
        context.watch.warning(name, "left out: it is not in the manifest any more")
    for name, text in differing.items():
        context.watch.warning(name, text)
    return apply(context, rest.modules(context.tools.stack), approve, command="resume")
