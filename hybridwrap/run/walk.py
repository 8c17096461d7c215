"""Walk the graph: start each module as soon as its needs have ended well, a few at a time.

Keeps: work that did not run ends as pending with the reason, never as failed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.charter import stamp
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.errors import Stopped
from hybridwrap.run.context import Context, Part
from hybridwrap.run.ends import guarded, tell, waiting_end
from hybridwrap.run.preparation import Prepared
from hybridwrap.run.queue import ENDED_WELL, Queue

T = TypeVar("T")
Needs = Mapping[str, Sequence[str]]
Work = Callable[[str], ModuleEnd]
Prepare = Callable[[str], Prepared | ModuleEnd]
Approve = Callable[[Sequence[Prepared]], frozenset[str]]
Follow = Callable[[Context, str, ModuleEnd], ModuleEnd]


def _leave_it(_context: Context, _name: str, end: ModuleEnd) -> ModuleEnd:
    return end


class Way(Struct, frozen=True):
    """What must have ended well before each module, which ends are that, and how what was not reached ends.

    `after` follows each turn, and returns its end.
    """

    needs: Needs
    ended_well: frozenset[str] = ENDED_WELL
    not_reached: Callable[[Context, str, tuple[str, ...]], ModuleEnd] = waiting_end
    whole: Needs = MappingProxyType({})  # the same for all modules that may be a part of the run
    after: Follow = _leave_it


def forward(
    context: Context, modules: Sequence[str], ended_well: frozenset[str] = ENDED_WELL, *, after: Follow = _leave_it
) -> Way:
    """The way of the stack's graph."""
    whole = {name: module.needs for name, module in context.tools.stack.modules.items()}
    return Way({name: whole[name] for name in modules}, ended_well, whole=whole, after=after)


def walk(context: Context, modules: Sequence[str], work: Work, way: Way) -> Mapping[str, ModuleEnd]:
    """Run `work` for each module; what comes after one that did not end well waits."""
    if context.part:
        return _walk_together(context, context.part, modules, work, way)
    queue = Queue(modules, way.needs, way.ended_well)
    with ThreadPoolExecutor(context.options.parallelism) as pool:
        running: dict[Future[ModuleEnd], str] = {}
        while True:
            if not context.stop.wanted:
                for name in queue.take_ready(context.options.parallelism - len(running)):
                    running[pool.submit(_timed, name, context, work, way)] = name
            if not running:
                return _close(context, queue, way)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                _ended(context, queue, way, running.pop(future), future.result())


def _walk_together(
    context: Context, part: Part, modules: Sequence[str], work: Work, way: Way
) -> Mapping[str, ModuleEnd]:
    """Do this process's part of a shared run."""
    from hybridwrap.run.together import Ground, Walk

    needs = way.whole or way.needs
    document = context.tools.ledger.shared_runs.document(context.run)
    if part.joins and document:
        modules = [name for name in document.modules if name in needs]
    among = set(modules) if part.joins else {*modules, *(needs if part.among is None else part.among)}
    inside = {name: [need for need in needs[name] if need in among] for name in needs if name in among}
    ground = Ground(modules, inside, way.ended_well, way.not_reached)
    return Walk(context, part, ground, work, lambda name, turn: _timed(name, context, turn, way)).to_its_end()


def walk_in_waves(
    context: Context,
    modules: Sequence[str],
    prepare: Prepare,
    approve: Approve,
    carry_out: Callable[[Prepared], ModuleEnd],
    way: Way,
) -> Mapping[str, ModuleEnd]:
    """Prepare all modules that are ready, ask about those with changes once, carry out, and go on to the next wave."""
    queue = Queue(modules, way.needs, way.ended_well)
    with ThreadPoolExecutor(context.options.parallelism) as pool:
        while not context.stop.wanted and (ready := queue.take_ready()):
            timed = partial(_timed, context=context, work=prepare, way=way)
            results = dict(zip(ready, pool.map(timed, ready), strict=True))
            plans = {name: result for name, result in results.items() if isinstance(result, Prepared)}
            for name, result in results.items():
                if isinstance(result, ModuleEnd):
                    _ended(context, queue, way, name, result)
            approved = approve(list(plans.values())) if plans else frozenset()
            finish = partial(_finish, context, way, plans=plans, approved=approved, carry_out=carry_out)
            for name, end in zip(plans, pool.map(finish, plans), strict=True):
                _ended(context, queue, way, name, end)
    return _close(context, queue, way)


def _timed(name: str, context: Context, work: Callable[[str], T], way: Way) -> T | ModuleEnd:
    began = stamp(context.tools.clock.now())
    end = guarded(name, work)
    if not isinstance(end, ModuleEnd):
        return end
    return context.waits.noted(name, replace(way.after(context, name, end), began=began))


def _finish(
    context: Context,
    way: Way,
    name: str,
    *,
    plans: Mapping[str, Prepared],
    approved: frozenset[str],
    carry_out: Callable[[Prepared], ModuleEnd],
) -> ModuleEnd:
    if name in approved:
        return _timed(name, context, lambda _: carry_out(plans[name]), way)
    plans[name].folder.remove()
    return ModuleEnd("declined", Stopped.exit_code, reason=context.stop.reason or "not approved")


def _ended(context: Context, queue: Queue, way: Way, name: str, end: ModuleEnd) -> None:
    queue.end(name, end)
    tell(context, name, end)
    if context.options.fail_fast and end.result not in way.ended_well:
        context.stop.no_more(f"--fail-fast after {name}")


def _close(context: Context, queue: Queue, way: Way) -> Mapping[str, ModuleEnd]:
    for name in queue.waiting:
        end = way.not_reached(context, name, queue.blocked_by(name))
        queue.ends[name] = end
        tell(context, name, end)
    return queue.ends
