"""From a module that stands badly to the first cause, and to the one command that helps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from hybridwrap.domain.stack import LedgerSettings, Module, Stack
from hybridwrap.domain.status import Status
from hybridwrap.run.resume import newest_unfinished, rest_of
from hybridwrap.run.why import Why, why
from tests.support.ledgers import writer

CHAIN = {"net": (), "vm": ("net",), "health": ("vm",)}
STACK = Stack(
    "shop",
    "prod",
    Path("/shop/hybridwrap.yaml"),
    {name: Module(name, Path("/shop") / name, depends_on=needs) for name, needs in CHAIN.items()},
    LedgerSettings(),
)
DENIED = Diagnostic("error", "AccessDenied", address="aws_vpc.main", file="main.tf", line=3)


def run(number: int, ends: Mapping[str, ModuleEnd] | None, *, command: str = "apply") -> Run:
    start = RunStart(f"R{number}", command, "2026-03-01T12:00:00Z", writer(), (), tuple(CHAIN), CHAIN)
    return Run(start, None if ends is None else RunEnd(f"R{number}", "2026-03-01T12:01:00Z", 4, ends))


def record(name: str, status: Status, number: int = 1, **more: Any) -> Record:
    known = Record(name, seq=2, status=status, settled=status, run=f"R{number}", command="apply", operation="OP")
    return replace(known, **more)


WAITS = ModuleEnd("pending", reason="waits for vm.address", waits_for="vm.address")


def told(found: Why) -> list[tuple[str, str]]:
    return [(step.module, str(step.status)) for step in found.steps]


@pytest.mark.parametrize(
    ("vm", "vm_end", "health", "next_command"),
    [
        (record("vm", Status.ERROR, errors=(DENIED,)), ModuleEnd("error"), WAITS, "hybridwrap resume"),
        (record("vm", Status.UNKNOWN), ModuleEnd("unknown"), WAITS, "hybridwrap reconcile vm"),
        (
            record("vm", Status.ERROR, objects=(CloudObject("aws_vpc.main", open=True),)),
            ModuleEnd("error"),
            WAITS,
            "hybridwrap reconcile vm",
        ),
        (record("vm", Status.RUNNING), ModuleEnd("busy"), WAITS, "hybridwrap status"),
        (
            record("vm", Status.RETAINED, 0),
            ModuleEnd("refused", 10, reason="vm is retained", hint="hybridwrap adopt vm"),
            WAITS,
            "hybridwrap adopt vm",
        ),
        (
            record("vm", Status.OK, 0),
            ModuleEnd("error", reason="plan of vm ended with exit code 1", errors=(DENIED,)),
            WAITS,
            "hybridwrap resume",
        ),
        (
            record("vm", Status.OK, 0),
            ModuleEnd("unsent", 34, reason="the result is not yet in the ledger", hint="hybridwrap sync"),
            WAITS,
            "hybridwrap sync",
        ),
        (record("vm", Status.OK, 2), ModuleEnd("error"), WAITS, "hybridwrap resume"),
    ],
    ids=["error", "unknown", "in doubt", "running", "retained", "plan failed", "unsent", "repaired since"],
)
def test_a_pending_module_is_followed_to_the_cause(
    vm: Record, vm_end: ModuleEnd, health: ModuleEnd, next_command: str
) -> None:
    runs = [run(1, {"net": ModuleEnd("ok"), "vm": vm_end, "health": health})]
    records = {"net": record("net", Status.OK), "vm": vm}
    found = why(STACK, records, runs, "health")
    assert [module for module, _ in told(found)] == ["health", "vm"]
    assert found.steps[0].waits_for == "vm.address"
    assert found.next == next_command


def test_the_errors_of_a_failed_plan_are_those_of_the_run() -> None:
    end = ModuleEnd("error", reason="plan of vm ended with exit code 1", errors=(DENIED,))
    runs = [run(2, {"net": ModuleEnd("ok"), "vm": end, "health": WAITS})]
    found = why(STACK, {"net": record("net", Status.OK, 2), "vm": record("vm", Status.OK)}, runs, "vm")
    (step,) = found.steps
    assert (step.status, step.was, step.errors, step.run) == (Status.PENDING, Status.OK, (DENIED,), "R2")
    assert found.next == "hybridwrap resume"


def test_what_waits_for_an_older_run_names_that_run() -> None:
    old = run(1, {"net": ModuleEnd("ok"), "vm": ModuleEnd("declined", reason="not approved"), "health": WAITS})
    start = RunStart("R2", "apply", "2026-03-02T12:00:00Z", writer(), (), ("net",), {"net": ()})
    newer = Run(start, RunEnd("R2", "2026-03-02T12:01:00Z", 4, {"net": ModuleEnd("error")}))
    found = why(STACK, {"net": record("net", Status.ERROR, 2)}, [newer, old], "health")
    assert told(found) == [("health", "pending"), ("vm", "pending")]
    assert found.next == "hybridwrap resume R1"


def test_a_killed_run_is_told_as_far_as_it_got() -> None:
    found = why(STACK, {"net": record("net", Status.OK)}, [run(1, None)], "health")
    assert told(found) == [("health", "pending"), ("vm", "pending")]
    assert found.steps[1].reason == "apply R1 has not reached it"
    assert found.next == "hybridwrap resume"


def test_an_error_about_a_missing_output_leads_to_the_module_that_owes_it() -> None:
    missing = Diagnostic("error", "Unsupported attribute", 'This object does not have an attribute named "db_id".')
    spelling = Diagnostic("error", "Unsupported attribute", 'This object does not have an attribute named "dbid".')
    outputs = {"db_id": Output(Provenance.MISSING), "url": Output(Provenance.KNOWN, value="x")}
    vm = record("vm", Status.ERROR, errors=(DENIED,), outputs=outputs)
    for error, chain in ((missing, ["health", "vm"]), (spelling, ["health"])):
        records = {"vm": vm, "health": record("health", Status.ERROR, 2, errors=(error,))}
        found = why(STACK, records, [], "health")
        assert [step.module for step in found.steps] == chain
    assert why(STACK, {"vm": vm}, [], "vm").next == "hybridwrap apply vm"


def test_a_run_that_only_looked_is_not_taken_for_the_one_that_has_done_it() -> None:
    first, later = run(1, {}), run(2, {})
    later = replace(later, start=replace(later.start, time="2026-03-02T12:00:00Z"))
    seen = record("vm", Status.OK, 2, since=first.start.time)
    (step,) = why(STACK, {"vm": seen}, [later, first], "vm").steps
    assert step.run == "R1"


def test_what_is_well_has_nothing_to_explain() -> None:
    assert why(STACK, {"net": record("net", Status.OK)}, [], "net").next == ""
    assert why(STACK, {}, [], "net").next == "hybridwrap apply net"


def test_a_destroy_that_failed_is_repeated() -> None:
    vm = record("vm", Status.ERROR, 2, command="destroy", reason="1 of 3 left")
    assert why(STACK, {"vm": vm}, [run(1, {"vm": ModuleEnd("ok")})], "vm").next == "hybridwrap destroy vm"


def test_a_module_that_only_the_ledger_knows_is_told_too() -> None:
    found = why(STACK, {"old": record("old", Status.ERROR, reason="exit code 1")}, [], "old")
    assert told(found) == [("old", "error")]


@pytest.mark.parametrize(
    ("vm", "left"),
    [
        (record("vm", Status.ERROR), ("vm", "health")),
        (record("vm", Status.UNKNOWN), ("vm", "health")),
        (record("vm", Status.OK, 2), ("health",)),
        (record("vm", Status.ERROR, 2, command="tf state rm"), ("vm", "health")),
        (record("vm", Status.ERROR, 2, command="destroy"), ("health",)),
        (record("vm", Status.DESTROYED, 2, command="destroy"), ("health",)),
        (record("vm", Status.OK, 0), ("vm", "health")),
    ],
    ids=["error", "unknown", "repaired", "by hand", "half destroyed", "destroyed", "not reached"],
)
def test_what_a_run_left_is_what_nobody_has_settled_since(vm: Record, left: tuple[str, ...]) -> None:
    ends = {"net": ModuleEnd("ok"), "vm": ModuleEnd("error"), "health": WAITS}
    records = {"net": record("net", Status.OK), "vm": vm}
    rest = rest_of(run(1, ends), records, STACK)
    assert (rest.left, rest.done) == (left, ("net",))
    assert newest_unfinished([run(3, {}, command="destroy"), run(1, ends)], records, STACK) == rest


def test_what_a_later_run_has_changed_is_no_business_of_an_older_one() -> None:
    ends = {"net": ModuleEnd("ok"), "vm": ModuleEnd("error"), "health": WAITS}
    rest = rest_of(run(1, ends), {"net": record("net", Status.OK, 2), "vm": record("vm", Status.ERROR)}, STACK)
    assert (rest.left, rest.done) == (("vm", "health"), ())


def test_modules_that_are_not_declared_any_more_are_named() -> None:
    start = RunStart("R1", "apply", "2026-03-01T12:00:00Z", writer(), (), ("net", "old"), {})
    rest = rest_of(Run(start, None), {}, STACK)
    assert (rest.left, rest.not_declared) == (("net",), ("old",))
