"""A graph walked by several processes of one run: nothing twice, nothing too early, nothing forgotten."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.clock import Ulids
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.graph import order
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.ports import Store
from hybridwrap.domain.run import ModuleEnd, RunEnd, RunStart
from hybridwrap.domain.run_inputs import Origin, RunInput, encode_inputs
from hybridwrap.domain.stack import LedgerSettings, Module, Stack
from hybridwrap.errors import ModuleBusy
from hybridwrap.run.context import Context, Options, Part, Patience, Tools
from hybridwrap.run.crew import SILENT_SECONDS
from hybridwrap.run.knowledge import Knowledge
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.resume import Rest, inputs_of_run
from hybridwrap.run.stop import Stop
from hybridwrap.run.walk import forward, walk
from tests.support.imaginary import NoHooks, Silent
from tests.support.ledgers import begin, ok, writer

CHAIN = {"network": (), "vm": ("network",), "health": ("vm",), "other": ()}
OK = ModuleEnd("ok")
ERROR = ModuleEnd("error", 4)


@dataclass
class QuickClock:
    speed: float
    began: float = field(default_factory=time.monotonic)

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return (time.monotonic() - self.began) * self.speed

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / self.speed)


class NotVisible:
    """Folders on a host that never sees another one's."""

    def take(self, _locks: Any) -> Liveness:
        return Liveness.NOT_VISIBLE


def process(
    store: Store, graph: Mapping[str, Sequence[str]], *, joins: bool = True, wait: float = 0.0, speed: float = 1000
) -> Context:
    clock, name = QuickClock(speed), "gh-1"
    modules = {each: Module(each, Path("/x"), depends_on=tuple(needs)) for each, needs in graph.items()}
    ledger = Ledger(store, "shop", "default", writer(), clock, Ulids(clock))
    ledger.open()
    tools = Tools(
        stack=Stack("shop", "default", Path("/x/hybridwrap.yaml"), modules, LedgerSettings()),
        ledger=ledger,
        engines=None,  # type: ignore[arg-type]
        folders=NotVisible(),  # type: ignore[arg-type]
        host=None,  # type: ignore[arg-type]
        sources=None,  # type: ignore[arg-type]
        prober=None,  # type: ignore[arg-type]
        hooks=NoHooks(),
        clock=clock,
        ids=ledger.ids,
    )
    return Context(
        run=ledger.shared_runs.named("apply", name),
        argv=("apply",),
        tools=tools,
        options=Options(parallelism=2, patience=Patience(wait)),
        watch=Silent(),
        stop=Stop(clock, lambda **_: 0),
        knowledge=Knowledge({}),
        part=Part(ledger.ids.new(), name, joins),
    )


def run(context: Context, work: Callable[[str], ModuleEnd], *modules: str) -> RunEnd:
    names = modules or order({name: module.needs for name, module in context.tools.stack.modules.items()})
    return recorded_run(context, "drift", names, lambda: walk(context, names, work, forward(context, names)))


def results(end: RunEnd) -> dict[str, str]:
    return {name: each.result for name, each in end.modules.items()}


def results_of_run(store: Store) -> dict[str, str]:
    return {module: end.result for module, end in process(store, {}).tools.ledger.run("gh-1").ends.items()}


@pytest.mark.parametrize("seed", range(3))
def test_many_processes_do_each_module_once_and_after_all_that_it_needs(seed: int) -> None:
    choose = random.Random(seed)
    names = [f"m{number:02}" for number in range(40)]
    graph = {name: choose.sample(names[:index], min(index, 2)) for index, name in enumerate(names)}
    store = MemoryStore()
    done: list[str] = []

    def work(name: str) -> ModuleEnd:
        assert set(graph[name]) <= set(done), f"{name} came too early"
        time.sleep(choose.random() / 100)
        done.append(name)
        return OK

    with ThreadPoolExecutor(6) as pool:
        ends = list(pool.map(lambda _: run(process(store, graph, speed=1), work), range(6)))
    assert sorted(done) == names
    assert sum(len(end.modules) for end in ends) == len(names)
    assert set(results_of_run(store).values()) == {"ok"}


def test_behind_a_module_that_failed_all_is_pending_and_the_rest_is_done() -> None:
    store = MemoryStore()
    end = run(process(store, CHAIN), lambda name: ERROR if name == "network" else OK)
    assert results(end) == {"network": "error", "other": "ok", "vm": "pending", "health": "pending"}
    assert results(run(process(store, CHAIN), lambda _: ERROR)) == {
        "network": "error", "vm": "pending", "health": "pending",
    }  # fmt: skip
    found = process(store, {}).tools.ledger.run("gh-1")
    assert found.end is not None
    assert found.end.exit_code == 4


def test_a_job_that_is_repeated_tries_again_what_had_failed_and_goes_on_behind_it() -> None:
    store = MemoryStore()
    run(process(store, CHAIN), lambda name: ERROR if name == "network" else OK)
    assert results(run(process(store, CHAIN), lambda _: OK)) == {"network": "ok", "vm": "ok", "health": "ok"}
    assert set(results_of_run(store).values()) == {"ok"}


def test_what_fails_while_others_are_at_work_is_not_tried_again_by_them() -> None:
    store, tried, failed, slow = MemoryStore(), [], Event(), Event()
    graph = {"bad": (), "slow": ()}

    def work(name: str) -> ModuleEnd:
        tried.append(name)
        if name == "bad":
            assert slow.wait(30)
            failed.set()
            return ERROR
        slow.set()
        assert failed.wait(30)
        return OK

    def one_at_a_time() -> Context:
        context = process(store, graph, speed=1)
        return replace(context, options=replace(context.options, parallelism=1))

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda _: run(one_at_a_time(), work), range(2)))
    assert sorted(tried) == ["bad", "slow"]
    assert [end.exit_code for end in ends] == [4, 4], "each answers for the run"


