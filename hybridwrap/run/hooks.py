"""Hooks around operations and runs.

Keeps: a failing `before` is the only one that stops anything, and nothing has begun then; what became of a module is
recorded before `after` and `error` are called, and stays as it is whatever they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from hybridwrap.domain.codec import plain
from hybridwrap.domain.hook_calls import Called, HookCall
from hybridwrap.domain.hook_failed import HookFailed
from hybridwrap.domain.hooks import AFTER, BEFORE, ERROR, FAILED, Argv, HookRun
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.ports import OperationFolder
from hybridwrap.domain.record import Record
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.stack import Module, Reference
from hybridwrap.errors import PreflightRefused, gravest
from hybridwrap.run.context import Context
from hybridwrap.run.preparation import Prepared

DONE_WELL = frozenset({"ok", "destroyed"})
WENT_WRONG = frozenset({"error", "unknown", "unsent", "superseded", "refused", "bug"})


def before_begin(context: Context, prepared: Prepared) -> tuple[HookRun, ...]:
    """Call a module's `before`. Raise HookFailed, when nothing has begun."""
    module, folder = prepared.module, prepared.folder
    if not module.hooks.before:
        return ()
    context.watch.phase(module.name, BEFORE)
    call = _of_module(context, module, BEFORE, folder, str(prepared.record.settled))
    runs = _called(context, call, module.name)
    if any(run.failed for run in runs):
        folder.drop_secrets()
        folder.release()  # its log stays
        raise HookFailed(f"not begun: hook {runs[-1]}", runs)
    return runs


def after_turn(context: Context, name: str, end: ModuleEnd) -> ModuleEnd:
    """Call `after` where an operation has done what it should, `error` where a module's turn went wrong."""
    module, when = context.tools.stack.modules.get(name), _moment(end)
    if module is None or not when or not module.hooks.at(when):
        return end
    context.watch.phase(name, when)
    try:
        with _folder(context, context.knowledge.record(name), end) as folder:
            call = _of_module(context, module, when, folder, _status(context, end, name))
            told = _named({"OPERATION": end.operation, "RESULT": end.result})
            runs = _called(context, replace(call, variables={**call.variables, **told}), name)
    except PreflightRefused as error:
        runs = _not_called(context, module.hooks.at(when), when, error)
    return replace(end, exit_code=gravest([end.exit_code, *codes_of(runs)]), hooks=(*end.hooks, *runs))


def around_run(context: Context, command: str, when: str, exit_code: int = 0) -> tuple[HookRun, ...]:
    """Call the run's own hooks."""
    hooks, argvs = context.tools.stack.hooks, context.tools.stack.hooks.at(when)
    if not argvs:
        return ()
    names = {"EXIT_CODE": str(exit_code)} if when == AFTER else {}
    variables = {**_common(context, when, command), **_named(names)}
    try:
        with _new_folder(context) as folder:
            outputs = canonical({name: _outputs(context, name) for name in context.knowledge.outputs})
            call = HookCall(when, argvs, hooks.timeout_seconds, folder.path, None, variables, outputs)
            return _called(context, call)
    except PreflightRefused as error:
        return _not_called(context, argvs, when, error)


def codes_of(runs: Sequence[HookRun]) -> tuple[int, ...]:
    return tuple(FAILED for run in runs if run.failed)


def _moment(end: ModuleEnd) -> str:
    if end.result in DONE_WELL:
        return AFTER if end.operation else ""
    return ERROR if end.result in WENT_WRONG else ""


def _not_called(context: Context, argvs: Sequence[Argv], when: str, error: PreflightRefused) -> tuple[HookRun, ...]:
    context.watch.note(f"no hook of `{when}` was called: {error.message}")
    return tuple(HookRun(when, argv, trouble=error.message) for argv in argvs)


def _status(context: Context, end: ModuleEnd, name: str) -> str:
    """What is recorded; while nothing is, of an operation whose result was not sent, nobody can tell."""
    return "unknown" if end.result == "unsent" else str(context.knowledge.record(name).settled)


def _of_module(context: Context, module: Module, when: str, folder: OperationFolder, status: str) -> HookCall:
    variables = {
        **_common(context, when, context.options.command),
        **_named({"MODULE": module.name, "OPERATION": folder.operation, "STATUS": status}),
    }
    hooks, outputs = module.hooks, canonical(_outputs(context, module.name))
    return HookCall(when, hooks.at(when), hooks.timeout_seconds, folder.path, module, variables, outputs)


def _common(context: Context, when: str, command: str) -> dict[str, str]:
    stack = context.tools.stack
    names = {"HOOK": when, "STACK": stack.name, "ENVIRONMENT": stack.environment}
    return _named({**names, "RUN": context.run, "COMMAND": command})


def _named(names: Mapping[str, str]) -> dict[str, str]:
    return {f"HYBRIDWRAP_{name}": value for name, value in names.items()}


def _outputs(context: Context, name: str) -> Json:
    """As `output --json` has them, with sensitive values where this run has seen them."""
    told: dict[str, Json] = {}
    for output, kept in context.knowledge.record(name).outputs.items():
        told[output] = {**plain(kept)}
        if kept.sensitive:
            told[output].pop("value", None)
            try:
                told[output]["value"] = context.knowledge.secret(Reference(name, output))
            except KeyError:
                continue
    return told


def _called(context: Context, call: HookCall, module: str = "") -> tuple[HookRun, ...]:
    """Call them; each that failed is said at once."""
    mask = Redaction((*context.knowledge.secret_values, *context.knowledge.secret_inputs))
    called = context.tools.hooks.call(call, lambda: bool(context.stop.signals), mask.text)
    for each in called:
        if each.run.failed:
            _say(context, module, each)
    return tuple(replace(each.run, argv=tuple(map(mask.text, each.run.argv))) for each in called)


def _say(context: Context, module: str, called: Called) -> None:
    log = f"; log: {_shortened(called.log, context.tools.stack.root)}" if called.log.name else ""
    told = f"hook {called.run}{f': {called.said}' if called.said else ''}{log}"
    if module:
        context.watch.warning(module, told)
    else:
        context.watch.note(told)


def _shortened(file: Path, root: Path) -> Path:
    return file.relative_to(root) if file.is_relative_to(root) else file


@contextmanager
def _folder(context: Context, record: Record, end: ModuleEnd) -> Iterator[OperationFolder]:
    """The operation's own folder, locked again; one of the hooks' own where there is none."""
    ours = end.operation and record.operation == end.operation and record.log
    left = context.tools.folders.open(Path(record.log).parent) if ours else None
    if left is None:
        with _new_folder(context) as folder:
            yield folder
        return
    try:
        yield left
    finally:
        left.release()


@contextmanager
def _new_folder(context: Context) -> Iterator[OperationFolder]:
    folder = context.tools.folders.make(context.tools.ids.new())
    try:
        yield folder
    finally:
        folder.release()
