"""What every measurement needs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.moto_server import Server
from bench.process import Cost, measured

HYBRIDWRAP = str(Path(sys.executable).with_name("hybridwrap"))


@dataclass(frozen=True, slots=True)
class Ground:
    """The engine as a shell's words, the environment of every process, an AWS of its own."""

    engine: str
    env: Mapping[str, str]
    moto: Server


def hybridwrap_apply(stack: Path, env: Mapping[str, str]) -> Cost:
    return measured([HYBRIDWRAP, "apply", "--auto-approve"], stack, env, stack / "hybridwrap.log")
