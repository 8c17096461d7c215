"""Where a stack stands, for people: the boundary, the reasons, the room that there is."""

from __future__ import annotations

import pytest
from click import unstyle
from msgspec.structs import replace

from hybridwrap.cli.lines import cells, faint, local_moment, zone
from hybridwrap.cli.overview import Overview
from hybridwrap.cli.status_view import Frame, environments_lines, next_command, status_lines
from hybridwrap.cli.watching import Seen, fitting, looked, screenful
from hybridwrap.domain.drift import Acceptance, Difference, Drift
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from hybridwrap.domain.status import Status
from hybridwrap.errors import LedgerUnreachable
from tests.support.ledgers import writer
from tests.support.standings import overview_of, standing

HALF_APPLIED = overview_of(
    standing("network"),
    standing("vm", Status.ERROR, "network"),
    standing("configuration", Status.PENDING, "vm", owner="vm", waits_for="vm.address"),
    standing("dns"),
    standing("health", Status.PENDING, "configuration", waits_for="configuration"),
)


def lines_of(seen: Overview, width: int = 0, height: int = 0) -> list[str]:
    return [unstyle(line) for line in status_lines(seen, Frame(width, height))]


def names(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines]


def test_what_is_well_stands_above_the_line_and_the_rest_below_in_the_order_of_the_graph() -> None:
    lines = lines_of(HALF_APPLIED)
    assert lines[0] == "shop in prod   1 error, 2 pending, 2 ok   s3://acme/hybridwrap/"
    assert lines[1].split() == ["module", "status", "since", zone(), "by", "outputs", "objects"]
    assert names(lines[2:4]) == ["network", "dns"]
    assert set(lines[4]) == {"─"}
    rows = [line for line in lines[5:-1] if not line.startswith("    ")]
    assert names(rows) == ["vm", "configuration", "health"]
    assert lines[-1] == "next: hybridwrap why -e prod health"


def test_an_error_has_its_object_its_place_and_its_log_below_it() -> None:
    lines = lines_of(HALF_APPLIED)
    row = names(lines).index("vm")
    assert lines[row + 1].strip() == "aws_instance.web: InsufficientInstanceCapacity   modules/vm/main.tf:21"
    assert lines[row + 2].strip() == "log: /log/vm/events.jsonl"


def test_a_pending_module_says_what_it_was_and_what_it_waits_for() -> None:
    row = next(line for line in lines_of(HALF_APPLIED) if "configuration" in line)
    assert "pending (was ok)" in row
    assert row.endswith("waits for vm.address")


def test_children_stand_indented_below_their_owner() -> None:
    seen = overview_of(
        standing("vm"),
        standing("dns"),
        standing("configuration", Status.OK, "vm", owner="vm"),
        standing("agent", Status.OK, "configuration", owner="configuration"),
    )
    assert [line[:17].rstrip() for line in lines_of(seen)[2:]] == ["vm", "  configuration", "    agent", "dns"]


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_nothing_is_wider_than_the_terminal_but_what_has_to_be_copied_whole(width: int) -> None:
    long = standing("a-module-with-a-name-that-goes-on-and-on-for-all-of-64-columns", Status.ERROR)
    seen = overview_of(*HALF_APPLIED.standings, long)
    for line in lines_of(seen, width):
        assert cells(line) <= width or line.startswith("next: ") or "/" in line.split()[-1], line


def test_wide_names_keep_the_columns() -> None:
    seen = overview_of(standing("网络"), standing("vm"))
    seen = replace(seen, standings=tuple(replace(s, by="안나@laptop") for s in seen.standings))
    assert {cells(line[: line.index("2 known")]) for line in lines_of(seen)[2:]} == {40}


