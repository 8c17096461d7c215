"""A run at a terminal of any size: what is at work, what is done, what went wrong."""

from __future__ import annotations

import pytest

from hybridwrap.cli.addresses import short_address
from hybridwrap.cli.lines import cells
from hybridwrap.domain.engine_run import Action, Diagnostic, PlannedChange
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from tests.support.ledgers import writer
from tests.support.theatre import CHAIN, FOUR, Theatre, half_way

WIDTHS = [60, 80, 160]


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_module_at_work_is_one_line_with_phase_progress_object_and_time(columns: int) -> None:
    lines = Theatre(FOUR, CHAIN, columns=columns).play(half_way)
    assert lines[0].split() == ["network", "ok", "3", "created", "4.1s"]
    assert lines[1].split()[:3] == ["vm", "apply", "3/12"]
    assert lines[1].endswith("1m15")
    assert "web[7]" in lines[1]
    assert "+1" in lines[1]
    assert lines[2].startswith("1 ok, 1 running, 2 pending   1m15")
    assert len(lines) == 3
    assert all(cells(line) <= columns for line in lines)


def test_a_wide_terminal_has_room_for_a_bar_and_the_whole_address() -> None:
    line = Theatre(FOUR, CHAIN, columns=160).play(half_way)[1]
    assert "━━━━━━──────────────────" in line
    assert "module.fleet.aws_instance.web[7] creating 1m15 +1" in line


LONG = 'module.eks.module.groups["general"].aws_autoscaling_group.workers["eu-west-1a/general-17"]'


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (60, '…work…l-17"] 1m15'),
        (80, '…workers["eu-…/general-17"] 1m15'),
        (100, '…workers["eu-west-1a/general-17"] 1m15'),
        (160, '…workers["eu-west-1a/general-17"] 1m15'),
    ],
)
def test_of_a_long_address_the_name_and_the_end_of_the_key_are_kept(columns: int, shown: str) -> None:
    def act(theatre: Theatre) -> None:
        theatre.plan("platform-eks.eu-west-1", [LONG, *map("aws_subnet.a[{}]".format, range(120))])
        theatre.run.phase("platform-eks.eu-west-1", "apply")
        theatre.hook("platform-eks.eu-west-1", LONG, "start")
        theatre.clock.sleep(75)

    line = Theatre(("platform-eks.eu-west-1", "vm"), columns=columns).play(act)[0]
    assert shown in line
    assert "0/121" in line
    assert line.split()[0] in ("platform-eks.eu-west-1", "platform-….eu-west-1")
    assert cells(line) <= columns


@pytest.mark.parametrize(
    ("address", "room", "short"),
    [
        ("aws_vpc.main", 12, "aws_vpc.main"),
        ("module.net[0].aws_vpc.main", 20, "…aws_vpc.main"),
        ('module.net["a.b"].data.aws_vpc.main[3]', 21, "…data.aws_vpc.main[3]"),
        ('module.net["a.b"].data.aws_vpc.main[3]', 20, "…main[3]"),
        ("module.net.aws_vpc.main", 8, "…main"),
        ("not_an_address", 8, "not…ress"),
    ],
)
def test_an_address_loses_its_modules_first_then_its_type_then_its_middle(address: str, room: int, short: str) -> None:
    assert short_address(address, room) == short


