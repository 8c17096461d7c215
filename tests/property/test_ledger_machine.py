"""Two clients on one ledger, a network that loses and delays what they say, and runners that die: what always holds.

The truth is kept beside the ledger: which engines run, what they left behind, what each client was told.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hybridwrap.domain.entry import Confirm, End, Entry, Kind, Observe, Takeover
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.record import Record
from hybridwrap.domain.status import Status
from hybridwrap.errors import (
    IntentInDoubt,
    LedgerUnreachable,
    ModuleBusy,
    ResultNotSent,
    SlotTaken,
    Superseded,
)
from tests.support.faulty_store import Fault, FaultyStore, Network
from tests.support.ledgers import LOCKS, Ids, begin, cancelled, ledger_on, ok, state, unknown

MODULE = "vm"
MOST_OPERATIONS = 10

clients = st.integers(0, 1)


@dataclass(frozen=True)
class Weather:
    """What happens to a client's next creates and replaces, and to everything after those."""

    creates: tuple[Fault, ...] = ()
    replaces: tuple[Fault, ...] = ()
    rest: Fault = Fault.NONE


fair = st.just(Weather())
rough = st.builds(Weather, st.lists(st.sampled_from(list(Fault)), max_size=3).map(tuple), st.just(()))
foul = st.builds(Weather, st.just(()), st.just(()), st.sampled_from([Fault.LOST, Fault.ANSWER_LOST, Fault.STUCK]))
slow_heads = st.builds(
    Weather, st.just(()), st.sampled_from([(fault,) for fault in (Fault.LOST, Fault.ANSWER_LOST, Fault.STUCK)])
)
weathers = st.one_of(fair, fair, fair, rough, rough, slow_heads, foul)


@dataclass
class Operation:
    """One operation as it really is; `alive`: its runner lives and holds its locks."""

    name: str
    client: int
    held: Record | None = None
    engine: str = "not started"
    alive: bool = True
    taker: bool = False
    serial: int = 0
    told: str = ""  # what its writer was told about its begin

    @property
    def result_id(self) -> str:
        return f"{self.name}-result"


