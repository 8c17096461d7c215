"""What is different between two runs."""

from __future__ import annotations

import pytest
from click import unstyle
from msgspec.structs import replace

from hybridwrap.cli.difference_view import as_json, lines
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.entry import Begin, RecordedInput
from hybridwrap.run.difference import Change, Told, differences
from hybridwrap.run.report import Report, read_report
from tests.support.stories import Story, change, error, half_applied, known, text

PLAN = [change("aws_instance.web", Action.CREATE)]
SECRET = RecordedInput(sensitive=True, reference="env:PASSWORD")


@pytest.fixture(scope="module")
def both() -> tuple[Report, Report]:
    """A run in which all went well, and the one after it."""
    ledger = half_applied().ledger
    after, before = (read_report(ledger, run.start.run) for run in ledger.runs())
    return before, after


def changes(before: Report, after: Report, module: str) -> dict[str, tuple[Told | None, Told | None]]:
    found = next(each for each in differences(before, after) if each.module == module)
    return {f"{c.what} {c.name}".strip(): (c.before, c.after) for c in found.changes}


def test_results_inputs_outputs_and_objects_are_compared(both: tuple[Report, Report]) -> None:
    vm = changes(*both, "vm")
    assert vm["result"] == (Told("ok"), Told("error"))
    assert vm["input subnet_id"] == (None, Told("subnet-0a1"))
    assert vm["input password"] == (None, Told("env:VM_PASSWORD", secret=True))
    network = changes(*both, "network")
    assert network["output nat_ip"] == (None, Told("203.0.113.7"))
    assert network["object aws_eip.nat"][0] is None


def test_a_run_of_many_processes_is_named_as_they_know_it(both: tuple[Report, Report]) -> None:
    before, after = both
    shared = replace(after, start=replace(after.start, shared="github-4711"))
    told = [unstyle(line) for line in lines(before, shared, differences(*both), 0)]
    assert any(line.startswith("+ apply") and "(github-4711)" in line for line in told)


def test_a_module_that_is_the_same_has_no_changes(both: tuple[Report, Report]) -> None:
    assert changes(both[0], both[0], "network") == {}


def test_a_run_is_shown_as_it_left_its_modules_whatever_came_later(both: tuple[Report, Report]) -> None:
    assert "output nat_ip" in changes(both[1], both[0], "network")


def test_modules_of_one_run_only_are_named() -> None:
    story = Story()
    first = story.start({"vm": (), "old": ()})
    story.apply("vm", PLAN)
    story.unchanged("old")
    story.end()
    second = story.start({"vm": (), "new": ()})
    story.unchanged("vm")
    story.unchanged("new")
    story.end()
    reports = read_report(story.ledger, first), read_report(story.ledger, second)
    told = [unstyle(line) for line in lines(*reports, differences(*reports), 0)]
    assert f"only in {first}: old" in told
    assert f"only in {second}: new" in told


def test_another_secret_from_the_same_place_is_seen_by_the_digest(both: tuple[Report, Report]) -> None:
    story = Story()
    runs = []
    for _ in range(2):
        runs.append(story.start({"vm": ()}))
        story.apply("vm", PLAN, inputs={"password": SECRET, "size": text(1)})
        story.end()
    before, after = (_with_digest(read_report(story.ledger, run), run) for run in runs)
    secret = Told(None, secret=True)
    assert Change("input", "password", secret, secret) in differences(before, after)[0].changes
    told = "\n".join(unstyle(line) for line in lines(before, after, differences(before, after), 0))
    assert "input password: another value; it is a secret" in told


def _with_digest(report: Report, digest: str) -> Report:
    """As a ledger with a key has it: digests that cover secrets."""
    module = report.modules[0]
    entry, *rest = module.share.entries
    assert isinstance(entry.body, Begin)
    body = replace(entry.body, inputs_digest=digest)
    share = replace(module.share, entries=(replace(entry, body=body), *rest))
    return replace(report, modules=(replace(module, share=share),))


def test_people_read_a_line_for_each_change_and_the_rest_by_name(both: tuple[Report, Report]) -> None:
    told = [unstyle(line) for line in lines(*both, differences(*both), 0)]
    assert told[0].startswith("- apply 01")
    assert told[1].strip().startswith("2 ok, 2 unchanged; exit 0 after")
    assert told[2].startswith("+ apply 01")
    assert told[3].strip().startswith("1 error, ")
    assert "  result: ok -> error" in told
    assert "  + output nat_ip: 203.0.113.7" in told
    assert not [line for line in told if line.startswith("  status: ok -> error")], "the result says it"


@pytest.mark.parametrize("width", [60, 80, 160])
def test_long_values_are_cut_at_a_terminal_and_nowhere_else(width: int) -> None:
    story = Story()
    runs = []
    for letter in "ab":
        runs.append(story.start({"vm": ()}))
        story.apply("vm", PLAN, outputs={"user_data": known(letter * 500)})
        story.end()
    reports = read_report(story.ledger, runs[0]), read_report(story.ledger, runs[1])
    found = differences(*reports)
    shown = [unstyle(line) for line in lines(*reports, found, width)]
    assert all(len(line) <= max(width, 80) for line in shown)
    assert any("a" * 500 in line for line in lines(*reports, found, 0))


def test_of_many_objects_a_few_are_shown_at_a_terminal() -> None:
    story = Story()
    first = story.start({"vm": ()})
    story.unchanged("vm")
    story.end()
    second = story.start({"vm": ()})
    story.apply("vm", [change(f"aws_instance.web[{index}]", Action.CREATE) for index in range(50)])
    story.end()
    reports = read_report(story.ledger, first), read_report(story.ledger, second)
    shown = [unstyle(line) for line in lines(*reports, differences(*reports), 80)]
    assert "  and 44 more objects" in shown


def test_programs_get_every_change_and_no_secret(both: tuple[Report, Report]) -> None:
    document = as_json(*both, differences(*both))
    vm = next(module for module in document["modules"] if module["module"] == "vm")
    assert {"what": "result", "before": {"value": "ok"}, "after": {"value": "error"}} in vm["changes"]
    secret = {"secret": True, "reference": "env:VM_PASSWORD"}
    assert {"what": "input", "name": "password", "after": secret} in vm["changes"]


def test_what_a_value_holds_can_not_steer_the_terminal() -> None:
    story = Story()
    runs = []
    for value in ("plain", "\x1b[2J\x1b[31mred"):
        runs.append(story.start({"vm": ()}))
        story.apply("vm", PLAN, outputs={"name": known(value)})
        story.end()
    reports = read_report(story.ledger, runs[0]), read_report(story.ledger, runs[1])
    assert not [line for line in lines(*reports, differences(*reports), 0) if "\x1b[2J" in line]


def test_an_error_in_both_is_no_difference() -> None:
    story = Story()
    runs = []
    for _ in range(2):
        runs.append(story.start({"vm": ()}))
        story.apply("vm", PLAN, error("aws_instance.web", "no capacity"))
        story.end()
    reports = read_report(story.ledger, runs[0]), read_report(story.ledger, runs[1])
    assert not differences(*reports)[0].changes
