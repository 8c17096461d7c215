"""The raw engine under xargs, four modules at a time: what people have without a wrapper."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from bench.process import Cost, measured
from tests.support.stacks import WrittenStack

PARALLELISM = 4
_APPLY = "{0} init -input=false && {0} plan -input=false -out=plan && {0} apply plan"
_REFERENCE = re.compile(r"\{\{ modules\.(\w+)\.(\w+) }}")


@dataclass(frozen=True, slots=True)
class RawFresh:
    apply: float  # seconds of init, plan -out and apply of all modules
    output: float  # seconds of `output -json` of all modules
    apply_cpu: float | None  # CPU seconds of init, plan -out and apply


def raw_fresh(stack: WrittenStack, engine: str, env: Mapping[str, str]) -> RawFresh:
    """Apply a stack layer by layer, handing outputs on through var-files; `engine` is a shell's words."""
    applied, read = [], []
    for layer in stack.layers:
        for module in layer:
            inputs = _resolved(stack, module)
            (stack.source(module) / "terraform.tfvars.json").write_text(json.dumps(inputs))
        applied.append(_xargs(stack, layer, _APPLY, engine, env))
        read.append(_xargs(stack, layer, "{0} output -json >outputs.json", engine, env))
    known = [cost.below for cost in applied if cost.below is not None]
    cpu = sum(known) if len(known) == len(applied) else None
    return RawFresh(sum(cost.seconds for cost in applied), sum(cost.seconds for cost in read), cpu)


def raw_plan(stack: WrittenStack, engine: str, env: Mapping[str, str]) -> Cost:
    """Plan every module again, in any order."""
    return _xargs(stack, stack.modules, "{0} plan -input=false -detailed-exitcode", engine, env)


def _xargs(stack: WrittenStack, modules: tuple[str, ...], script: str, engine: str, env: Mapping[str, str]) -> Cost:
    (stack.path / "names.txt").write_text("".join(f"{name}\n" for name in modules))
    each = f'cd "modules/$1" && exec >raw.log 2>&1 && {script.format(engine)}'
    argv = ["sh", "-c", f'xargs -P{PARALLELISM} -I{{}} sh -c "$0" sh {{}} <names.txt', each]
    return measured(argv, stack.path, env, stack.path / "xargs.log")


def _resolved(stack: WrittenStack, module: str) -> dict[str, object]:
    return {name: _value(stack, value) for name, value in stack.inputs[module].items()}


def _value(stack: WrittenStack, value: object) -> object:
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    outputs: dict[str, dict[str, object]] = json.loads((stack.source(found[1]) / "outputs.json").read_text())
    return outputs[found[2]]["value"]
