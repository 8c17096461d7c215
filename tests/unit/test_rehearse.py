"""What a drill types: what a person would as long as something is left, and for many modules no more than helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.domain.entry import CloudObject, End, Observe
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.rehearsal import Failure, Seen, Typed
from hybridwrap.domain.stack import Module
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.rehearse import Drill, play
from tests.support.ledgers import begin, ledger_on

Ending = tuple[int, Mapping[str, End]]  # exit code, and how modules ended
OK = End(Outcome.SUCCEEDED, Status.OK)
ERROR = End(Outcome.FAILED, Status.ERROR)
GONE = End(Outcome.SUCCEEDED, Status.DESTROYED, evidence=("gone",))
LOST = End(Outcome.UNKNOWN, Status.UNKNOWN, objects=(CloudObject("x.second", open=True),))
DOUBTED = replace(ERROR, reason="nobody was asked to look")


@dataclass
class PlayedStage:
    """A copy in which commands end as they are told to."""

    endings: list[Ending]
    kills: list[int] = field(default_factory=list)  # how many come to happen, call by call
    tried: list[Sequence[Failure]] = field(default_factory=list)
    ledger: Ledger = field(default_factory=ledger_on)
    typed: list[str] = field(default_factory=list)

    def say(self, text: str) -> None: ...

    def type(self, *words: str) -> int:
        self.typed.append(" ".join(words))
        if words[0] == "reconcile" and len(words) > 1:
            self.ledger.observe(self.ledger.record(words[1]), Observe("R", "looked", Status.ERROR, objects=()))
        return self._end(words[0]) if words[0] in ("apply", "resume", "destroy") else 0

    def type_until_killed(self, kills: Sequence[Failure], *words: str) -> Typed:
        self.tried.append(kills)
        return Typed(self.type(*words), tuple(kills)[: self.kills.pop(0)])

    def type_without_ledger(self, *words: str) -> int:
        self.typed.append(f"without ledger: {' '.join(words)}")
        return 30

    def repair(self, failure: Failure) -> None:
        self.typed.append(f"repair {failure.module} {failure.command}")

    def look(self) -> Seen:
        return Seen({}, "")

    def stored(self, module: str, seq: int) -> float:
        return 0.0

    def _end(self, command: str) -> int:
        code, ends = self.endings.pop(0)
        for name, end in ends.items():
            record, operation = self.ledger.record(name), self.ledger.ids.new()
            body = begin("destroy" if command == "destroy" else "apply", before=record.settled)
            record = self.ledger.begin(record, body, operation=operation)
            self.ledger.end(record, end, operation=operation, entry_id=self.ledger.ids.new())
        return code


def drill(*failures: Failure, more: int = 0) -> Drill:
    names = ["net", "vm", *(f"m{number}" for number in range(more))]
    modules = {name: Module(name, Path(name)) for name in names}
    modules["vm"] = replace(modules["vm"], depends_on=("net",))
    return Drill(modules, failures)


def both(end: End) -> Mapping[str, End]:
    return {"net": end, "vm": end}


def test_a_failure_is_looked_at_repaired_and_gone_on_with() -> None:
    stage = PlayedStage([(4, {"net": OK, "vm": ERROR}), (0, {"vm": OK}), (4, {"vm": ERROR}), (0, both(GONE))])
    played = play(stage, drill(Failure("vm", "apply"), Failure("vm", "destroy")), practise=False)
    assert stage.typed == [
        "apply --auto-approve",
        "status",
        "reconcile",
        "without ledger: apply --auto-approve",
        "repair vm apply",
        "resume --auto-approve",
        "status",
        "destroy --auto-approve",
        "status",
        "reconcile",
        "repair vm destroy",
        "destroy --auto-approve",
        "status",
        "ledger verify",
    ]
    assert played.refusal
    assert played.refusal.exit_code == 30
    assert not played.stopped


def test_what_nobody_knows_is_looked_for_and_said() -> None:
    endings = [(-9, {"net": OK, "vm": LOST}), (0, {"vm": OK}), (4, {"vm": DOUBTED}), (0, both(GONE))]
    stage = PlayedStage(endings, kills=[1])
    play(stage, drill(Failure("vm", "apply", kill=True)), practise=False)
    assert "reconcile vm --absent x.second --reason looked for it: x.second is not there" in stage.typed
    assert "verify vm --gone --reason looked for it: nothing is there" in stage.typed


def test_a_kill_that_it_did_not_come_to_is_tried_again() -> None:
    stage = PlayedStage([(4, {"net": ERROR}), (-9, {"net": OK, "vm": LOST}), (0, {"vm": OK}), (0, both(GONE))], [0, 1])
    kill = Failure("vm", "apply", kill=True)
    play(stage, drill(Failure("net", "apply"), kill), practise=False)
    assert stage.tried == [[kill], [kill]]


def test_practise_stops_at_the_first_failure() -> None:
    stage = PlayedStage([(4, {"net": OK, "vm": ERROR})])
    assert play(stage, drill(Failure("vm", "apply")), practise=True).stopped
    assert stage.typed == ["apply --auto-approve"]


def test_of_many_modules_no_more_is_told_than_helps() -> None:
    wide = drill(Failure("vm", "apply"), more=20)
    others = [name for name in wide.modules if name != "vm"]
    up, down = dict.fromkeys(others, OK), dict.fromkeys(wide.modules, GONE)
    stage = PlayedStage([(4, {**up, "vm": ERROR}), (0, {"vm": OK}), (0, down)])
    play(stage, wide, practise=False)
    assert stage.typed[0] == "apply --auto-approve --quiet"
    assert stage.typed[1].startswith("status --status error")
    assert stage.typed[-2:] == ["status vm", "ledger verify vm"]


def test_protected_modules_are_left_and_the_rest_is_torn_down() -> None:
    protected = drill(Failure("vm", "destroy"))
    modules = {**protected.modules, "net": replace(protected.modules["net"], protected=True)}
    stage = PlayedStage([(0, both(OK)), (4, {"vm": ERROR}), (4, {"vm": GONE})])
    play(stage, replace(protected, modules=modules), practise=False)
    assert stage.typed.count("destroy --auto-approve --keep-protected") == 2


def test_what_cannot_be_repaired_comes_to_an_end() -> None:
    stage = PlayedStage([(4, {"net": OK, "vm": ERROR}), *[(4, {"vm": ERROR})] * 7])
    play(stage, drill(Failure("vm", "apply")), practise=False)
    assert stage.typed.count("resume --auto-approve") == 3


@pytest.mark.parametrize("code", [10, 30, 40])
def test_a_drill_whose_commands_cannot_run_says_so(code: int) -> None:
    with pytest.raises(PreflightRefused, match=f"ended with exit code {code}"):
        play(PlayedStage([(code, {})]), drill(Failure("vm", "apply")), practise=False)
