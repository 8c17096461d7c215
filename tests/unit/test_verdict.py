"""Verdicts: by what is seen, one word, one command that is safe to type, and what it rests on."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from hybridwrap.domain import guard, rescue
from hybridwrap.domain.damage import Damage
from hybridwrap.domain.engine_run import Action, Diagnostic, LockInfo, PlannedChange
from hybridwrap.domain.entry import CloudObject, StateMark
from hybridwrap.domain.fold import broken_off
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.look import Look, PlanSeen
from hybridwrap.domain.open_objects import Open
from hybridwrap.domain.record import Holder, Record
from hybridwrap.domain.state import EngineState, Instance, StatePlace, Unreadable
from hybridwrap.domain.state_lock import StateLock
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.verdict import Verdict, judge
from hybridwrap.domain.verdict_evidence import evidence
from tests.support.ledgers import LOCKS, writer

PLACE = StatePlace("s3", "vm.tfstate", "states")
MARK = StateMark(PLACE, "L", 5)
STATE = EngineState("L", 5, instances=(Instance("x.d", "x", "p", "4"),))
SAME = guard.compare(MARK, MARK)
MADE = CloudObject("x.a", "x", "id", "1", open=True)
OTHER = CloudObject("x.e", "x", "id", "2", open=True)
BEGUN = CloudObject("x.b[0]", "x", open=True)
UNFINISHED = CloudObject("x.c", "x", "id", "3", open=True, unfinished=True)
CHANGES = PlanSeen(changes=True, actions=(PlannedChange("x.z", Action.CREATE),))
EMPTY = PlanSeen(changes=False)
LOCK = StateLock(LockInfo("lock-1", who="ci@runner", operation="OperationTypeApply", created="today"), "s3://l")


def look(status: Status = Status.UNKNOWN, *, command: str = "apply", **seen: Any) -> Look:
    record = Record("vm", 3, status=status, settled=status, command=command, operation="O1", state=MARK)
    return Look(record, **{"comparison": SAME, "found": STATE, "plan": CHANGES, **seen})


def held(liveness: Liveness) -> Look:
    seen = look(Status.RUNNING)
    holder = Holder("O1", 3, "apply", "R1", "today", writer(), LOCKS)
    return replace(seen, record=replace(seen.record, holder=holder), liveness=liveness)


def kept(fit: rescue.Fit, **seen: Any) -> Look:
    return look(kept=rescue.Comparison(fit, EngineState("L", 6), STATE), kept_at="here", plan=None, **seen)


def found(match: guard.Match) -> guard.Comparison:
    return guard.Comparison(match, MARK, StateMark(PLACE, "M", 1))


P, A, N, D, U = Verdict.PARTLY_APPLIED, Verdict.APPLIED, Verdict.NOT_BEGUN, Verdict.DESTROYED, Verdict.UNKNOWN
NAMED = "hybridwrap reconcile vm"
ACCEPT = f"{NAMED} --accept-state --reason 'how you know'"
ASIDE = "aws s3 mv s3://states/vm.tfstate s3://states/vm.tfstate.damaged"
OLD, NEW = StatePlace("local", "old.tfstate"), StatePlace("local", "new.tfstate")


def moved(now: StateMark) -> Look:
    seen, recorded = look(Status.OK), StateMark(OLD, "L", 5)
    record = replace(seen.record, state=recorded)
    return replace(seen, record=record, comparison=guard.compare(recorded, now))


def destroyed_unseen() -> Look:
    seen = look(Status.ERROR, command="destroy", plan=None, found=None)
    return replace(seen, record=replace(seen.record, outcome=Outcome.SUCCEEDED))


@pytest.mark.parametrize(
    ("seen", "verdict", "command"),
    [
        pytest.param(look(unsent=True), U, "hybridwrap sync", id="a result that is not sent"),
        pytest.param(held(Liveness.RUNNER), U, "hybridwrap status", id="at work"),
        pytest.param(held(Liveness.ENGINE), U, "hybridwrap sync", id="an engine without its hybridwrap"),
        pytest.param(held(Liveness.DEAD), U, "hybridwrap sync", id="dead"),
        pytest.param(held(Liveness.NOT_VISIBLE), U, "hybridwrap unlock vm", id="on another host"),
        pytest.param(look(Status.DESTROYED, found=None), D, "hybridwrap status", id="destroyed"),
        pytest.param(look(Status.DESTROYED), U, "hybridwrap adopt vm", id="destroyed, and a state is back"),
        pytest.param(look(comparison=None), U, "hybridwrap plan vm", id="unknown, nothing can be looked at"),
        pytest.param(
            look(Status.ERROR, comparison=None), P, "hybridwrap plan vm", id="error, nothing can be looked at"
        ),
        pytest.param(
            look(comparison=None, obstacle_hint="hybridwrap doctor"), U, "hybridwrap doctor", id="and it is said why"
        ),
        pytest.param(look(lock=LOCK, open=Open((MADE,))), U, "hybridwrap unlock vm", id="locked by somebody else"),
        pytest.param(
            look(Status.ERROR, lock=replace(LOCK, holds=False)), P, "hybridwrap apply vm", id="a lock that is none"
        ),
        pytest.param(kept(rescue.Fit.NEWER), P, f"{NAMED} --push-state", id="a state to put back"),
        pytest.param(kept(rescue.Fit.SAVED), P, f"{NAMED} --push-state", id="a state that is back already"),
        pytest.param(kept(rescue.Fit.FOREIGN, open=Open((MADE,))), U, f"{NAMED} --import", id="a forked state"),
        pytest.param(
            kept(rescue.Fit.FORKED),
            U,
            f"{NAMED} --drop-state --reason 'how you know'",
            id="a fork without more objects",
        ),
        pytest.param(look(Status.OK, comparison=found(guard.Match.FOREIGN)), U, ACCEPT, id="another lineage"),
        pytest.param(look(Status.OK, comparison=found(guard.Match.OLDER)), U, ACCEPT, id="older"),
        pytest.param(look(Status.OK, comparison=found(guard.Match.ABSENT)), U, ACCEPT, id="gone"),
        pytest.param(look(Status.OK, found=Unreadable("?")), U, ASIDE, id="what lies there is no state"),
        pytest.param(moved(StateMark(NEW)), U, "mv old.tfstate new.tfstate", id="moved, its state not yet"),
        pytest.param(moved(StateMark(NEW, "L", 5)), U, "hybridwrap apply vm --state-moved", id="moved with its state"),
        pytest.param(moved(StateMark(NEW, "M", 5)), U, ACCEPT, id="moved to where another state is"),
        pytest.param(moved(StateMark(PLACE)), U, "hybridwrap commands vm", id="moved to another backend"),
        pytest.param(
            look(open=Open((MADE,)), not_imported=frozenset({"x.a"})),
            U,
            f"{NAMED} --absent x.a=1 --reason 'how you know'",
            id="made, and not to be imported",
        ),
        pytest.param(
            look(open=Open((MADE, OTHER)), not_imported=frozenset({"x.a", "x.e"})),
            U,
            f"{NAMED} --absent-all --reason 'how you know'",
            id="many made, and none to be imported",
        ),
        pytest.param(
            look(open=Open(unanswered=(BEGUN,)), not_imported=frozenset({"x.b[0]"})),
            U,
            f"{NAMED} --absent 'x.b[0]' --reason 'how you know'",
            id="begun, and not found by the id that was given",
        ),
        pytest.param(look(Status.NONE), U, "hybridwrap adopt vm", id="a state that the ledger does not know"),
        pytest.param(look(Status.NONE, found=None), N, "hybridwrap apply vm", id="nothing at all"),
        pytest.param(look(open=Open((MADE,), (BEGUN,))), P, f"{NAMED} --import", id="made and in no state"),
        pytest.param(
            look(open=Open(unanswered=(BEGUN,))), U, f"{NAMED} --import --id 'x.b[0]=ID'", id="begun, no answer"
        ),
        pytest.param(
            look(open=Open(displaced=(MADE,))), U, f"{NAMED} --absent x.a=1 --reason 'how you know'", id="made twice"
        ),
        pytest.param(
            look(open=Open(unfinished=(UNFINISHED,))),
            U,
            f"{NAMED} --complete x.c --reason 'how you know'",
            id="unfinished",
        ),
        pytest.param(look(Status.RETAINED), A, "hybridwrap adopt vm", id="retained"),
        pytest.param(look(command="destroy", plan=None), P, "hybridwrap destroy vm", id="a destroy on its way"),
        pytest.param(
            look(command="destroy", plan=None, found=None), D, "hybridwrap destroy vm", id="a destroy at its end"
        ),
        pytest.param(look(command="destroy", plan=None, found=Unreadable("?")), U, ASIDE, id="who knows"),
        pytest.param(destroyed_unseen(), D, "hybridwrap verify vm", id="destroyed, and not seen to be"),
        pytest.param(
            look(open=Open((MADE,)), source_gone=True),
            P,
            "hybridwrap destroy vm --import-known",
            id="its folder is gone",
        ),
        pytest.param(look(plan=None, source_gone=True), U, "hybridwrap destroy vm", id="its folder is gone, no plan"),
        pytest.param(replace(look(Status.ERROR), orphan=True), P, "hybridwrap destroy --orphan vm", id="an orphan"),
        pytest.param(
            replace(destroyed_unseen(), orphan=True), D, "hybridwrap verify --orphan vm", id="an orphan, not seen to be"
        ),
        pytest.param(look(plan=None), U, "hybridwrap plan vm", id="unknown without a plan"),
        pytest.param(look(Status.ERROR, plan=None), P, "hybridwrap plan vm", id="error without a plan"),
        pytest.param(look(plan=EMPTY), A, "hybridwrap apply vm", id="unknown and all is there"),
        pytest.param(look(Status.ERROR, plan=EMPTY), A, "hybridwrap apply vm", id="error and all is there"),
        pytest.param(look(Status.OK, plan=EMPTY), A, "hybridwrap plan vm", id="ok"),
        pytest.param(
            look(Status.OK, plan=EMPTY, comparison=found(guard.Match.ADVANCED)),
            A,
            "hybridwrap apply vm",
            id="changed outside",
        ),
        pytest.param(look(Status.OK), A, "hybridwrap apply vm", id="ok with something to do"),
        pytest.param(look(nothing_begun=True), N, "hybridwrap apply vm", id="nothing begun"),
        pytest.param(look(), P, f"{NAMED} --apply-verdicts", id="unknown, and nothing open"),
        pytest.param(look(Status.ERROR), P, "hybridwrap apply vm", id="failed"),
    ],
)
def test_one_verdict_and_one_command(seen: Look, verdict: Verdict, command: str) -> None:
    judgement = judge(seen)
    assert (judgement.verdict, judgement.next) == (verdict, command)


@pytest.mark.parametrize("open_", [Open((MADE,)), Open(unanswered=(BEGUN,)), Open(unfinished=(UNFINISHED,))])
@pytest.mark.parametrize("plan", [EMPTY, CHANGES, None])
def test_nothing_is_certain_while_something_is_open(open_: Open, plan: PlanSeen | None) -> None:
    assert not judge(look(open=open_, plan=plan, nothing_begun=True)).certain


def test_certain_is_only_what_a_plan_has_shown() -> None:
    assert judge(look()).certain
    assert judge(look(plan=EMPTY)).certain
    assert judge(look(nothing_begun=True)).certain
    assert not judge(look(plan=None)).certain
    assert not judge(look(comparison=None)).certain


def test_a_state_emptied_by_a_kill_is_no_reason_to_doubt_the_place() -> None:
    emptied = EngineState("", 0, zero_bytes=True)
    seen = look(found=emptied, comparison=found(guard.Match.ABSENT), open=Open((MADE,)), plan=None)
    assert judge(seen).next == f"{NAMED} --import"
    assert any("holds nothing, as a kill in a save leaves it" in line for line in evidence(seen))


def test_names_are_quoted_for_the_shell() -> None:
    seen = look(open=Open((MADE,)))
    seen = replace(seen, record=replace(seen.record, module="my vm"))
    assert judge(seen).next == "hybridwrap reconcile 'my vm' --import"


def test_evidence_names_every_open_object_with_what_is_known_of_it() -> None:
    planned = tuple(PlannedChange(address, Action.CREATE, "x") for address in ("x.a", "x.b[0]", "x.d", "x.e"))
    seen = look(open=Open((MADE,), (BEGUN,)), names={"x.a": "name web", "x.b[0]": "name db, tags team=shop"})
    seen = replace(seen, record=replace(seen.record, planned=planned, errors=(Diagnostic("error", "no quota"),)))
    told = evidence(seen)
    assert "error: no quota" in told
    assert "4 to create: 1 saved, 1 made and not saved, 1 begun, 1 not begun" in told
    assert "made, not in the state: x.a (x), id 1, name web" in told
    (begun,) = (line for line in told if line.startswith("begun"))
    assert begun.startswith("begun, no answer: x.b[0] (x), name db, tags team=shop; ")
    assert begun.endswith("if it is not: hybridwrap reconcile vm --absent 'x.b[0]' --reason 'how you know'")
    assert told[-1] == "plan, as long as that is open: 1 to create"


def test_evidence_says_whose_lock_it_is() -> None:
    own = look(lock=LOCK)
    own = replace(own, record=replace(own.record, state_lock="lock-1"))
    assert any(line.startswith("state lock: left behind by this operation") for line in evidence(own))
    assert any(line.startswith("state lock: lock lock-1 of ci@runner") for line in evidence(look(lock=LOCK)))


def test_evidence_of_a_fork_names_what_only_one_side_has() -> None:
    one, other = Instance("x.a", "x", "p", "1"), Instance("x.a", "x", "p", "2")
    forked = rescue.Comparison(rescue.Fit.FOREIGN, EngineState("L", 6, instances=(one,)), STATE, (one,), (other,))
    told = evidence(look(kept=forked, kept_at="/home/errored", plan=None))
    assert "only in that state: x.a 1" in told
    assert "only in the state in its place: x.a 2" in told
    assert any("serial 6, 1 object, at /home/errored; the state in its place is of another lineage" in t for t in told)


def test_evidence_says_what_was_changed_since() -> None:
    drift = (PlannedChange("x.a", Action.DELETE), PlannedChange("x.b", Action.UPDATE))
    told = evidence(look(Status.OK, plan=PlanSeen(changes=True, drifted=drift)))
    assert told[-3:] == (
        "plan: only outputs change",
        "gone since the state was saved: x.a",
        "changed since the state was saved: x.b",
    )


def test_what_is_behind_damage_is_unknown_and_the_ledger_comes_first() -> None:
    damage = Damage("log/vm/00000003.json", "entry 3: missing", "vm", "hybridwrap ledger repair vm")
    record = broken_off(look(Status.OK).record, damage)
    seen = Look(record)
    assert (judge(seen).verdict, judge(seen).next, judge(seen).certain) == (Verdict.UNKNOWN, damage.hint, False)
    assert evidence(seen)[0] == "its log is damaged: entry 3: missing (log/vm/00000003.json)"
    assert "its state was not looked at" in evidence(seen)
    assert "nothing of it can be read" in evidence(Look(broken_off(Record("vm"), damage)))