@pytest.mark.parametrize("columns", WIDTHS)
def test_names_that_are_wide_or_long_break_no_line(columns: int) -> None:
    def act(theatre: Theatre) -> None:
        theatre.begin()
        theatre.plan("vm", ['aws_instance.服务器["数据库数据库数据库数据库数据库"]'])
        theatre.run.phase("vm", "apply")
        theatre.hook("vm", 'aws_instance.服务器["数据库数据库数据库数据库数据库"]', "start")
        theatre.run.phase("a-module-with-a-name-that-goes-on-and-on-for-all-of-64-columns", "apply")

    lines = Theatre(("vm", "a-module-with-a-name-that-goes-on-and-on-for-all-of-64-columns"), columns=columns).play(act)
    assert len(lines) == 3
    assert all(cells(line) <= columns for line in lines)


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_failure_says_what_where_and_where_the_log_is(columns: int) -> None:
    error = Diagnostic("error", "InsufficientInstanceCapacity", "We have no m7i.", "aws_instance.web", "main.tf", 21)

    def act(theatre: Theatre) -> None:
        theatre.begin()
        theatre.run.phase("vm", "apply")
        end = ModuleEnd("error", 4, "01K7", errors=(error, Diagnostic("error", "another")), seconds=80)
        theatre.run.module_ended("vm", end)

    text = "\n".join(Theatre(FOUR, CHAIN, columns=columns).play(act))
    assert "aws_instance.web: InsufficientInstanceCapacity" in text
    assert "modules/vm/main.tf:21" in text
    assert "and 1 more: with -v" in text
    assert "We have no m7i." in text
    assert "log: /log/vm/01K7/events.jsonl" in text


def test_a_failure_in_plan_says_so_as_nothing_was_changed() -> None:
    def act(theatre: Theatre) -> None:
        theatre.run.phase("vm", "plan")
        theatre.run.module_ended("vm", ModuleEnd("error", 4, errors=(Diagnostic("error", "Unsupported argument"),)))

    assert "in plan: Unsupported argument" in "\n".join(Theatre(FOUR).play(act))


def test_objects_that_failed_are_counted_while_the_others_go_on() -> None:
    def act(theatre: Theatre) -> None:
        half_way(theatre)
        theatre.hook("vm", "module.fleet.aws_instance.web[7]", "errored")

    assert "1 failed" in Theatre(FOUR, CHAIN).play(act)[1]


def test_a_replacement_counts_once_both_its_steps_are_done() -> None:
    def act(theatre: Theatre) -> None:
        theatre.run.phase("vm", "plan")
        theatre.run.event("vm", PlannedChange("aws_instance.web", Action.REPLACE))
        theatre.run.phase("vm", "apply")
        theatre.hook("vm", "aws_instance.web", "complete", Action.DELETE)

    theatre = Theatre(("vm",))
    with theatre.run.at_work():
        act(theatre)
        assert " 0/1 " in theatre.look()[0]
        theatre.hook("vm", "aws_instance.web", "complete", Action.CREATE)
        assert " 1/1 " in theatre.look()[0]


def test_a_provisioner_is_named_while_it_runs_and_its_object_keeps_its_time() -> None:
    theatre = Theatre(("vm",), columns=160)
    with theatre.run.at_work():
        theatre.run.phase("vm", "apply")
        theatre.hook("vm", "aws_instance.web", "start")
        theatre.clock.sleep(5)
        theatre.hook("vm", "aws_instance.web", "start", provisioner="local-exec")
        assert "aws_instance.web running local-exec 5s" in theatre.look()[0]
        theatre.hook("vm", "aws_instance.web", "complete", provisioner="local-exec")
        assert "aws_instance.web creating 5s" in theatre.look()[0]


def test_the_time_that_is_left_comes_from_the_critical_path_of_earlier_runs() -> None:
    start = RunStart("R1", "apply", "2026-01-01T00:00:00Z", writer(), (), FOUR, {})
    ends = {name: ModuleEnd("ok", seconds=60) for name in FOUR}
    theatre = Theatre(FOUR, CHAIN, earlier=(Run(start, RunEnd("R1", "2026-01-01T00:04:00Z", 0, ends)),))
    theatre.begin()
    with theatre.run.at_work():
        theatre.run.learn()
        assert theatre.look()[-1].endswith("about 4m00 left")
        theatre.run.phase("network", "plan")
        theatre.clock.sleep(40)
        assert theatre.look()[-1].endswith("about 3m20 left")
        theatre.run.module_ended("network", ModuleEnd("ok"))
        assert theatre.look()[-1].endswith("about 3m00 left")


