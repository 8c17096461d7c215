"""Say of each module what became of it, and on an operator's wish put right what can be put right for certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shlex import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.entry import End
from hybridwrap.domain.keys import quoted
from hybridwrap.domain.look import Look
from hybridwrap.domain.open_objects import import_blocks, parse_id
from hybridwrap.domain.ports import ModuleEngine
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.status import Status
from hybridwrap.domain.verdict import Judgement, judge
from hybridwrap.errors import EngineFailed, HybridwrapError
from hybridwrap.run.context import Context
from hybridwrap.run.here import kept_results
from hybridwrap.run.imports import import_open
from hybridwrap.run.looking import look_at
from hybridwrap.run.preparation import mark_of
from hybridwrap.run.push import push_kept
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.verdicts import record_if_certain
from hybridwrap.run.walk import Way, walk
from hybridwrap.run.words import Word, accept_state, give_up_kept, take_word

_UNCLEAN = frozenset({Status.ERROR, Status.UNKNOWN, Status.RUNNING})


class Wishes(Struct, frozen=True):
    """What may be written; nothing by default."""

    apply_verdicts: bool = False
    push_state: bool = False
    drop_state: bool = False
    accept_state: bool = False
    imports: bool = False
    ids: Sequence[str] = ()  # ADDRESS=ID
    word: Word = msgspec.field(default_factory=Word)

    def __bool__(self) -> bool:
        acts = (self.push_state, self.drop_state, self.accept_state, self.imports, self.word)
        return self.apply_verdicts or any(map(bool, acts))


class Reconciled(Struct, frozen=True):
    look: Look
    judgement: Judgement


def look_at_all(context: Context, modules: Sequence[str]) -> tuple[Reconciled, ...]:
    """Look at modules, a few at a time, and judge each; nothing is changed, import blocks are written to a file."""
    with ThreadPoolExecutor(context.options.parallelism) as pool:
        return tuple(pool.map(lambda name: _judged(context, look_at(context, name).look), modules))


def unclean(context: Context, modules: Sequence[str]) -> tuple[str, ...]:
    """Those that are not as the ledger says they should be; for the others the state is looked at, no engine is run."""
    unsent = frozenset(kept_results(context.tools).values())
    with ThreadPoolExecutor(context.options.parallelism) as pool:
        found = zip(modules, pool.map(lambda name: _is_unclean(context, name, unsent), modules), strict=True)
    return tuple(name for name, unclean in found if unclean)


def put_right(context: Context, modules: Sequence[str], wishes: Wishes) -> RunEnd:
    """Do what is wished to each module, as a recorded run; what is certain then is recorded, too."""

    def work() -> Mapping[str, ModuleEnd]:
        return walk(context, modules, lambda name: _put_right(context, name, wishes), Way(dict.fromkeys(modules, ())))

    return recorded_run(context, "reconcile", modules, work)


def _judged(context: Context, look: Look) -> Reconciled:
    if look.open.importable:
        look = replace(look, imports_file=str(_write_imports(context, look)))
    return Reconciled(look, judge(look))


def _write_imports(context: Context, look: Look) -> Path:
    record = look.record
    text = (
        f"# Objects of {record.module} that {record.command} {record.operation} made, and that are in no state.\n"
        f"# To take them in as they are: hybridwrap reconcile {quote(record.module)} --import\n\n"
    )
    blocks = import_blocks(look.open.importable)
    name = f"{quoted(record.module)}-{record.operation or record.run}.tf"
    return context.tools.folders.write_note(name, text + blocks)


def _is_unclean(context: Context, name: str, unsent: frozenset[str]) -> bool:
    record = context.knowledge.record(name)
    if record.status in _UNCLEAN or name in unsent or any(o.open for o in record.objects):
        return True
    module = context.tools.stack.modules.get(name)
    if module is None or record.status is Status.RETAINED:
        return False
    try:
        return _was_changed(context.tools.engines.at(module), record)
    except HybridwrapError:
        return True  # that it can't be told is for the look to say


def _was_changed(engine: ModuleEngine, record: Record) -> bool:
    if engine.repair.unsaved_state() is not None:
        return True
    if record.status not in (Status.OK, Status.DESTROYED):
        return False
    state = engine.state()
    if record.status is Status.DESTROYED:
        return state is not None and bool(state.instances)
    return record.state is not None and mark_of(engine, state) != record.state


def _put_right(context: Context, name: str, wishes: Wishes) -> ModuleEnd:
    began = context.tools.clock.monotonic()
    done = _act(context, name, wishes)
    again = look_at(context, name)
    record_if_certain(context, again, reason=wishes.word.reason)
    end = _module_end(context, name, done)
    return replace(end, seconds=context.tools.clock.monotonic() - began)


def _act(context: Context, name: str, wishes: Wishes) -> End | None:
    """Do what is wished, in the order in which one thing makes way for the next."""
    done: End | None = None
    seen = look_at(context, name)
    if wishes.word:
        take_word(context, seen, wishes.word)
    elif wishes.accept_state:
        accept_state(context, seen, wishes.word.reason)
    elif wishes.drop_state:
        give_up_kept(context, seen, wishes.word.reason)
    elif wishes.push_state:
        done = push_kept(context, seen)
    elif wishes.imports:
        done = import_open(context, seen, dict(parse_id(seen.objects, text) for text in wishes.ids))
    return done


def _module_end(context: Context, name: str, done: End | None) -> ModuleEnd:
    record = context.knowledge.record(name)
    failed = done is not None and bool(done.errors or done.kept)
    reason = done.reason if done else f"{record.status}: {record.reason}" if record.reason else str(record.status)
    result, code = ("error", EngineFailed.exit_code) if failed else ("ok", 0)
    return ModuleEnd(result, code, reason=reason, errors=done.errors if done else ())
