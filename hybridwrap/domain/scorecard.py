"""Whether a rehearsal kept the rules: each is looked for in the ledger of its copy, and told with what shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from math import inf

from msgspec import Struct

from hybridwrap.counting import count_of, first_of
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.entry import Begin, End, Entry, Observe
from hybridwrap.domain.fold import fold
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.pending import MAKES_PENDING
from hybridwrap.domain.record import Record
from hybridwrap.domain.rehearsal import Failure, Refusal
from hybridwrap.domain.run import Run
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.trace import Fate
from hybridwrap.errors import LedgerUnreachable

SHOWN = 3  # things that are named in a sentence
UNREACHABLE = LedgerUnreachable.exit_code
FAILED = frozenset({Outcome.FAILED, Outcome.UNKNOWN})
NEVER_BEGAN = frozenset({"pending", "unchanged", "unknown", "stopped"})  # what a run may call what it did not begin
GONE = frozenset({Status.DESTROYED, Status.RETAINED, Status.NONE})


class Facts(Struct, frozen=True):
    """What is left of a rehearsal that was played to its end."""

    failures: tuple[Failure, ...]
    entries: Mapping[str, tuple[Entry, ...]]  # by module, oldest first
    runs: Sequence[Run]  # oldest first
    engines: Mapping[str, str]  # operation -> when its engine began, RFC 3339
    stored: Mapping[str, float]  # operation -> when its `begin` was there for good, seconds since 1970
    flaws: Mapping[str, Sequence[str]]  # by module, of its log
    kept: frozenset[str] = frozenset()  # modules that the teardown was to leave alone
    refusal: Refusal | None = None

    def begins(self) -> Iterator[tuple[Entry, Begin]]:
        return ((e, e.body) for found in self.entries.values() for e in found if isinstance(e.body, Begin))

    def ends(self) -> Iterator[tuple[Entry, End]]:
        return ((e, e.body) for found in self.entries.values() for e in found if isinstance(e.body, End))

    def records(self, module: str) -> tuple[Record, ...]:
        """What the log said at first and after each entry: an entry's digest is what the next one follows."""
        found = self.entries[module]
        records = [Record(module)]
        for entry, digest in zip(found, [*(entry.prev for entry in found[1:]), ""], strict=False):
            records.append(fold(records[-1], entry, digest))
        return tuple(records)


class Check(Struct, frozen=True):
    """One rule; `wrong` is what does not hold, and `evidence` what shows that it does where there is nothing."""

    rule: str
    evidence: str
    wrong: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.wrong


def scorecard(facts: Facts) -> tuple[Check, ...]:
    """Look for the five rules, and for what they are there for: that all of it was repaired."""
    return (
        intent_first(facts),
        no_record_no_mutation(facts),
        keep_what_is_known(facts),
        unrun_is_pending(facts),
        gone_means_gone(facts),
        repaired(facts),
    )


def intent_first(facts: Facts) -> Check:
    ahead: dict[tuple[str, str], float] = {}
    for entry, _ in facts.begins():
        if entry.operation in facts.engines:
            began = datetime.fromisoformat(facts.engines[entry.operation]).timestamp()
            ahead[entry.module, entry.operation] = began - facts.stored.get(entry.operation, inf)
    late = (f"{module}: the engine of {operation} began before its record was there" for module, operation in ahead)
    wrong = tuple(line for line, seconds in zip(late, ahead.values(), strict=True) if seconds <= 0)
    failing = {failure.module for failure in facts.failures}
    broken = [f"{module}'s {seconds:.2f} s" for (module, _), seconds in ahead.items() if module in failing]
    least = f"{min(ahead.values(), default=0):.2f} s"
    told = f"{count_of(len(ahead), 'engine')} ran, each {least} or more after its record was durable"
    return Check("intent first", told + (f" ({broken[0]})" if broken else ""), wrong)


def no_record_no_mutation(facts: Facts) -> Check:
    recorded = {entry.operation for entry, _ in facts.begins()}
    strangers = sorted(facts.engines.keys() - recorded)
    wrong = [f"operation {operation} ran an engine and has no record" for operation in strangers]
    told = f"each of the {count_of(len(facts.engines), 'engine')} that ran has a record"
    if refusal := facts.refusal:
        if refusal.exit_code != UNREACHABLE:
            wrong.append(f"without the ledger a command ended with {refusal.exit_code}, not with {UNREACHABLE}")
        if refusal.before != refusal.after:
            wrong.append("without the ledger an engine ran, or a state was changed")
        told += f"; without the ledger: exit code {UNREACHABLE}, no engine started, no state changed"
    return Check("no record, no mutation", told, tuple(wrong))


def keep_what_is_known(facts: Facts) -> Check:
    wrong: list[str] = []
    told: list[str] = []
    outputs = 0
    for module in facts.entries:
        records = facts.records(module)
        outputs += len(records[-1].outputs)
        for before, after in pairwise(records):
            wrong += (
                f"{module}.{name} was known, and is no more since entry {after.seq}" for name in _lost(before, after)
            )
        for entry, end in facts.ends():
            if entry.module == module and end.outcome in FAILED:
                told.append(f"{module} kept {_kept(records[entry.seq])}")
                wrong += (f"the failure in entry {entry.seq} of {module} has no {what}" for what in _lacks(end))
    about = "; ".join(told[:SHOWN]) or "nothing failed"
    return Check("keep what is known", f"{about}; {count_of(outputs, 'output')} can still be read", tuple(wrong))


