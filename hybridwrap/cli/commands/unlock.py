"""`hybridwrap unlock`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from shlex import quote

import click

from hybridwrap.cli.completing import offer_modules
from hybridwrap.cli.compose import equip, look_closely
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import duration, local_moment
from hybridwrap.cli.options import Place, stack_options
from hybridwrap.cli.running import at_work, watcher
from hybridwrap.cli.teardown import repair_job, with_undeclared
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.record import Holder
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.state import Unreadable
from hybridwrap.errors import UsageError
from hybridwrap.run.context import Context, Options
from hybridwrap.run.ends import guarded
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.takeover import Hold, look_at, release_lock, unlock

Work = Callable[[Context, str], ModuleEnd]


@click.command("unlock")
@stack_options
@click.argument("module", shell_complete=offer_modules)
@click.option("--operation", metavar="ID", help="End this operation, whose runner and engine are gone for good.")
@click.option("--state-lock", "lock_id", metavar="ID", help="Release this lock of the engine, whose holder is gone.")
@click.option("--reason", help="How you know that it is dead; kept in the ledger.")
def command(place: Place, module: str, operation: str | None, lock_id: str | None, reason: str | None) -> int:
    """Show who holds a module, or free it on your word.

    Without options nothing is changed: it shows the operation that holds the module, since when and where, its last
    sign of life, and the engine's lock on the state. What is proven to be dead needs no word: `sync` finishes it.

    With --operation ID --reason TEXT you say that this operation is dead although this host can't see it. If it is
    alive, two engines will run at once. Its outcome becomes unknown, and `reconcile` says what is there.
    """
    if operation is None and lock_id is None:
        _look(place, module)
        return 0
    if operation and lock_id:
        raise UsageError("say --operation or --state-lock, one after the other")
    if operation:
        if not reason:
            raise UsageError("--operation needs --reason: how do you know that it is dead?")
        return _act(place, module, lambda context, name: unlock(context, name, operation, reason))
    return _act(place, module, lambda context, name: release_lock(context, name, lock_id or ""))


def _act(place: Place, module: str, work: Work) -> int:
    job = repair_job(place, [module])
    watch = watcher(job)
    with at_work(job, Options(), watch) as context:
        end = recorded_run(
            context, "unlock", job.modules, lambda: {module: guarded(module, lambda name: work(context, name))}
        )
    for name, ended in end.modules.items():
        watch.module_ended(name, ended)
    watch.run_ended(end, job.knowledge.outputs)
    return end.exit_code


def _look(place: Place, module: str) -> None:
    workshop = with_undeclared(equip(look_closely(place)[0]), [module])
    for line in _lines(look_at(workshop.tools, module)):
        click.echo(as_typed(line, place))


def _lines(hold: Hold) -> Iterator[str]:
    name, holder = hold.record.module, hold.record.holder
    if holder is None:
        yield f"{name} is held by nobody"
    else:
        yield f"{name} is held by {_named(holder)}"
        yield from _about(hold, holder)
    yield from _about_lock(hold)
    if holder and hold.liveness is Liveness.DEAD:
        yield "next: hybridwrap sync"
    elif holder and hold.liveness is Liveness.NOT_VISIBLE:
        yield "next, once you know that it is dead:"
        yield f"  hybridwrap unlock {quote(name)} --operation {holder.operation} --reason 'how you know'"


def _about(hold: Hold, holder: Holder) -> Iterator[str]:
    yield f"  run         {holder.run}"
    if holder.writer.ci_url:
        yield f"  job         {holder.writer.ci_url}"
    yield f"  seen here   {hold.liveness}"
    for earlier in holder.took_over:
        yield f"  taken from  {_named(earlier)}"
    for beat in hold.beats:
        age = duration((datetime.now(UTC) - datetime.fromisoformat(beat.time)).total_seconds())
        yield f"  last sign   {age} ago, of {len(beat.objects)} objects (a hint: it sends one only when there is news)"


def _named(holder: Holder) -> str:
    return f"{holder.command} {holder.operation} of {holder.writer} since {local_moment(holder.since)}"


def _about_lock(hold: Hold) -> Iterator[str]:
    match hold.lock:
        case None:
            yield "  state lock  none"
        case Unreadable(reason):
            yield f"  state lock  not visible: {reason}"
        case lock:
            ours = "; left by an operation that is dead: the next apply releases it"
            yield f"  state {lock}{ours if lock.id == hold.record.state_lock else ''}"
            if not lock.holds:
                yield "              a left-over that keeps nobody out"
            elif hold.record.holder is None:
                yield "next, once you know that nobody works on it:"
                yield f"  hybridwrap unlock {quote(hold.record.module)} --state-lock {lock.id}"