class LedgerMachine(RuleBasedStateMachine):
    @initialize()
    def two_clients(self) -> None:
        self.network = Network()
        self.auditor = ledger_on(self.network.store, "auditor", Ids("00"))
        self.stores = [FaultyStore(self.network), FaultyStore(self.network)]
        self.clients = [
            ledger_on(store, name, Ids(f"0{n}"))
            for n, (store, name) in enumerate(zip(self.stores, ("ana", "bob"), strict=True), start=1)
        ]
        self.views = [Record(MODULE), Record(MODULE)]
        self.operations: dict[str, Operation] = {}
        self.serial = 0

    # What clients do

    @rule(client=clients)
    def look(self, client: int) -> None:
        self.views[client] = self.clients[client].record(MODULE)

    @rule(client=clients, weather=weathers, stale=st.booleans())
    def begin(self, client: int, weather: Weather, *, stale: bool) -> None:
        if not stale:
            self.look(client)
        view = self.views[client]
        if view.holder or len(self.operations) >= MOST_OPERATIONS:
            return
        operation = self._new(client)
        body = begin("destroy" if view.settled is Status.UNKNOWN else "apply", serial=self.serial, before=view.settled)
        ledger = self._in(weather, client)
        try:
            operation.held = ledger.begin(view, body, operation=operation.name)
        except IntentInDoubt:
            operation.told, operation.alive = "in doubt", False
        except SlotTaken:
            operation.told, operation.alive = "taken", False
        except LedgerUnreachable:
            operation.told, operation.alive = "not recorded", False
        else:
            self._start_engine(operation, view)
        self._in(Weather(), client)

    @precondition(lambda self: any(op.engine == "running" for op in self.operations.values()))
    @rule(data=st.data(), killed=st.booleans(), saved=st.booleans())
    def engine_ends(self, data: st.DataObject, *, killed: bool, saved: bool) -> None:
        operation = self._pick(data, lambda op: op.engine == "running")
        operation.engine = "killed" if killed else "ended"
        if saved or not killed:
            self.serial += 1
        operation.serial = self.serial

    @precondition(lambda self: any(op.alive and op.held for op in self.operations.values()))
    @rule(data=st.data())
    def runner_dies(self, data: st.DataObject) -> None:
        operation = self._pick(data, lambda op: op.alive and op.held is not None)
        operation.alive = False

    @precondition(lambda self: any(op.alive and op.held and op.engine == "ended" for op in self.operations.values()))
    @rule(data=st.data(), weather=weathers)
    def confirm(self, data: st.DataObject, weather: Weather) -> None:
        operation = self._pick(data, lambda op: op.alive and op.held is not None and op.engine == "ended")
        ledger = self._in(weather, operation.client)
        assert operation.held is not None
        with suppress(LedgerUnreachable, Superseded):
            operation.held = ledger.confirm(operation.held, Confirm(state(self.serial)), operation=operation.name)
        self._in(Weather(), operation.client)

    @precondition(lambda self: any(self._has_result(op) for op in self.operations.values()))
    @rule(data=st.data(), client=clients, weather=weathers)
    def send_result(self, data: st.DataObject, client: int, weather: Weather) -> None:
        """By the runner itself, by a later command on its host, or from a copy of its spool."""
        self._send(self._pick(data, self._has_result), client, weather)

    @precondition(lambda self: self._dead_holder() is not None)
    @rule(client=clients, weather=weathers)
    def take_over(self, client: int, weather: Weather) -> None:
        """On the true word of an operator; a taker that dies is taken over again."""
        dead, record = self._dead_holder(), self.auditor.record(MODULE)
        assert dead is not None
        taker = self._new(client)
        taker.taker = True
        ledger = self._in(weather, client)
        try:
            taker.held = ledger.takeover(record, Takeover("R2", "dead", LOCKS), operation=taker.name)
        except (SlotTaken, LedgerUnreachable):
            taker.alive = False
        self._in(Weather(), client)

    @rule(client=clients, weather=weathers)
    def observe(self, client: int, weather: Weather) -> None:
        ledger = self._in(weather, client)
        with suppress(SlotTaken, LedgerUnreachable, ModuleBusy):
            self.views[client] = ledger.observe(self.views[client], Observe("R1", "drift"))
        self._in(Weather(), client)

    @rule()
    def stuck_messages_arrive(self) -> None:
        self.network.flush()
        self.network.deliver()

    # What always holds

    @invariant()
    def the_log_breaks_no_rule(self) -> None:
        assert [flaw for flaw in self.auditor.verify(MODULE) if not flaw.startswith("head: says")] == []

    @invariant()
    def at_most_one_engine_runs_and_its_operation_holds_the_module(self) -> None:
        running = [op for op in self.operations.values() if op.engine == "running"]
        assert len(running) <= 1
        for operation in running:
            holder = self.auditor.record(MODULE).holder
            assert holder is not None
            assert holder.operation == operation.name
            assert ledger_on(self.network.store, "reader").records()[MODULE].status is Status.RUNNING

    @invariant()
    def what_was_said_not_to_be_recorded_never_is(self) -> None:
        begun = {entry.operation for entry in self._log() if entry.kind is Kind.BEGIN}
        said = {name for name, op in self.operations.items() if op.told in ("not recorded", "taken")}
        assert not begun & said

    @invariant()
    def a_free_module_has_every_mutation_accounted_for(self) -> None:
        record = self.auditor.record(MODULE)
        if record.holder:
            return
        ends = {entry.operation for entry in self._log() if entry.kind is Kind.END}
        for name, operation in self.operations.items():
            if operation.engine != "not started":
                assert name in ends or self._was_taken_over(operation)

    @invariant()
    def outputs_once_recorded_stay_readable(self) -> None:
        recorded = any(isinstance(entry.body, End) and entry.body.outputs for entry in self._log())
        assert bool(self.auditor.record(MODULE).outputs) == recorded

    def teardown(self) -> None:
        """From wherever we are, a sound network and the rules lead to a free module that knows every result."""
        if not hasattr(self, "network"):
            return
        self.stuck_messages_arrive()
        for operation in self.operations.values():
            operation.alive = False
            if operation.engine == "running":
                operation.engine, operation.serial = "ended", self.serial
        for operation in self.operations.values():
            if self._has_result(operation):
                self._send(operation, 0, Weather())
        assert self.auditor.record(MODULE).holder is None
        results = [entry.entry_id for entry in self._log() if entry.kind in (Kind.END, Kind.LATE)]
        assert len(results) == len(set(results))
        for operation in self.operations.values():
            if operation.engine != "not started":
                assert operation.result_id in results
        assert self.auditor.verify(MODULE) == []

    # How

    def _new(self, client: int) -> Operation:
        operation = Operation(f"O{len(self.operations) + 1}", client)
        self.operations[operation.name] = operation
        return operation

    def _start_engine(self, operation: Operation, planned_on: Record) -> None:
        entry = next(e for e in self._log() if e.operation == operation.name)
        assert entry.kind is Kind.BEGIN
        assert (entry.seq, entry.prev) == (planned_on.seq + 1, planned_on.tail), "for the tail that was planned on"
        operation.engine = "running"

    def _has_result(self, operation: Operation) -> bool:
        """Its engine has ended; or its runner is dead, so that its locks prove that nothing runs any more."""
        if operation.engine in ("ended", "killed"):
            return True
        in_log = any(e.operation == operation.name for e in self._log())
        return in_log and not operation.alive and operation.engine == "not started"

    def _send(self, operation: Operation, client: int, weather: Weather) -> None:
        record = operation.held or self.auditor.record(MODULE)
        ledger = self._in(weather, client)
        try:
            ledger.end(record, self._result(operation), operation=operation.name, entry_id=operation.result_id)
        except Superseded:
            assert self._was_taken_over(operation) or self._is_ended(operation)
        except ResultNotSent:
            pass
        self._in(Weather(), client)

    def _result(self, operation: Operation) -> End:
        if operation.engine == "ended":
            return ok(operation.serial, address=operation.name)
        if operation.engine == "killed" or operation.taker:
            return unknown()
        begun = next(e for e in self._log() if e.operation == operation.name)
        return cancelled(getattr(begun.body, "previous_status", Status.NONE))

    def _dead_holder(self) -> Operation | None:
        holder = self.auditor.record(MODULE).holder
        operation = self.operations.get(holder.operation) if holder else None
        dead = operation and not operation.alive and operation.engine != "running"
        return operation if dead and len(self.operations) < MOST_OPERATIONS else None

    def _was_taken_over(self, operation: Operation) -> bool:
        kinds = [entry.kind for entry in self._log() if entry.operation == operation.name]
        return Kind.TAKEOVER in [entry.kind for entry in self._log()] and Kind.END not in kinds

    def _is_ended(self, operation: Operation) -> bool:
        return any(e.operation == operation.name and e.kind is Kind.END for e in self._log())

    def _log(self) -> tuple[Entry, ...]:
        return self.auditor.history(MODULE)

    def _pick(self, data: st.DataObject, suits: object) -> Operation:
        assert callable(suits)
        return data.draw(st.sampled_from([op for op in self.operations.values() if suits(op)]), label="operation")

    def _in(self, weather: Weather, client: int) -> Ledger:
        store = self.stores[client]
        store.creates, store.replaces = deque(weather.creates), deque(weather.replaces)
        store.always = weather.rest
        return self.clients[client]


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(
    max_examples=50, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