def _lost(before: Record, after: Record) -> Iterator[str]:
    for name, output in before.outputs.items():
        now = after.outputs.get(name)
        if now is None or (output.value is not None and now.value is None):
            yield name


def _lacks(end: End) -> Iterator[str]:
    if not (end.errors or end.reason):
        yield "error and no reason"
    if end.outcome is Outcome.FAILED and not end.failed_command:
        yield "failed command"


def _kept(record: Record) -> str:
    known = sum(output.provenance is Provenance.KNOWN for output in record.outputs.values())
    cause = "error and command" if record.errors else "what it had begun"
    inputs = count_of(len(record.inputs), "input")
    outputs = f"{known} of {count_of(len(record.outputs), 'output')} known"
    return f"{cause}, {inputs}, {count_of(len(record.objects), 'object')}, {outputs}"


def unrun_is_pending(facts: Facts) -> Check:
    wrong: list[str] = []
    waited: dict[str, str] = {}
    for run in (run for run in facts.runs if run.start.command in MAKES_PENDING):
        began = {module for module, found in facts.entries.items() if any(_acts_for(run, entry) for entry in found)}
        for module in (name for name in run.start.modules if name not in began):
            end = run.ends.get(module)
            if end and end.result not in NEVER_BEGAN:
                wrong.append(
                    f"{module} never began in {run.start.command} {run.start.run}, which calls it {end.result}"
                )
            if end is None or end.result == "pending":
                why = f"for {end.waits_for}" if end and end.waits_for else "in a run that was killed"
                waited.setdefault(module, f"{module} {why}")
    begun = {(entry.module, entry.operation) for entry, _ in facts.begins()}
    unbegun = [entry for entry, _ in facts.ends() if (entry.module, entry.operation) not in begun]
    wrong += (f"{entry.module} has an end of {entry.operation}, which never began" for entry in unbegun)
    told = f"waited, with nothing recorded of a failure: {first_of([*waited.values()], SHOWN)}"
    return Check("unrun is pending", told if waited else "every module had its turn", tuple(wrong))


def _acts_for(run: Run, entry: Entry) -> bool:
    return isinstance(entry.body, Begin | Observe) and entry.body.run == run.start.run


def gone_means_gone(facts: Facts) -> Check:
    wrong: list[str] = []
    owned: list[str] = []
    gone = [entry for found in facts.entries.values() for entry in found if _status(entry) is Status.DESTROYED]
    for entry in gone:
        body = entry.body
        if isinstance(body, End | Observe) and not body.evidence:
            wrong.append(f"{entry.module} is called destroyed without evidence")
        if isinstance(body, Observe) and (owner := body.owner_end):
            owned.append(f"{entry.module} went after its owner {owner.module}")
            if not any(e.module == owner.module and e.seq == owner.seq and e.time <= entry.time for e in gone):
                wrong.append(f"{entry.module} is called destroyed, its owner {owner.module} was not")
    count = count_of(len({entry.module for entry in gone}), "module")
    told = [f"{count} destroyed, each with evidence" if gone else "not tried: nothing was to go", *owned[:SHOWN]]
    told += (f"{module} was not called destroyed before it was gone" for module in sorted(_failed_to_go(facts))[:SHOWN])
    return Check("gone means verified gone", "; ".join(told), tuple(wrong))


def _status(entry: Entry) -> Status | None:
    return entry.body.status if isinstance(entry.body, End | Observe) else None


def _failed_to_go(facts: Facts) -> set[str]:
    teardowns = {entry.operation for entry, body in facts.begins() if body.command == "destroy"}
    left = (Status.ERROR, Status.UNKNOWN)
    return {entry.module for entry, end in facts.ends() if entry.operation in teardowns and end.status in left}


def repaired(facts: Facts) -> Check:
    wrong = [f"the log of {module} is not sound: {flaw}" for module, found in facts.flaws.items() for flaw in found]
    for module in facts.entries:
        status = facts.records(module)[-1].status
        if module not in facts.kept and status not in GONE:
            wrong.append(f"{module} is {status} after the teardown")
        wrong += (f"{module}: {address} was made twice" for address in _made_twice(facts.entries[module]))
    wrong += (
        f"{f.module} did not fail in {f.command}, as it was to" for f in facts.failures if not _happened(facts, f)
    )
    kept = f", {len(facts.kept)} stayed, protected or needed by what is" if facts.kept else ""
    count, went = count_of(len(facts.entries), "module"), len(facts.entries) - len(facts.kept)
    moved = f"{count} came up{kept}, {went} went" if kept else f"{count} came up and went"
    return Check("repaired", f"{moved}; what was made well was made once; all logs are sound", tuple(wrong))


def _happened(facts: Facts, failure: Failure) -> bool:
    tried = {entry.operation for entry, body in facts.begins() if body.command == failure.command}
    ends = (end for entry, end in facts.ends() if entry.module == failure.module and entry.operation in tried)
    return any(end.outcome in FAILED for end in ends)


def _made_twice(entries: Iterable[Entry]) -> Iterator[str]:
    """Objects of one life that were made again although nothing had gone wrong in their making."""
    made: set[tuple[str, str]] = set()
    for entry in entries:
        steps = entry.body.steps if isinstance(entry.body, End) else ()
        spoilt = {step.address for step in steps if step.fate is not Fate.DONE}
        well = {s.address for s in steps if s.action is Action.CREATE and not s.provisioner} - spoilt
        again = {address for address in well if (entry.incarnation, address) in made}
        yield from sorted(again)
        made |= {(entry.incarnation, address) for address in well}
