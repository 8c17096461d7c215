"""A run read back from the ledger: whole, killed, taken over, long ago."""

from __future__ import annotations

import pytest

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.beat import Beat
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.entry import CloudObject, End, Takeover
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.errors import Superseded, UsageError
from hybridwrap.run.report import ModuleReport, Report, read_report
from tests.support.faulty_store import CountingStore
from tests.support.ledgers import LOCKS, FakeClock, Ids, ledger_on, writer
from tests.support.stories import NEEDS, Story, change, error, half_applied, many

CREATE = [change("aws_vpc.main", Action.CREATE)]


def module(report: Report, name: str) -> ModuleReport:
    return next(each for each in report.modules if each.module == name)


def results(report: Report) -> dict[str, str]:
    return {each.module: each.result for each in report.modules}


def test_a_run_says_how_each_module_ended_and_what_it_waits_for() -> None:
    report = read_report(half_applied().ledger, None)
    assert results(report) == {"network": "ok", "vm": "error", "configuration": "pending", "health": "pending"}
    assert module(report, "configuration").end.waits_for == "vm.address"
    assert (report.exit_code, report.seconds) == (4, 108.0)
    assert report.critical_path == ("network", "vm")


def test_an_error_stands_at_a_place_that_the_reader_of_the_manifest_finds() -> None:
    vm = module(read_report(half_applied().ledger, None), "vm")
    assert [vm.place(each) for each in vm.end.errors] == ["modules/vm/main.tf:21"]


def test_a_turn_is_timed_from_its_plan_to_its_end() -> None:
    network = module(read_report(half_applied().ledger, None), "network")
    assert (network.seconds, network.began[-13:-5], network.share.begun[-13:-5]) == (43.0, "00:00:28", "00:00:30")


def test_planned_changes_say_how_far_they_came() -> None:
    vm = module(read_report(half_applied().ledger, None), "vm")
    assert {each.address: vm.share.fate(each) for each in vm.planned} == {
        "aws_instance.web": "failed",
        "aws_security_group.web": "done",
    }


def test_later_runs_change_nothing_but_what_is_said_of_since() -> None:
    story = half_applied()
    old = story.ledger.runs()[1].start.run
    report = read_report(story.ledger, old)
    assert results(report) == {"network": "ok", "vm": "ok", "configuration": "unchanged", "health": "unchanged"}
    assert module(report, "vm").record.outputs["address"].provenance == "known"
    since = module(report, "vm").since
    assert since
    assert (since.status, since.run) == (Status.ERROR, story.run)


def test_what_a_run_left_pending_is_still_so_in_its_report_when_a_later_one_has_done_it() -> None:
    story = half_applied()
    old = story.run
    story.start({"configuration": ()})
    story.apply("configuration", CREATE)
    story.end()
    configuration = module(read_report(story.ledger, old), "configuration")
    assert (configuration.status, configuration.record.status) == (Status.PENDING, Status.NONE)
    assert not configuration.open


@pytest.mark.parametrize("run", [None, "newest"])
def test_any_machine_reads_the_same(run: str | None) -> None:
    story = half_applied()
    elsewhere = Ledger(story.store, "shop", "prod", writer("bob"), FakeClock(9e9), Ids("99"))
    assert read_report(elsewhere, run and story.run) == read_report(story.ledger, None)