def test_of_many_modules_only_what_is_not_well_has_lines() -> None:
    well = [standing(f"m{index:03}") for index in range(150)]
    broken = [standing("vm", Status.ERROR)]
    waiting = [
        standing(f"w{index:02}", Status.PENDING, waits_for=f"w{index - 1:02}" if index else "vm.id")
        for index in range(49)
    ]
    lines = lines_of(overview_of(*well, *broken, *waiting), width=80, height=24)
    assert len(lines) < 24
    assert lines[2] == "150 ok: m000, m001, m002, m003, m004, m005 and 144 more"
    assert "pending  49 behind vm: w00, w01, w02, w03, w04 and 44 more" in lines


def test_what_is_read_by_programs_is_never_folded() -> None:
    many = overview_of(*(standing(f"m{index:03}") for index in range(300)))
    assert len(lines_of(many)) == 302


def test_an_object_that_was_begun_is_named() -> None:
    seen = standing("vm", Status.UNKNOWN, reason="the engine was killed by signal 9")
    seen = replace(seen, open=(CloudObject("aws_instance.web", "aws_instance", "id", "i-0abc", open=True),))
    text = "\n".join(lines_of(overview_of(seen)))
    assert "the engine was killed by signal 9" in text
    assert "began, and nobody knows how it ended: aws_instance.web (i-0abc)" in text
    assert text.endswith("next: hybridwrap reconcile -e prod vm")


def test_a_running_module_says_its_command_its_holder_and_its_last_sign_of_life() -> None:
    running = replace(standing("vm", Status.RUNNING, reason="apply by ana on laptop"), phase="apply")
    seen = replace(overview_of(running), signs={"vm": "2026-01-01T23:59:48Z"})
    text = "\n".join(lines_of(seen))
    assert "running apply" in text
    assert "apply by ana on laptop" in text
    assert "last sign of life 12s ago" in text


DRIFTED = Drift("2026-01-01T00:00:00Z", (Difference("aws_vpc.a", Action.UPDATE, attributes=("tags",)),))
ACCEPTED = replace(DRIFTED, accepted=(Acceptance("aws_vpc.a", "2026-02-01", "moving"),))


def test_new_drift_is_below_the_line_and_accepted_drift_above_it() -> None:
    seen = overview_of(replace(standing("vpc"), drift=DRIFTED), replace(standing("dns"), drift=ACCEPTED))
    lines = lines_of(seen)
    assert "ok drift accepted" in lines[2]
    assert "ok drift " in lines[4]
    assert lines[4].endswith("not as the state says: aws_vpc.a")


def test_what_this_host_knows_besides_the_ledger_is_said_of_a_module_that_is_ok() -> None:
    seen = overview_of(replace(standing("vm"), reason="a result of 01K7 lies on this host; next: hybridwrap sync"))
    assert "a result of 01K7 lies on this host" in lines_of(seen)[-1]


@pytest.mark.parametrize(
    ("status", "command"),
    [
        (Status.NONE, "hybridwrap plan -e prod"),
        (Status.OK, ""),
        (Status.ERROR, "hybridwrap why -e prod vm"),
        (Status.UNKNOWN, "hybridwrap reconcile -e prod vm"),
        (Status.DESTROYED, ""),
    ],
)
def test_there_is_one_next_command(status: Status, command: str) -> None:
    assert next_command(overview_of(standing("vm", status))) == command


def test_a_module_that_is_new_is_not_to_be_planned_where_another_one_says_whose_new_name_it_may_be() -> None:
    moved = standing("vm", reason="moved? new has its source; next: hybridwrap mv vm new")
    assert next_command(overview_of(moved, standing("new", Status.NONE))) == ""


def test_a_module_that_was_never_applied_is_what_is_next_when_all_others_are_well() -> None:
    assert next_command(overview_of(standing("vm"), standing("new", Status.NONE))) == "hybridwrap plan -e prod new"


def test_each_line_of_a_reason_stands_below_its_module() -> None:
    seen = overview_of(
        replace(standing("vm", Status.PENDING), reason="init of vm ended with exit code 1\nno such host")
    )
    below = lines_of(seen)[3:5]
    assert below == ["    init of vm ended with exit code 1", "    no such host"]


