"""The scorecard: it holds for a drill that went as it should, and each fact that is broken turns a rule red."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from msgspec.structs import replace

from hybridwrap.domain.engine_run import Action, Diagnostic
from hybridwrap.domain.entry import CloudObject, End, Entry, Observe, OwnerEnd
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.rehearsal import Failure, Refusal, Seen
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from hybridwrap.domain.scorecard import Facts, scorecard
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.trace import Fate, Step
from tests.support.ledgers import begin, ledger_on, output, writer

RULES = (
    "intent first",
    "no record, no mutation",
    "keep what is known",
    "unrun is pending",
    "gone means verified gone",
    "repaired",
)
EDGES = {"vm": (), "app": ("vm",), "dns": ("app",)}
BEGAN = "2026-01-01T00:00:10Z"  # all engines
STORED = 1_767_225_605.0  # five seconds before


def drill() -> Facts:
    """vm is made half-way, then whole, and torn down at the second try; app goes with it; dns waited for both."""
    ledger = ledger_on()
    seen = Seen({"vm1": BEGAN}, "state")

    def operation(module: str, name: str, body: End, *, command: str = "apply", run: str = "R1") -> None:
        record = ledger.record(module)
        record = ledger.begin(record, begin(command, run=run, before=record.settled), operation=name)
        ledger.end(record, body, operation=name, entry_id=ledger.ids.new())

    operation("vm", "vm1", made(Status.ERROR, size=output("s"), id=Output(Provenance.MISSING), last=Fate.FAILED))
    operation("vm", "vm2", made(Status.OK, size=output("s"), id=output("vm-1"), first=False), run="R2")
    operation("app", "app1", made(Status.OK), run="R2")
    operation("dns", "dns1", made(Status.OK), run="R2")
    operation("dns", "dns2", gone("2 of 2 gone"), command="destroy", run="R3")
    operation("vm", "vm3", made(Status.ERROR, first=False, last=Fate.FAILED), command="destroy", run="R3")
    operation("vm", "vm4", gone("1 of 1 gone"), command="destroy", run="R4")
    vm = ledger.record("vm")
    proof = OwnerEnd("vm", vm.incarnation, vm.seq, vm.tail)
    took = Observe(
        "R4", "gone with its owner vm", Status.DESTROYED, objects=(), evidence=("vm is gone",), owner_end=proof
    )
    ledger.observe(ledger.record("app"), took)
    entries = {name: ledger.history(name) for name in EDGES}
    operations = [entry.operation for found in entries.values() for entry in found if entry.operation]
    waited = {"vm": ModuleEnd("error", 4), "app": ModuleEnd("pending", waits_for="vm.id"), "dns": ModuleEnd("pending")}
    return Facts(
        failures=(Failure("vm", "apply"),),
        entries=entries,
        runs=[run("R1", "apply", waited), run("R2", "resume", dict.fromkeys(EDGES, ModuleEnd("ok")))],
        engines=dict.fromkeys(operations, BEGAN),
        stored=dict.fromkeys(operations, STORED),
        flaws={name: ledger.verify(name) for name in EDGES},
        refusal=Refusal(30, seen, seen),
    )


def made(status: Status, *, first: bool = True, last: Fate = Fate.DONE, **outputs: Output) -> End:
    steps = [Step("x.first", Action.CREATE, Fate.DONE)] * first + [Step("x.second", Action.CREATE, last)]
    bad = status is Status.ERROR
    return End(
        Outcome.FAILED if bad else Outcome.SUCCEEDED,
        status,
        outputs=outputs,
        objects=(CloudObject("x.first"),),
        failed_command=("terraform", "apply") if bad else (),
        errors=(Diagnostic("error", "refused"),) if bad else (),
        steps=tuple(steps),
    )


def gone(evidence: str) -> End:
    return End(Outcome.SUCCEEDED, Status.DESTROYED, evidence=(evidence,))


def run(name: str, command: str, ends: Mapping[str, ModuleEnd]) -> Run:
    start = RunStart(name, command, "2026-01-01T00:00:00Z", writer(), (command,), tuple(EDGES), EDGES)
    return Run(start, RunEnd(name, "2026-01-01T00:01:00Z", 4, ends))


def with_entry(facts: Facts, module: str, seq: int, change: Callable[[Entry], Entry]) -> Facts:
    entries = tuple(change(entry) if entry.seq == seq else entry for entry in facts.entries[module])
    return replace(facts, entries={**facts.entries, module: entries})


def with_body(facts: Facts, module: str, seq: int, **changed: object) -> Facts:
    return with_entry(facts, module, seq, lambda entry: replace(entry, body=replace(entry.body, **changed)))


def test_every_rule_holds_in_a_drill_that_went_as_it_should() -> None:
    checks = scorecard(drill())
    assert tuple(check.rule for check in checks) == RULES
    assert [line for check in checks for line in check.wrong] == []
    told = "\n".join(check.evidence for check in checks)
    for words in (
        "7 engines ran, each 5.00 s or more after its record was durable",
        "vm kept error and command, 0 inputs, 1 object, 1 of 2 outputs known",
        "app for vm.id",
        "app went after its owner vm",
        "vm was not called destroyed before it was gone",
    ):
        assert words in told


BROKEN: Mapping[str, tuple[str, Callable[[Facts], Facts]]] = {
    "an engine that was faster than its record": (
        "intent first",
        lambda f: replace(f, stored={**f.stored, "vm1": STORED + 6}),
    ),
    "a begin that is in no store": (
        "intent first",
        lambda f: replace(f, stored={name: at for name, at in f.stored.items() if name != "vm1"}),
    ),
    "an engine that nobody has recorded": (
        "no record, no mutation",
        lambda f: replace(f, engines={**f.engines, "stranger": BEGAN}),
    ),
    "a state that changed without a ledger": (
        "no record, no mutation",
        lambda f: replace(f, refusal=Refusal(30, Seen({}, "before"), Seen({}, "after"))),
    ),
    "an apply that went well without a ledger": (
        "no record, no mutation",
        lambda f: replace(f, refusal=Refusal(0, Seen({}, ""), Seen({}, ""))),
    ),
    "an output that got lost": (
        "keep what is known",
        lambda f: with_body(f, "vm", 4, outputs={"size": Output(Provenance.MISSING), "id": output("vm-1")}),
    ),
    "a failure without its command": ("keep what is known", lambda f: with_body(f, "vm", 2, failed_command=())),
    "a failure of what never began": (
        "unrun is pending",
        lambda f: replace(f, runs=[run("R1", "apply", {"dns": ModuleEnd("error", 4)})]),
    ),
    "an end without a beginning": (
        "unrun is pending",
        lambda f: with_entry(f, "dns", 4, lambda e: replace(e, operation="x")),
    ),
    "a teardown without evidence": ("gone means verified gone", lambda f: with_body(f, "dns", 4, evidence=())),
    "a child that went before its owner": (
        "gone means verified gone",
        lambda f: with_entry(f, "app", 3, lambda e: replace(e, time="2025-01-01T00:00:00Z")),
    ),
    "a module that is still there": ("repaired", lambda f: with_body(f, "vm", 8, status=Status.ERROR)),
    "an object that was made twice": (
        "repaired",
        lambda f: with_body(f, "vm", 4, steps=(Step("x.first", Action.CREATE, Fate.DONE),)),
    ),
    "a failure that did not come to happen": (
        "repaired",
        lambda f: replace(f, failures=(Failure("dns", "apply", kill=True),)),
    ),
    "a log that was altered": ("repaired", lambda f: replace(f, flaws={"vm": ["entry 2: altered"]})),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_fact_that_is_broken_is_seen(what: str) -> None:
    rule, breaking = BROKEN[what]
    broken = {check.rule for check in scorecard(breaking(drill())) if not check.holds}
    assert rule in broken


def test_what_a_teardown_was_to_leave_alone_may_be_there() -> None:
    facts = with_body(drill(), "dns", 4, status=Status.OK)
    assert not scorecard(facts)[-1].holds
    spared = scorecard(replace(facts, kept=frozenset({"dns"})))[-1]
    assert spared.holds
    assert "3 modules came up, 1 stayed, protected or needed by what is, 2 went;" in spared.evidence


def test_a_teardown_that_was_to_leave_everything_shows_nothing_of_it() -> None:
    facts = drill()
    torn_down = {entry.operation for entry, body in facts.begins() if body.command == "destroy"}
    made = {
        name: tuple(e for e in found if e.operation not in torn_down and not isinstance(e.body, Observe))
        for name, found in facts.entries.items()
    }
    checks = {check.rule: check for check in scorecard(replace(facts, entries=made, kept=frozenset(made)))}
    assert checks["gone means verified gone"].evidence == "not tried: nothing was to go"
