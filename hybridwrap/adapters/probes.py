"""Asks everyone whom a module's `verify` names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hybridwrap.adapters.aws_tag_search import search_by_tags
from hybridwrap.adapters.engine.environment import engine_environment
from hybridwrap.adapters.probe_command import ask_command
from hybridwrap.domain.absence import Probe
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.stack import Module, Stack


class StackProber:
    def __init__(self, stack: Stack, environ: Mapping[str, str]) -> None:
        self._stack = stack
        self._environ = environ

    def ask(self, module: Module, objects: Sequence[CloudObject]) -> tuple[Probe, ...]:
        return tuple(self._answers(module, objects))

    def _answers(self, module: Module, objects: Sequence[CloudObject]) -> Iterator[Probe]:
        env, _ = engine_environment(self._environ, module)
        verify = module.verify
        if verify.absent:
            names = {"stack": self._stack.name, "environment": self._stack.environment, "module": module.name}
            yield ask_command(module, objects, folder=self._stack.root, env=env, names=names)
        if verify.aws_tags:
            yield search_by_tags(verify.aws_tags, region=verify.aws_region, env=env, seconds=verify.timeout_seconds)