def test_a_stack_without_modules_says_so() -> None:
    assert lines_of(overview_of())[-1] == "the stack has no modules"


def test_environments_stand_beside_each_other_and_what_is_not_well_follows() -> None:
    dev = overview_of(standing("network"), environment="dev")
    lines = [unstyle(line) for line in environments_lines([dev, HALF_APPLIED], Frame())]
    assert lines[0].split() == ["module", "dev", "prod"]
    assert lines[1].split() == ["network", "ok", "ok"]
    assert lines[2].split() == ["vm", "error"]
    assert "shop in prod   1 error, 2 pending   s3://acme/hybridwrap/" in lines
    assert not [line for line in lines if line.startswith("shop in dev")]


def test_when_drift_was_last_looked_for_is_said_with_what_was_changed_since() -> None:
    def run_at(time: str, *modules: str) -> Run:
        ends = {name: ModuleEnd("unchanged", began=time) for name in modules}
        start = RunStart(f"R{time}", "drift", time, writer(), ("drift",), modules, {})
        return Run(start, RunEnd(start.run, time, 0, ends))

    looks = run_at("2026-01-01T09:00:00Z", "dns"), run_at("2026-01-01T08:00:00Z", "vpc", "dns")
    vpc, dns, vm = (standing(name) for name in ("vpc", "dns", "vm"))
    changed = replace(vm, since="2026-01-01T10:00:00Z")
    gone = standing("old", Status.DESTROYED)
    (told,) = [line for line in lines_of(overview_of(vpc, dns, changed, gone, runs=looks)) if "drift" in line]
    assert told == f"drift was last looked for {local_moment('2026-01-01T08:00:00Z')}; not since the last change: vm"
    assert not any("drift" in line for line in lines_of(overview_of(vpc, dns, vm))), "nobody has ever looked"


def test_warnings_about_many_objects_are_two_and_a_command() -> None:
    tainted = replace(standing("vm", Status.ERROR), warnings=tuple(f"aws_vpc.a[{i}] is tainted" for i in range(9)))
    text = "\n".join(lines_of(overview_of(tainted)))
    assert text.count("is tainted") == 2
    assert "and 7 more warnings: hybridwrap show -e prod R1 -m vm" in text


def test_what_is_watched_keeps_its_last_line_in_a_low_terminal() -> None:
    lines = [*map(str, range(30)), "next: hybridwrap why vm"]
    shown = [unstyle(line) for line in fitting(lines, Frame(80, 10))]
    assert shown == [*map(str, range(8)), "22 more lines: hybridwrap status -v", "next: hybridwrap why vm"]
    assert fitting(lines, Frame(80, 31)) == lines
    assert fitting(["x" * 200, *lines], Frame(80, 34))[-2:] == [faint("2 more lines: hybridwrap status -v"), lines[-1]]


def test_what_was_seen_last_stays_while_the_ledger_can_not_be_read() -> None:
    def unreachable(_frame: Frame) -> list[str]:
        raise LedgerUnreachable("s3://acme: no answer")

    frame = Frame(60, 10)
    seen = looked(Seen(), lambda _frame: ["vm  ok", "next: hybridwrap plan"], frame, lambda: "12:00:01 UTC")
    assert [unstyle(line) for line in screenful(seen, frame)][-1] == "as of 12:00:01 UTC   Ctrl-C ends this"
    later = looked(seen, unreachable, frame, lambda: "12:00:09 UTC")
    assert [unstyle(line) for line in screenful(later, frame)] == [
        "vm  ok",
        "next: hybridwrap plan",
        "can't be read at 12:00:09 UTC: s3://acme: no answer",
        "as of 12:00:01 UTC   Ctrl-C ends this",
    ]
    assert looked(later, lambda _frame: ["vm  ok"], frame, lambda: "12:00:11 UTC") == Seen(("vm  ok",), "12:00:11 UTC")
    assert len(screenful(looked(Seen(), unreachable, frame, lambda: "12:00:09 UTC"), frame)) == 2
