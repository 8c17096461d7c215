"""Asks everyone whom a module's `verify` names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hybridwrap.adapters.credentials_command import ask_for_credentials
from hybridwrap.adapters.engine.callers import Callers
from hybridwrap.adapters.engine.environment import engine_environment
from hybridwrap.adapters.printed_credentials import laid_over
from hybridwrap.domain.absence import Answer, Probe
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.ports import Clock
from hybridwrap.domain.stack import Module, Stack
from hybridwrap.errors import CredentialsRefused


class StackProber:
    def __init__(self, stack: Stack, environ: Mapping[str, str], clock: Clock) -> None:
        self._stack = stack
        self._environ = environ
        self._clock = clock
        self._callers = Callers(stack.root, clock, lambda: _never)

    def ask(self, module: Module, objects: Sequence[CloudObject]) -> tuple[Probe, ...]:
        return tuple(self._answers(module, objects))

    def _answers(self, module: Module, objects: Sequence[CloudObject]) -> Iterator[Probe]:
        verify = module.verify
        if not verify.asks:
            return
        env, _ = engine_environment(self._environ, module)
        try:
            env = self._as_itself(module, env)
        except CredentialsRefused as error:
            yield Probe("verify", Answer.UNVERIFIABLE, detail=error.message)
            return
        if verify.absent:
            from hybridwrap.adapters.probe_command import ask_command

            names = {"stack": self._stack.name, "environment": self._stack.environment, "module": module.name}
            yield ask_command(module, objects, folder=self._stack.root, env=env, names=names)
        if verify.aws_tags:
            from hybridwrap.adapters.aws_tag_search import search_by_tags

            yield search_by_tags(verify.aws_tags, region=verify.aws_region, env=env, seconds=verify.timeout_seconds)

    def _as_itself(self, module: Module, env: dict[str, str]) -> dict[str, str]:
        """The environment as the module's engine has it: who looks elsewhere sees nothing, and that proves nothing."""
        if module.credentials.command:
            printed = ask_for_credentials(
                module,
                env=env,
                folder=self._stack.root,
                names={"stack": self._stack.name, "environment": self._stack.environment},
                clock=self._clock,
                stopped=_never,
            )
            env = laid_over(env, printed)
        if module.account and (caller := self._callers.of(env)).account != module.account:
            raise CredentialsRefused(f"who asks is in {caller}, not in account {module.account}")
        return env


def _never() -> bool:
    return False