class Killed(Exception):
    """What a process does not survive."""


def killed_at(context: Context, module: str) -> None:
    """Take up a module, and be gone before it ends."""
    part, runs = context.part, context.tools.ledger.shared_runs

    def work() -> Mapping[str, ModuleEnd]:
        assert part
        assert runs.take(context.run, part.id, module, 1)
        raise Killed

    with pytest.raises(Killed):
        recorded_run(context, "drift", tuple(CHAIN), work)


def test_what_a_killed_process_had_taken_up_is_done_by_another_once_it_is_silent() -> None:
    store = MemoryStore()
    killed_at(process(store, CHAIN), "network")
    began, at = time.monotonic(), {}

    def work(name: str) -> ModuleEnd:
        at[name] = (time.monotonic() - began) * 1000
        return OK

    assert results(run(process(store, CHAIN), work)) == dict.fromkeys(CHAIN, "ok")
    assert at["network"] >= SILENT_SECONDS


def test_what_a_killed_process_has_recorded_counts_without_being_done_again() -> None:
    store = MemoryStore()
    dead = process(store, CHAIN)
    ledger = dead.tools.ledger
    held = ledger.begin(ledger.record("network"), replace(begin(), run=dead.run), operation="01OP")
    ledger.end(held, ok(), operation="01OP", entry_id="01END")
    done: list[str] = []

    def work(name: str) -> ModuleEnd:
        done.append(name)
        return OK

    assert results(run(process(store, CHAIN), work)) == dict.fromkeys(CHAIN, "ok")
    assert "network" not in done


def test_a_busy_module_is_left_for_later_and_returned_to() -> None:
    store, visits = MemoryStore(), []

    def work(name: str) -> ModuleEnd:
        visits.append(name)
        if name == "network" and visits.count(name) == 1:
            raise ModuleBusy("network is busy")
        return OK

    assert set(results(run(process(store, CHAIN), work)).values()) == {"ok"}
    assert visits.count("network") == 2
    assert visits.index("other") < len(visits) - 1 - visits[::-1].index("network")


def test_a_module_that_stays_busy_ends_as_that() -> None:
    def work(name: str) -> ModuleEnd:
        if name == "network":
            raise ModuleBusy("network is busy")
        return OK

    end = run(process(MemoryStore(), CHAIN), work)
    assert results(end) == {"other": "ok", "network": "busy", "vm": "pending", "health": "pending"}
    assert end.exit_code == 20


def test_who_was_told_what_to_do_does_not_begin_before_the_run_has_done_what_that_needs() -> None:
    store = MemoryStore()
    end = run(process(store, CHAIN, joins=False), lambda _: OK, "vm")
    assert (results(end), end.exit_code) == ({"vm": "pending"}, 20)
    run(process(store, CHAIN, joins=False), lambda _: OK, "network")
    end = run(process(store, CHAIN, joins=False), lambda _: OK, "vm")
    assert (results(end), end.exit_code) == ({"vm": "ok"}, 0)


def test_what_it_needs_can_be_waited_for_and_that_is_recorded() -> None:
    store = MemoryStore()
    waiting = process(store, CHAIN, joins=False, wait=60_000.0)
    with ThreadPoolExecutor(1) as pool:
        vm = pool.submit(run, waiting, lambda _: OK, "vm")
        while not waiting.waits.noted("vm", OK).waited:
            time.sleep(0.001)
        run(process(store, CHAIN, joins=False), lambda _: OK, "network")
        end = vm.result(120).modules["vm"]
    assert end.result == "ok"
    assert end.waited > 0
    assert end.waited_for == "network, still to be done in this run"


@pytest.mark.parametrize("module", ["vm", "health"])
def test_behind_a_failure_nobody_waits_and_the_exit_code_is_that_of_the_failure(module: str) -> None:
    store = MemoryStore()
    run(process(store, CHAIN, joins=False), lambda _: ERROR, "network")
    end = run(process(store, CHAIN, joins=False, wait=60_000_000.0), lambda _: OK, module)
    assert (results(end), end.exit_code) == ({module: "pending"}, 4)


def test_what_is_no_part_of_the_run_is_taken_as_it_stands() -> None:
    context = process(MemoryStore(), CHAIN, joins=False)
    assert context.part
    context = replace(context, part=replace(context.part, among=frozenset({"vm", "health"})))
    assert results(run(context, lambda _: OK, "vm")) == {"vm": "ok"}


@pytest.mark.parametrize("joins", [True, False])
def test_a_run_of_many_can_be_gone_on_with_by_the_inputs_of_all_of_them(joins: bool) -> None:
    store = MemoryStore()
    given = {name: {"x": RunInput(Origin.MANIFEST, value=name)} for name in ("network", "vm")}
    for modules in (("network", "vm"), ("vm",)):
        context = process(store, CHAIN, joins=joins)
        ledger, part = context.tools.ledger, context.part
        assert part
        start = RunStart(
            run=context.run,
            command="apply",
            time="2026-01-01T00:00:00.000Z",
            writer=ledger.writer,
            argv=("apply",),
            modules=modules,
            edges={name: CHAIN[name] for name in modules},
            inputs=ledger.put_blob(encode_inputs({name: given[name] for name in modules})),
            shared=part.name,
            part=part.id,
        )
        ledger.shared_runs.start(start, joins=joins)
    tools = process(store, CHAIN).tools
    rest = Rest(tools.ledger.runs()[0], left=("network", "vm"), done=(), not_declared=())
    assert inputs_of_run(tools, rest) == given
