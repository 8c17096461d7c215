"""One run of many processes: found by its name, written in parts, read as one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import permutations

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.clock import Ulids
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.cli.reports import text
from hybridwrap.cli.reports.timeline import bars_of
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.merging import merged
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.ports import Store
from hybridwrap.domain.run import ModuleEnd, RunEnd, RunStart
from hybridwrap.errors import UsageError
from hybridwrap.run.report import read_report
from tests.support.faulty_store import CountingStore
from tests.support.ledgers import FakeClock, writer

OK, ERROR, PENDING = ModuleEnd("ok"), ModuleEnd("error", 4), ModuleEnd("pending", 20, waits_for="network")
EDGES = {"network": (), "vm": ("network",), "health": ("vm",)}


def ledger_of(store: Store, user: str = "ana", clock: FakeClock | None = None) -> Ledger:
    clock = clock or FakeClock()
    ledger = Ledger(store, "shop", "prod", writer(user), clock, Ulids(clock))
    ledger.open()
    return ledger


class Process:
    """One of many that do a part of a run."""

    def __init__(self, store: Store, name: str = "gh-7-1", *, user: str = "ana", seconds: float = 0.0) -> None:
        self.clock = FakeClock(seconds)
        self.ledger = ledger_of(store, user, self.clock)
        self.run = self.ledger.shared_runs.named("apply", name)
        self.part = self.ledger.ids.new()
        self.name = name

    def begin(self, *modules: str) -> Process:
        start = RunStart(
            run=self.run,
            command="apply",
            time=f"2026-01-01T00:00:{int(self.clock.seconds):02}.000Z",
            writer=self.ledger.writer,
            argv=("apply", *modules),
            modules=modules,
            edges={name: EDGES[name] for name in modules},
            shared=self.name,
            part=self.part,
        )
        self.ledger.shared_runs.start(start)
        return self

    def tell(self, **ends: ModuleEnd) -> Process:
        for module, end in ends.items():
            self.ledger.shared_runs.tell(self.run, self.part, module, end)
        return self

    def end(self, code: int = 0, **ends: ModuleEnd) -> Process:
        self.tell(**ends)
        time = f"2026-01-01T00:01:{int(self.clock.seconds):02}.000Z"
        self.ledger.shared_runs.end(self.part, RunEnd(self.run, time, code, ends))
        return self


def test_all_who_come_with_one_name_work_on_one_run() -> None:
    store = MemoryStore()
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: ledger_of(store).shared_runs.named("apply", "gh-7-1"), range(8)))
    assert len(found) == 1
    assert ledger_of(store).shared_runs.named("apply", "gh-8-1") not in found
    assert ledger_of(store).shared_runs.named("destroy", "gh-7-1") not in found


@pytest.mark.parametrize("name", ["", "a b", "ü", "x" * 81, "a\n"])
def test_what_can_be_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="can't be the name of a run"):
        ledger_of(MemoryStore()).shared_runs.named("apply", name)
    store = CountingStore(MemoryStore())
    ledger = Ledger(store, "shop", "prod", writer("ana"), FakeClock(), Ulids(FakeClock()))
    assert ledger.shared_runs.known_by(name) is None
    assert store.gets == 0, "no key is made of it"


def test_a_name_from_long_ago_is_refused_instead_of_growing_an_old_run() -> None:
    store, clock = MemoryStore(), FakeClock()
    ledger = ledger_of(store, clock=clock)
    ledger.shared_runs.named("apply", "nightly")
    clock.sleep(timedelta(days=36).total_seconds())
    with pytest.raises(UsageError, match="began on 2026-01-01"):
        ledger.shared_runs.named("apply", "nightly")


def test_parts_of_several_processes_are_one_run_by_id_and_by_name() -> None:
    store = MemoryStore()
    network, vm = Process(store, user="ana").begin("network"), Process(store, user="bo", seconds=1).begin("vm")
    network.end(network=OK)
    vm.end(vm=OK)
    (listed,) = network.ledger.runs()
    found = network.ledger.run("gh-7-1")
    assert network.ledger.run(network.run) == found
    assert listed.end == found.end
    assert found.start.modules == ("network", "vm")
    assert found.start.edges == {"network": (), "vm": ("network",)}
    assert found.end is not None
    assert (dict(found.end.modules), found.end.exit_code) == ({"network": OK, "vm": OK}, 0)
    assert [str(part.start.writer) for part in found.parts] == ["ana@laptop", "bo@laptop"]


def test_a_run_is_at_work_until_all_its_modules_have_an_end() -> None:
    store = MemoryStore()
    first = Process(store).begin("network", "vm").tell(network=OK)
    (run,) = first.ledger.runs()
    assert run.end is None
    assert run.ends == {"network": OK}
    assert set(pending_of([run], {})) == {"vm"}


def test_what_a_killed_process_had_told_is_not_lost_and_the_rest_is_done_by_another() -> None:
    store = MemoryStore()
    Process(store).begin("network", "vm").tell(network=OK)  # killed
    other = Process(store, seconds=5).begin("vm").end(vm=OK)
    (run,) = other.ledger.runs()
    assert run.end is not None
    assert run.end.exit_code == 0
    assert run.ends == {"network": OK, "vm": OK}


def test_the_gravest_end_is_the_runs_and_a_job_that_is_repeated_takes_it_back() -> None:
    store = MemoryStore()
    failed = Process(store).begin("network").end(4, network=ERROR)
    waits = Process(store, seconds=1).begin("vm").end(20, vm=PENDING)
    run = waits.ledger.run("gh-7-1")
    assert run.end is not None
    assert run.end.exit_code == 4
    Process(store, seconds=2).begin("network").end(network=OK)
    Process(store, seconds=3).begin("vm").end(vm=OK)
    (run,) = failed.ledger.runs()
    assert run.end is not None
    assert (run.end.exit_code, dict(run.ends)) == (0, {"network": OK, "vm": OK})


def test_a_sum_hides_nothing_of_who_was_still_at_work_when_it_was_made() -> None:
    store = MemoryStore()
    failed = Process(store).begin("network", "vm").tell(vm=PENDING)
    again = Process(store, seconds=2).begin("network")
    failed.end(4, network=ERROR)
    last = Process(store, seconds=3).begin("vm").end(vm=OK)
    assert last.ledger.runs()[0].end.exit_code == 4  # type: ignore[union-attr]
    again.end(network=OK)
    (run,) = failed.ledger.runs()
    assert run.ends == {"network": OK, "vm": OK}
    assert run == replace(failed.ledger.run("gh-7-1"), parts=run.parts)


def test_a_signal_is_the_runs_exit_code_as_long_as_something_is_left_by_it() -> None:
    store = MemoryStore()
    stopped = Process(store).begin("network").end(143, network=ModuleEnd("pending", reason="stopped by SIGTERM"))
    assert stopped.ledger.runs()[0].end.exit_code == 143  # type: ignore[union-attr]
    Process(store, seconds=2).begin("network").end(network=OK)
    assert stopped.ledger.runs()[0].end.exit_code == 0  # type: ignore[union-attr]


def test_what_was_done_is_not_hidden_by_who_did_nothing() -> None:
    store = MemoryStore()
    Process(store).begin("network").end(network=OK)
    Process(store, seconds=1).begin("network").end(20, network=ModuleEnd("busy", 20))
    run = ledger_of(store).run("gh-7-1")
    assert run.ends == {"network": OK}
    assert run.end is not None
    assert run.end.exit_code == 0


def test_the_order_in_which_parts_are_read_makes_no_difference() -> None:
    store = MemoryStore()
    Process(store).begin("network").end(4, network=ERROR)
    Process(store, seconds=1).begin("network", "vm").tell(network=OK)
    Process(store, seconds=2).begin("vm").end(20, vm=PENDING)
    run = ledger_of(store).run("gh-7-1")
    assert len(run.parts) == 3
    for parts in permutations(run.parts):
        assert merged(run.start, None, parts) == replace(run, parts=parts)


def test_a_run_that_is_over_costs_two_reads_and_a_listing() -> None:
    store = CountingStore(MemoryStore())
    processes = [Process(store, seconds=second).begin(name) for second, name in enumerate(EDGES)]
    for process, name in zip(processes, EDGES, strict=True):
        process.end(0, **{name: OK})
    store.gets = store.lists = 0
    (run,) = processes[0].ledger.runs()
    assert run.end is not None
    assert (store.gets, store.lists) == (2, 2)  # of all runs, and of this one's parts


def test_runs_of_one_process_are_read_as_ever() -> None:
    ledger = ledger_of(MemoryStore())
    start = RunStart("01A", "apply", "2026-01-01T00:00:00.000Z", writer(), ("apply",), ("network",), {"network": ()})
    ledger.start_run(start)
    ledger.end_run(RunEnd("01A", "2026-01-01T00:01:00.000Z", 0, {"network": OK}))
    (run,) = ledger.runs()
    assert (run, run.parts, run.ends) == (ledger.run("01A"), (), {"network": OK})


def test_a_report_tells_who_waited_for_whom_and_how_long() -> None:
    store = MemoryStore()
    waited = ModuleEnd("ok", began="2026-01-01T00:00:40.000Z", seconds=5, waited=30, waited_for="network")
    Process(store).begin("network", "vm").end(network=OK, vm=waited)
    report = read_report(ledger_of(store), "gh-7-1")
    assert "waited 30.0s for network" in text.render(report)
    (bar,) = (bar for bar in bars_of(report) if bar.module == "vm")
    assert bar.wait
    assert bar.wait == pytest.approx((10 / 60 * 1000, 30 / 60 * 1000), abs=1)
    assert bar.plan[0] == pytest.approx(sum(bar.wait), abs=1)
