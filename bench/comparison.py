"""Raw engine, Terragrunt and hybridwrap on one stack, each on a copy of its own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from bench.ground import Ground, hybridwrap_apply
from bench.process import Cost
from bench.raw import raw_fresh, raw_plan
from bench.report import Row
from bench.stacks import (
    FRESH,
    RAW_APPLY,
    RAW_FRESH,
    RAW_PLAN,
    TERRAGRUNT_FRESH,
    TERRAGRUNT_UNCHANGED,
    UNCHANGED,
    Case,
    Promise,
)
from bench.terragrunt import terragrunt_apply, write_units
from tests.support.aws_provider import aws_provider_configuration

_CPU_BESIDE_ENGINES = 0.15
_PEAK_MB = 150.0
_LARGE = 100  # modules: the promises about CPU and memory are made for this size

Times = Mapping[str, float | None]  # seconds by name; None: not on this machine
_ENGINES = {FRESH: "raw engines, CPU of init + plan + apply", UNCHANGED: "raw engines, CPU of plan"}


def compare(ground: Ground, folder: Path, *, case: Case) -> list[Row]:
    """Measure one stack; raise Failed when a command fails, NotAvailable without the AWS provider."""
    env = dict(ground.env)
    if case.aws:
        env["TF_CLI_CONFIG_FILE"] = str(aws_provider_configuration())
    took = {**_raw(case, ground, env, folder / "raw"), **_terragrunt(case, ground, env, folder / "terragrunt")}
    others = [Row(case.title, name, seconds, "s", note="not found") for name, seconds in took.items()]
    return [*others, *_hybridwrap(case, ground, env, folder / "hybridwrap", took)]


def _raw(case: Case, ground: Ground, env: Mapping[str, str], folder: Path) -> Times:
    ground.moto.reset()
    stack = case.build(folder, ground.moto.endpoint)
    fresh = raw_fresh(stack, ground.engine, env)
    plan = raw_plan(stack, ground.engine, env)
    return {
        RAW_APPLY: fresh.apply,
        RAW_FRESH: fresh.apply + fresh.output,
        RAW_PLAN: plan.seconds,
        _ENGINES[FRESH]: fresh.apply_cpu,
        _ENGINES[UNCHANGED]: plan.below,
    }


def _terragrunt(case: Case, ground: Ground, env: Mapping[str, str], folder: Path) -> Times:
    program = shutil.which("terragrunt")
    if program is None:
        return {TERRAGRUNT_FRESH: None, TERRAGRUNT_UNCHANGED: None}
    ground.moto.reset()
    stack = case.build(folder, ground.moto.endpoint)
    write_units(stack)
    fresh, unchanged = (terragrunt_apply(stack, env, program) for _ in range(2))
    return {TERRAGRUNT_FRESH: fresh.seconds, TERRAGRUNT_UNCHANGED: unchanged.seconds}


def _hybridwrap(case: Case, ground: Ground, env: Mapping[str, str], folder: Path, others: Times) -> list[Row]:
    ground.moto.reset()
    stack = case.build(folder, ground.moto.endpoint)
    fresh, unchanged = (hybridwrap_apply(stack.path, env) for _ in range(2))
    modules = len(stack.modules)
    return [
        _beside(case.title, FRESH, fresh, case.fresh, others),
        _beside(case.title, UNCHANGED, unchanged, case.unchanged, others),
        _own_cpu(case.title, FRESH, fresh, modules, others),
        _own_cpu(case.title, UNCHANGED, unchanged, modules, others),
        _own_peak(case.title, fresh, modules),
    ]


def _beside(section: str, measure: str, cost: Cost, promises: tuple[Promise, ...], others: Times) -> Row:
    for promise in promises:
        if (other := others[promise.against]) is not None:
            ratio = cost.seconds / other
            return Row(section, measure, cost.seconds, "s", promise.against, ratio, promise.ratio)
    raise AssertionError(f"{section}: nothing to compare {measure} with")


def _own_cpu(section: str, measure: str, cost: Cost, modules: int, others: Times) -> Row:
    """Beside the CPU of the engines that the same work takes anyway: milliseconds alone depend on all that runs."""
    value = None if cost.cpu is None else cost.cpu / modules * 1000
    engines = others[_ENGINES[measure]]
    ratio = cost.cpu / engines if cost.cpu is not None and engines else None
    promised = _CPU_BESIDE_ENGINES if modules >= _LARGE else None  # a smaller stack shows the start of Python
    against = _ENGINES[measure]
    return Row(section, f"{measure}: its own CPU, a module", value, "ms", against, ratio, promised, note="no /proc")


def _own_peak(section: str, cost: Cost, modules: int) -> Row:
    value = None if cost.peak is None else cost.peak / 1e6
    promised = _PEAK_MB if modules >= _LARGE else None
    return Row(section, "hybridwrap's own peak memory", value, "MB", promised=promised, note="no /proc")
