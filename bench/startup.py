"""How long hybridwrap takes to start, and what it loads."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from bench.ground import HYBRIDWRAP, Ground, hybridwrap_apply
from bench.process import measured
from bench.report import Row
from tests.support import stacks

_SECTION = "start"
_PROMISED_MS = 120.0
_PROMISED_RATIO = 1.5
_ROUNDS = 11


def starting(ground: Ground, folder: Path) -> list[Row]:
    folder.mkdir()
    imports = [sys.executable, "-c", "import click, rich"]
    log = folder / "start.log"
    pairs = [
        (measured(imports, folder, ground.env, log), measured([HYBRIDWRAP, "--help"], folder, ground.env, log))
        for _ in range(_ROUNDS)
    ]
    base = median(bare.seconds for bare, _ in pairs) * 1000
    ours = median(own.seconds for _, own in pairs) * 1000
    against = "import click, rich"
    return [
        Row(_SECTION, f"python -c '{against}'", base, "ms"),
        Row(_SECTION, "hybridwrap --help", ours, "ms", promised=_PROMISED_MS),
        Row(_SECTION, "hybridwrap --help, as a ratio", ours, "ms", against, ours / base, _PROMISED_RATIO),
        Row(_SECTION, "boto3 loaded by an apply without S3", _boto3_loads(ground, folder), "times", promised=0),
    ]


def _boto3_loads(ground: Ground, folder: Path) -> float:
    stack = stacks.independent(folder / "local", 1)
    hybridwrap_apply(stack.path, {**ground.env, "PYTHONPROFILEIMPORTTIME": "1"})
    lines = (stack.path / "hybridwrap.log").read_text().splitlines()
    return float(sum(line.rpartition("|")[2].strip() == "boto3" for line in lines))
