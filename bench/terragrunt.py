"""Terragrunt on the same stack, where it is installed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from bench.process import Cost, measured
from bench.raw import PARALLELISM
from tests.support.stacks import WrittenStack

_REFERENCE = re.compile(r'"\{\{ modules\.(\w+)\.(\w+) }}"')


def write_units(stack: WrittenStack) -> None:
    """Write each module's `terragrunt.hcl` beside its configuration."""
    for module, inputs in stack.inputs.items():
        text = json.dumps(dict(inputs), indent=2)
        needed = sorted({found[0] for found in _REFERENCE.findall(text)})
        blocks = [f'dependency "{name}" {{\n  config_path = "../{name}"\n}}\n' for name in needed]
        values = _REFERENCE.sub(r"dependency.\1.outputs.\2", text)
        (stack.source(module) / "terragrunt.hcl").write_text("".join([*blocks, f"inputs = {values}\n"]))


def terragrunt_apply(stack: WrittenStack, env: Mapping[str, str], program: str) -> Cost:
    argv = [program, "run", "--all", "--non-interactive", "--parallelism", str(PARALLELISM), "apply"]
    return measured(argv, stack.path / "modules", env, stack.path / "terragrunt.log")
