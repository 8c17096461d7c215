"""Walk a graph together with other processes: each takes what is ready, or does what it was told when that is ready.

Keeps: a module starts only when all that it needs has ended well in this run, whoever did it; what is ready is taken
up by one process; a busy module is left for later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from threading import Event, Thread

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.graph import order, reach
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.errors import LedgerUnreachable, ModuleBusy, Stopped, gravest
from hybridwrap.run.busy import busy, once_free
from hybridwrap.run.context import Context, Part
from hybridwrap.run.crew import Crew
from hybridwrap.run.ends import tell
from hybridwrap.run.finish import finish
from hybridwrap.run.share import end_by_log, share_of
from hybridwrap.run.turn import wait_for_turn
from hybridwrap.run.waiting import LOOK_AGAIN_SECONDS, Waiting

SIGN_SECONDS = 5.0

Work = Callable[[str], ModuleEnd]
Timed = Callable[[str, Work], ModuleEnd]


class Ground(Struct, frozen=True):
    """What is walked: the modules of this process in order, and what of the run's graph comes before each module."""

    modules: Sequence[str]
    needs: Mapping[str, Sequence[str]]
    ended_well: frozenset[str]
    not_reached: Callable[[Context, str, tuple[str, ...]], ModuleEnd]


class Walk:
    """One process on its way; `timed` does a module's work and takes the time."""

    def __init__(self, context: Context, part: Part, ground: Ground, work: Work, timed: Timed) -> None:
        self._context = context
        self._part = part
        self._ground = ground
        self._work = work
        self._timed = timed
        self._crew = Crew(context, part, ground.ended_well)
        self._running: dict[Future[ModuleEnd], str] = {}
        self._left: dict[str, ModuleEnd] = {}  # for later: they were busy
        self._returned: set[str] = set()  # to what was left for later
        self._ends: dict[str, ModuleEnd] = {}
        self._waits: dict[str, Waiting] = {}
        self._order = order(ground.needs)

    def to_its_end(self) -> Mapping[str, ModuleEnd]:
        """Say how all those ended that it was at, or that nobody can begin any more."""
        with _giving_signs(self._context, self._part), ThreadPoolExecutor(self._context.options.parallelism) as pool:
            while True:
                if not self._context.stop.wanted:
                    self._start(pool)
                if not self._running and not self._wait_for_others():
                    return self._closed()
                for future in wait(self._running, LOOK_AGAIN_SECONDS, FIRST_COMPLETED).done:
                    self._ended(self._running.pop(future), future.result())
                if self._free:
                    self._crew.look()

    @property
    def _free(self) -> int:
        return self._context.options.parallelism - len(self._running)

    def _start(self, pool: ThreadPoolExecutor) -> None:
        """Start what is ready and not taken up; when there is nothing else to do, what was busy, and wait for it."""
        for name in self._open():
            if not self._free:
                return
            if not self._part.joins or self._crew.take(name):
                self._running[pool.submit(self._timed, name, self._once)] = name
        if not self._running and self._left:
            name, _ = self._left.popitem()
            self._returned.add(name)
            self._running[pool.submit(self._timed, name, self._patiently)] = name

    def _open(self) -> list[str]:
        """Name the modules that could start now; those who look at the same time begin at different ones."""
        at_hand = {*self._ends, *self._left, *self._running.values()}
        found = [name for name in self._ground.modules if name not in at_hand and self._is_ready(name)]
        if not self._part.joins:
            return found
        found = [n for n in found if self._crew.word(n) is None and not self._crew.is_at_work_on(n)]
        first = hash_of(self._part.id) % max(len(found), 1)
        return found[first:] + found[:first]

    def _is_ready(self, name: str) -> bool:
        return all(map(self._ended_well, self._ground.needs.get(name, ())))

    def _ended_well(self, name: str) -> bool:
        own = self._ends.get(name)
        return own.result in self._ground.ended_well if own else self._crew.ended_well(name)

    def _once(self, name: str) -> ModuleEnd:
        """Do a module's work with what is known by now; one that is busy is not waited for yet."""
        self._learn(name)
        record = self._context.knowledge.record(name)
        if self._part.joins and record.holder and (found := finish(self._context, record)) is not Liveness.DEAD:
            raise busy(self._context, record, found)
        return self._patiently(name)

    def _patiently(self, name: str) -> ModuleEnd:
        if not self._part.joins:
            return self._work(name)
        record = wait_for_turn(self._context, name)
        if record.run == self._context.run and str(record.status) in self._ground.ended_well:
            # by a process that was killed before it could say so
            log = self._context.tools.ledger.history(name)
            return end_by_log(share_of(self._context.run, name, log), None)
        return self._work(name)

    def _learn(self, name: str) -> None:
        """Read what other processes have recorded of a module and of what it needs."""
        others = [need for need in self._ground.needs.get(name, ()) if need not in self._ends]
        for each in (*others, name):
            self._context.knowledge.learn(self._context.tools.ledger.record(each))

    def _ended(self, name: str, end: ModuleEnd) -> None:
        if self._part.joins and end.exit_code == ModuleBusy.exit_code and name not in self._returned:
            self._left[name] = end
            return
        self._ends[name] = end
        tell(self._context, name, end)
        if self._context.options.fail_fast and end.result not in self._ground.ended_well:
            self._context.stop.no_more(f"--fail-fast after {name}")

    def _wait_for_others(self) -> bool:
        """Wait a while for what other processes are at; say whether anything can come of it."""
        if self._context.stop.wanted:
            return False
        with suppress(Stopped):
            if self._part.joins:
                return self._others_may_go_on() and self._context.stop.wait(LOOK_AGAIN_SECONDS)
            return self._wait_for_needs()
        return False

    def _others_may_go_on(self) -> bool:
        rest = [name for name in self._ground.modules if name not in self._ends]
        crew = self._crew
        return bool(self._open()) or any(crew.is_at_work_on(n) or crew.may_be_tried_again_later(n) for n in rest)

    def _wait_for_needs(self) -> bool:
        blocked = self._blocked()
        for name in (n for n in self._ground.modules if n not in self._ends and n not in blocked):
            waiting = self._waits.setdefault(name, self._context.waiting(name))
            if waiting.seconds < self._context.options.patience.seconds:
                waiting.a_while(f"{', '.join(self._missing(name))}, still to be done in this run")
                return True
        return False

    def _missing(self, name: str) -> tuple[str, ...]:
        return tuple(sorted(n for n in self._ground.needs.get(name, ()) if not self._ended_well(n)))

    def _blocked(self) -> set[str]:
        """Name the modules of which something that they need has ended badly, or can't begin for that reason."""
        found: set[str] = set()
        for name in self._order:
            if any(need in found or self._ended_badly(need) for need in self._ground.needs[name]):
                found.add(name)
        return found

    def _ended_badly(self, name: str) -> bool:
        return not self._ended_well(name) and (name in self._ends or self._crew.word(name) is not None)

    def _closed(self) -> Mapping[str, ModuleEnd]:
        for name, end in self._left.items():
            self._close(name, end)
        blocked = self._blocked()
        for name in (name for name in self._ground.modules if name not in self._ends):
            if not self._part.joins or (name in blocked and not self._crew.word(name)):
                self._close(name, self._not_reached(name, blocked))
            # else: of somebody else, or of nobody yet: whoever goes on with the run will take it up
        if self._part.joins and not self._ends and not self._context.stop.wanted:
            self._context.watch.note(f"other processes of {self._part.name} have done all that there was")
        return self._ends

    def _close(self, name: str, end: ModuleEnd) -> None:
        """End what was not done; of many that take what is ready each would tell the others the same."""
        self._ends[name] = end
        if self._part.joins:
            self._context.watch.module_ended(name, end)
        else:
            tell(self._context, name, end)

    def _not_reached(self, name: str, blocked: set[str]) -> ModuleEnd:
        if self._context.stop.wanted:
            return self._ground.not_reached(self._context, name, ())
        end = self._ground.not_reached(self._context, name, self._missing(name))
        if self._part.joins or end.hint:  # it says itself what helps, which is not to wait
            return end
        if name in blocked:
            return replace(end, exit_code=self._blame(name))
        return replace(end, exit_code=ModuleBusy.exit_code, hint=once_free(self._context.options.patience))

    def _blame(self, name: str) -> int:
        """The exit code of what is to blame for a module that can't begin."""
        bad = [need for need in reach(self._ground.needs, [name]) if self._ended_badly(need)]
        told = filter(None, map(self._crew.word, bad))
        ends = [self._ends[need] for need in bad if need in self._ends]
        ends += [self._context.tools.ledger.shared_runs.end_told(word) for word in told]
        return gravest([end.exit_code for end in ends])


def hash_of(part: str) -> int:
    """A number that is another one for each part."""
    return sum(part[-8:].encode())


@contextmanager
def _giving_signs(context: Context, part: Part) -> Iterator[None]:
    """Show the others, as long as this lasts, that this process is alive."""
    over = Event()

    def sign() -> None:
        number = 0
        while not over.wait(SIGN_SECONDS):
            number += 1
            with suppress(LedgerUnreachable):
                context.tools.ledger.shared_runs.sign(context.run, part.id, number)

    thread = Thread(target=sign, name=f"signs of {part.id}", daemon=True)
    if part.joins:
        thread.start()
    try:
        yield
    finally:
        over.set()