class TestARunThatWasKilled:
    @pytest.fixture
    def story(self) -> Story:
        story = Story()
        story.start(NEEDS)
        story.apply("network", CREATE)
        story.begin("vm", [change("aws_instance.web", Action.CREATE)])
        return story

    def test_has_no_end_and_shows_what_was_begun_and_what_was_not_reached(self, story: Story) -> None:
        report = read_report(story.ledger, None)
        assert results(report) == {"network": "ok", "vm": "running", "configuration": "pending", "health": "pending"}
        assert module(report, "configuration").end.reason == "waits for vm"
        assert (report.ended, report.exit_code) == ("", None)
        assert module(report, "vm").ended == ""

    def test_is_told_as_it_ended_once_somebody_found_out(self, story: Story) -> None:
        story.finish("vm", End(Outcome.FAILED, Status.ERROR, errors=(error("aws_instance.web", "no"),), reason="no"))
        report = read_report(story.ledger, None)
        assert results(report)["vm"] == "error"
        assert module(report, "vm").end.errors
        assert not report.ended

    def test_shows_the_last_sign_of_life(self, story: Story) -> None:
        operation = story.ledger.record("vm").operation
        made = (CloudObject("aws_instance.web", id="i-1"),)
        story.ledger.beat(Beat("vm", operation, "2026-01-01T00:00:40.000Z", made))
        report = read_report(story.ledger, None)
        assert (report.last_seen, module(report, "vm").beat) == (
            "2026-01-01T00:00:40.000Z",
            Beat("vm", operation, "2026-01-01T00:00:40.000Z", made),
        )

    def test_says_who_took_over_from_it(self, story: Story) -> None:
        taker = ledger_on(story.store, "bob", Ids("55"))
        record = taker.record("vm")
        taker.takeover(record, Takeover("77", "its job was cancelled", LOCKS), operation="T1")
        vm = module(read_report(story.ledger, story.run), "vm")
        assert (vm.result, vm.end.reason) == ("superseded", "taken over by bob@laptop in run 77")

    def test_shows_its_late_result_as_evidence(self, story: Story) -> None:
        operation = story.ledger.record("vm").operation
        taker = ledger_on(story.store, "bob", Ids("55"))
        held = taker.takeover(taker.record("vm"), Takeover("77", "gone", LOCKS), operation="T1")
        taker.end(held, End(Outcome.UNKNOWN, Status.UNKNOWN), operation="T1", entry_id="e1")
        late, record = End(Outcome.FAILED, Status.ERROR, reason="no capacity"), story.ledger.record("vm")
        with pytest.raises(Superseded):
            story.ledger.end(record, late, operation=operation, entry_id="e2")
        vm = module(read_report(story.ledger, story.run), "vm")
        assert (vm.result, vm.end.reason) == ("superseded", "no capacity")


def test_what_did_not_run_after_all_is_pending() -> None:
    story = Story()
    story.start(NEEDS)
    story.begin("network", CREATE)
    story.finish("network", End(Outcome.CANCELLED, Status.NONE, reason="nothing ran: stopped by SIGINT"))
    story.kill()
    report = read_report(story.ledger, None)
    assert results(report)["network"] == "pending"
    assert module(report, "network").record.status is Status.NONE


def test_a_result_that_came_to_the_ledger_after_the_end_of_the_run_counts() -> None:
    story = Story()
    story.start(NEEDS)
    story.begin("network", CREATE)
    story.ends["network"] = ModuleEnd("unsent", 34, reason="the ledger can't be reached")
    story.end(34)
    assert results(read_report(story.ledger, None))["network"] == "unsent"
    story.finish("network", End(Outcome.SUCCEEDED, Status.OK))
    assert results(read_report(story.ledger, None))["network"] == "ok"


def test_a_failed_plan_is_an_error_of_the_run_and_leaves_the_module_as_it_was() -> None:
    story = half_applied()
    story.start({"network": ()})
    story.failed_plan("network", error("", "Invalid reference"))
    story.end(4)
    network = module(read_report(story.ledger, None), "network")
    assert (network.result, network.status, network.share.entries) == ("error", Status.OK, ())


def test_an_empty_plan_that_cleared_an_error_is_unchanged_also_without_the_end_of_the_run() -> None:
    story = half_applied()
    story.start({"vm": ()})
    story.observed("vm")
    vm = module(read_report(story.ledger, None), "vm")
    assert (vm.result, vm.status) == ("unchanged", Status.OK)


def test_all_tries_of_a_module_are_in_its_share() -> None:
    story = Story()
    story.start({"network": ()})
    story.apply("network", CREATE, error("aws_vpc.main", "throttled"))
    story.apply("network", CREATE)
    story.end()
    network = module(read_report(story.ledger, None), "network")
    assert [str(entry.kind) for entry in network.share.entries] == ["begin", "end", "begin", "end"]
    assert [str(step.fate) for step in network.share.steps] == ["failed", "done"]
    assert network.result == "ok"


def test_only_the_logs_of_modules_that_were_acted_on_are_read() -> None:
    store = CountingStore(MemoryStore())
    many(200, Story(store))
    story = Story(store, FakeClock(90_000), Ids("02"))
    story.start({f"dns-eu-central-1-{index}": () for index in range(3)} | {"api-eu-central-1-0": ()})
    story.apply("api-eu-central-1-0", CREATE)
    story.end()
    store.gets = store.lists = 0
    read_report(ledger_on(store, "bob"), None)
    heads = sum("/head/" in item.key for item in store.list(""))
    assert store.gets <= heads + 10


def test_without_a_run_there_is_nothing_to_report() -> None:
    with pytest.raises(UsageError, match="nothing was run yet"):
        read_report(ledger_on(), None)
    with pytest.raises(UsageError, match="there is no run 42"):
        read_report(half_applied().ledger, "42")
