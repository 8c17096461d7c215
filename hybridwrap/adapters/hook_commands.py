"""Calls hooks: in the manifest's folder, as the module's engine, with their output in a private log.

Keeps: the ledger's own key is not handed over, and nothing that a hook prints means anything.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from hybridwrap.adapters.as_itself import AsItself
from hybridwrap.adapters.operation_folder import HOOKS_LOG, OUTPUTS, rewrite
from hybridwrap.adapters.printed_credentials import OPEN
from hybridwrap.adapters.user_command import Call, run_user_command, why_not
from hybridwrap.domain.hook_calls import Called, HookCall
from hybridwrap.domain.hooks import BEFORE, Argv, HookRun
from hybridwrap.domain.ports import Clock
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.stack import FromEnv, Module, Stack
from hybridwrap.errors import CredentialsRefused

LONGEST_LINE = 500
TAIL = 4_096  # bytes
WITHIN = "HYBRIDWRAP_WITHIN"  # the hooks that a program was called by, the outermost first
NEXT = ","
IN_A_CIRCLE = "was not called again from within itself"
LOG = "; log: "  # as run/hooks.py ends what it says


class HookCommands:
    def __init__(self, stack: Stack, environ: Mapping[str, str], clock: Clock) -> None:
        self._stack = stack
        self._environ = environ
        self._clock = clock
        self._as_itself = AsItself(stack, environ, clock)

    def call(self, call: HookCall, stopped: Callable[[], bool], mask: Callable[[str], str]) -> tuple[Called, ...]:
        outputs = call.folder / OUTPUTS
        env, secrets = self._environment(call.module, stopped)
        within = NEXT.join((*self._within, self._name(call)))
        env |= {**call.variables, "HYBRIDWRAP_OUTPUTS": str(outputs), WITHIN: within}
        try:
            _write(outputs, call.outputs)
            called = list(self._each(call, env, stopped))
        except OSError as error:
            trouble = f"could not be called: {error.strerror} ({call.folder})"
            return tuple(Called(HookRun(call.when, argv, trouble=trouble)) for argv in call.hooks)
        else:
            return tuple(replace(each, said=mask(Redaction(secrets).text(each.said))) for each in called)
        finally:
            with suppress(OSError):
                outputs.unlink(missing_ok=True)
                rewrite(call.folder / HOOKS_LOG, lambda line: mask(Redaction(secrets).text(line)))

    def why_not(self, hook: Argv, module: Module | None) -> str:
        env = self._as_itself.without_credentials(module) if module else self._environ
        return why_not(hook, self._stack.root, env)

    def _each(self, call: HookCall, env: Mapping[str, str], stopped: Callable[[], bool]) -> Iterator[Called]:
        for argv in call.hooks:
            called = self._one(call, argv, env, stopped)
            yield called
            if called.run.failed and call.when == BEFORE:
                return

    def _one(self, call: HookCall, argv: Argv, env: Mapping[str, str], stopped: Callable[[], bool]) -> Called:
        file = call.folder / HOOKS_LOG
        if stopped():
            return Called(HookRun(call.when, argv, trouble="was not called, as the run was stopped"), log=file)
        if (name := self._name(call)) in self._within:
            way = " > ".join((*self._within, name))
            return Called(HookRun(call.when, argv, trouble=f"{IN_A_CIRCLE}: {way}"), log=file)
        log = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(log, f"$ {shlex.join(argv)}\n".encode(errors="surrogateescape"))
            began = os.fstat(log).st_size
            command = Call(argv, self._stack.root, env, call.timeout_seconds, stopped, stdout=log, stderr=log)
            finished = run_user_command(command, self._clock)
            said = _told(_last_lines(log, began))
        finally:
            os.close(log)
        run = HookRun(call.when, argv, finished.exit_code, round(finished.seconds, 3), finished.trouble)
        return Called(run, said, file)

    @cached_property
    def _within(self) -> tuple[str, ...]:
        """The hooks that have called this hybridwrap, themselves or through others: called again they never end."""
        return tuple(filter(None, self._environ.get(WITHIN, "").split(NEXT)))

    def _name(self, call: HookCall) -> str:
        module = f"/{call.module.name}" if call.module else ""
        return f"{call.when}:{self._stack.name}/{self._stack.environment}{module}"

    def _environment(
        self, module: Module | None, stopped: Callable[[], bool]
    ) -> tuple[dict[str, str], tuple[str, ...]]:
        """That of the engine, and what of it must not stay in a log.

        Without credentials where none can be had: what a hook does without them is its own business.
        """
        key = self._stack.ledger.encryption.get("key_from_env", "")
        inputs = tuple(self._environ[name] for name in self._from_env if name in self._environ)
        if module is None:
            return {name: value for name, value in self._environ.items() if name != key}, inputs
        bare = env = self._as_itself.without_credentials(module)
        with suppress(CredentialsRefused):
            env = self._as_itself.environment(module, stopped)
        secrets = tuple(value for name, value in env.items() if bare.get(name) != value and name not in OPEN)
        return {name: value for name, value in env.items() if name != key or name in module.env}, (*secrets, *inputs)

    @cached_property
    def _from_env(self) -> frozenset[str]:
        """The variables from which modules take secrets: each hook has all of them."""
        sources = (source for module in self._stack.modules.values() for source in module.inputs.values())
        return frozenset(source.name for source in sources if isinstance(source, FromEnv))


def _write(file: Path, data: bytes) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as written:
        written.write(data)


def _told(lines: Sequence[str]) -> str:
    """The last line; of hybridwraps that call each other in a circle why that ended, however deep that was said."""
    found = next((line[line.index(IN_A_CIRCLE) :].partition(LOG)[0] for line in lines if IN_A_CIRCLE in line), "")
    return (found or next(reversed(lines), ""))[:LONGEST_LINE]


def _last_lines(log: int, began: int) -> list[str]:
    """Of what stands in a file from a place on."""
    end = os.fstat(log).st_size
    start = max(began, end - TAIL)
    lines = os.pread(log, end - start, start).decode(errors="replace").splitlines()
    return [line.strip() for line in lines if line.strip()]