def test_many_modules_fit_into_the_terminal() -> None:
    modules = tuple(f"m{index:03}" for index in range(200))

    def act(theatre: Theatre) -> None:
        theatre.begin()
        for module in modules[:120]:
            theatre.run.module_ended(module, ModuleEnd("unchanged"))
        for module in modules[120:170]:
            theatre.run.phase(module, "apply")

    lines = Theatre(modules, rows=24).play(act)
    assert len(lines) <= 24 - 24 // 3, "there is room for what is told above"
    assert "37 more at work: m133, m134" in lines[-2]
    assert lines[-1].startswith("120 unchanged, 50 running, 30 pending")


MANY = tuple(f"m{index:02}" for index in range(30))
FULL = Diagnostic("error", "no capacity", "We have no m7i.", "aws_instance.web", "main.tf", 21)
FAILED = ModuleEnd("error", 4, "01K7", errors=(FULL,), seconds=3)


def test_which_of_many_modules_failed_is_in_sight_while_others_are_at_work() -> None:
    def act(theatre: Theatre) -> None:
        theatre.begin()
        theatre.run.phase("m20", "apply")
        for name in ("m01", "m07"):
            theatre.run.phase(name, "apply")
            theatre.run.module_ended(name, FAILED)

    *_, at_work, wrong, footer = Theatre(MANY).play(act)
    assert at_work.startswith("m20  apply")
    assert wrong == "2 went wrong: m07, m01"
    assert footer.startswith("2 error, 1 running, 27 pending")


def test_counts_keep_their_order_whatever_ends_first() -> None:
    def act(theatre: Theatre) -> None:
        theatre.begin()
        theatre.run.phase("health", "apply")
        theatre.run.module_ended("configuration", ModuleEnd("pending", reason="waits"))
        theatre.run.module_ended("vm", FAILED)
        theatre.run.module_ended("network", ModuleEnd("ok"))

    assert Theatre(FOUR).play(act)[-1].startswith("1 ok, 1 error, 1 running, 1 pending")


def test_a_module_that_is_done_is_not_seen_at_work_any_more() -> None:
    def act(theatre: Theatre) -> None:
        theatre.begin()
        theatre.run.phase("vm", "apply")
        theatre.look()
        theatre.run.module_ended("vm", ModuleEnd("ok"))
        assert [line.split()[:2] for line in theatre.screen.lines[:-1]] == [["vm", "ok"]]

    Theatre(FOUR).play(act)


def test_the_failures_of_many_modules_are_told_again_at_the_end_the_alike_ones_together() -> None:
    theatre = Theatre(MANY, columns=120)
    expired = Diagnostic("error", "ExpiredToken")
    with theatre.run.at_work():
        theatre.begin()
        for name in MANY[:6]:
            theatre.run.phase(name, "init")
            theatre.run.module_ended(name, ModuleEnd("error", 4, errors=(expired,)))
        for name in MANY[6:]:
            theatre.run.phase(name, "apply")
            theatre.run.module_ended(name, FAILED if name < "m17" else ModuleEnd("ok"))
    told = len(theatre.screen.lines)
    theatre.run.run_ended(RunEnd("R9", "2026-01-01T00:01:00Z", 4, theatre.run._board.ends), {})
    again = theatre.screen.lines[told:]
    assert again[0] == "error  m00, m01, m02, m03, m04 and 1 more: in init: ExpiredToken"
    assert again[1] == "error  m06: aws_instance.web: no capacity   modules/m06/main.tf:21"
    assert again[8] == "and 4 more, told above: m13, m14, m15, m16"
    assert again[9].startswith("13 ok, 17 error in ")


def test_a_few_failures_are_not_told_twice() -> None:
    theatre = Theatre(FOUR)
    theatre.begin()
    theatre.run.module_ended("vm", FAILED)
    told = len(theatre.screen.lines)
    theatre.run.run_ended(RunEnd("R9", "2026-01-01T00:01:00Z", 4, theatre.run._board.ends), {})
    assert theatre.screen.lines[told].startswith("1 error in ")


