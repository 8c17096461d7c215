"""The contract of those who look for a module's objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hybridwrap.domain.absence import Probe
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.stack import Module


class Prober(Protocol):
    def ask(self, module: Module, objects: Sequence[CloudObject]) -> tuple[Probe, ...]:
        """Ask everyone that the module's manifest names whether anything of it is there; nobody named: no answer.

        `objects` are those that are known. Never raises: who can't be asked has not seen that nothing is there.
        """
