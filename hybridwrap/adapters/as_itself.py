"""The environment of a module's engine for other programs that look at the same cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hybridwrap.adapters.credentials_command import ask_for_credentials
from hybridwrap.adapters.engine.callers import Callers
from hybridwrap.adapters.engine.environment import engine_environment
from hybridwrap.adapters.printed_credentials import laid_over
from hybridwrap.domain.ports import Clock
from hybridwrap.domain.stack import Module, Stack
from hybridwrap.errors import CredentialsRefused


class AsItself:
    """Of one stack on this host."""

    def __init__(self, stack: Stack, environ: Mapping[str, str], clock: Clock) -> None:
        self._stack = stack
        self._environ = environ
        self._clock = clock
        self._callers = Callers(stack.root, clock, lambda: _never)

    def without_credentials(self, module: Module) -> dict[str, str]:
        return engine_environment(self._environ, module)[0]

    def environment(self, module: Module, stopped: Callable[[], bool] | None = None) -> dict[str, str]:
        """With what the module's `credentials` print. Raise CredentialsRefused."""
        env = self.without_credentials(module)
        if not module.credentials.command:
            return env
        printed = ask_for_credentials(
            module,
            env=env,
            folder=self._stack.root,
            names={"stack": self._stack.name, "environment": self._stack.environment},
            clock=self._clock,
            stopped=stopped or _never,
        )
        return laid_over(env, printed)

    def in_its_account(self, module: Module) -> dict[str, str]:
        """The same, of the right account. Raise CredentialsRefused."""
        env = self.environment(module)
        if module.account and (caller := self._callers.of(env)).account != module.account:
            raise CredentialsRefused(f"who asks is in {caller}, not in account {module.account}")
        return env


def _never() -> bool:
    return False