def test_of_many_modules_those_that_wait_are_told_by_what_they_wait_for() -> None:
    modules = tuple(f"m{index:02}" for index in range(30))
    theatre = Theatre(modules)
    with theatre.run.at_work():
        theatre.begin()
        theatre.run.module_ended("m00", ModuleEnd("error", 4, reason="no capacity"))
        for index in range(1, 30):
            waits_for = "m00.id" if index < 20 else f"m{index - 19:02}"
            theatre.run.module_ended(modules[index], ModuleEnd("pending", reason="waits", waits_for=waits_for))
    assert theatre.screen.lines[1] == "pending  29 behind m00: m01, m02, m03, m04, m05 and 24 more"


def test_after_the_end_only_what_was_done_is_left_and_the_cursor_is_back() -> None:
    theatre = Theatre(FOUR, CHAIN)
    theatre.play(half_way)
    assert theatre.screen.cursor_shown
    assert theatre.screen.lines == ["network        ok         3 created               4.1s"]


def test_a_warning_about_many_modules_is_told_once_with_the_others_at_the_end() -> None:
    theatre = Theatre(FOUR, CHAIN)
    with theatre.run.at_work():
        for module in FOUR:
            theatre.run.warning(module, "it has secret inputs")
    assert theatre.screen.lines == [
        "network        warning: it has secret inputs",
        "it has secret inputs (network): the same of vm, configuration, health",
    ]


def test_what_became_of_a_destroy_fits_into_a_line() -> None:
    end = ModuleEnd("destroyed", counts={"remove": 14}, seconds=62, reason="14 of 14 objects gone, state empty")
    theatre = Theatre(("dashboards-for-everybody",))
    theatre.run.module_ended("dashboards-for-everybody", end)
    line = "dashboards-for-everybody    destroyed  14 of 14 objects gone, state empty  1m02"
    assert theatre.screen.lines == [line.replace("    ", "  ", 1)]


def test_nothing_is_written_when_nothing_changed() -> None:
    theatre = Theatre(FOUR, CHAIN)
    with theatre.run.at_work():
        half_way(theatre)
        theatre.look()
        before = theatre.file.getvalue()
        theatre.look()
        assert theatre.file.getvalue() == before


def test_a_question_has_the_terminal_for_itself() -> None:
    theatre = Theatre(FOUR, CHAIN)
    with theatre.run.at_work():
        half_way(theatre)
        theatre.look()
        with theatre.run.paused():
            assert theatre.screen.cursor_shown
            assert len(theatre.look()) == 1
            theatre.file.write("Apply vm? y\n")
        assert [line.split()[0] for line in theatre.look()] == ["network", "Apply", "vm", "1"]


def test_an_interrupt_is_told_above_the_display_and_its_echo_leaves_no_trace() -> None:
    theatre = Theatre(FOUR, CHAIN)
    with theatre.run.at_work():
        half_way(theatre)
        theatre.look()
        theatre.file.write("^C")
        theatre.run.note("SIGINT: ending 1 engine gracefully; nothing new starts")
        assert [line.split()[0] for line in theatre.look()] == ["network", "SIGINT:", "vm", "1"]


@pytest.mark.parametrize(("verbosity", "told"), [(0, 0), (1, 1), (2, 2)])
def test_steps_are_told_to_those_who_want_to_read_them(verbosity: int, told: int) -> None:
    def act(theatre: Theatre) -> None:
        theatre.run.phase("vm", "apply")
        theatre.hook("vm", "aws_instance.web", "start")
        theatre.hook("vm", "aws_instance.web", "complete")

    lines = Theatre(("vm",), verbosity=verbosity).play(act)
    assert sum("aws_instance.web: creating" in line for line in lines) == told


def test_without_colour_no_colour_is_written() -> None:
    theatre = Theatre(FOUR, CHAIN)
    theatre.run._display.console.no_color = True
    theatre.play(half_way)
    assert "\x1b[3" not in theatre.file.getvalue()
    assert "\x1b[9" not in theatre.file.getvalue()
