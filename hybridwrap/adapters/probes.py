"""Asks everyone whom a module's `verify` names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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

    def ask(self, module: Module, objects: Sequence[CloudObject]) -> tuple[Probe, ...]:
        return tuple(self._answers(module, objects))

    def _answers(self, module: Module, objects: Sequence[CloudObject]) -> Iterator[Probe]:
        verify = module.verify
        if not verify.asks:
            return
        from hybridwrap.adapters.as_itself import AsItself

        try:
            env = AsItself(self._stack, self._environ, self._clock).in_its_account(module)
        except CredentialsRefused as error:  # who looks elsewhere sees nothing, and that proves nothing
            yield Probe("verify", Answer.UNVERIFIABLE, detail=error.message)
            return
        if verify.absent:
            from hybridwrap.adapters.probe_command import ask_command

            names = {"stack": self._stack.name, "environment": self._stack.environment, "module": module.name}
            yield ask_command(module, objects, folder=self._stack.root, env=env, names=names)
        if verify.aws_tags:
            from hybridwrap.adapters.aws_tag_search import search_by_tags

            yield search_by_tags(verify.aws_tags, region=verify.aws_region, env=env, seconds=verify.timeout_seconds)
