"""The four stacks that are measured, and what was promised for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support import stacks
from tests.support.stacks import WrittenStack

RAW_APPLY = "raw init + plan + apply"
RAW_FRESH = "raw init + plan + apply + output"
RAW_PLAN = "raw plan alone"
TERRAGRUNT_FRESH = "terragrunt fresh"
TERRAGRUNT_UNCHANGED = "terragrunt unchanged"
FRESH = "hybridwrap fresh"
UNCHANGED = "hybridwrap unchanged"


@dataclass(frozen=True, slots=True)
class Promise:
    """At most `ratio` times what `against` took."""

    against: str
    ratio: float


@dataclass(frozen=True, slots=True)
class Case:
    """`fresh` and `unchanged` are promises in order: the first whose other side could be measured counts."""

    name: str
    title: str
    build: Callable[[Path, str], WrittenStack]  # folder, endpoint of the AWS API
    fresh: tuple[Promise, ...]
    unchanged: tuple[Promise, ...]
    aws: bool = False


# Those against the raw engine stand in where Terragrunt is not installed: what it took, when both were measured side by
# side (Terragrunt 1.1.3: 9.5 and 9.4 s beside 13.1 and 2.3 s raw; 22.3 and 19.9 s beside 28.8 and 15.1 s raw).
CASES = (
    Case(
        "tiny20",
        "20 independent, tiny",
        lambda path, _: stacks.independent(path, 20),
        fresh=(Promise(RAW_APPLY, 1.10),),
        unchanged=(Promise(RAW_PLAN, 1.5),),
    ),
    Case(
        "tiny100",
        "100 independent, tiny",
        lambda path, _: stacks.independent(path, 100),
        fresh=(Promise(RAW_APPLY, 1.10),),
        unchanged=(Promise(RAW_PLAN, 1.3),),
    ),
    Case(
        "layers",
        "100 in ten layers, outputs passed",
        lambda path, _: stacks.layered(path, 100, 10),
        fresh=(Promise(TERRAGRUNT_FRESH, 1.0), Promise(RAW_FRESH, 0.73)),
        unchanged=(Promise(TERRAGRUNT_UNCHANGED, 0.4), Promise(RAW_PLAN, 1.63)),
    ),
    Case(
        "aws",
        "20 in two layers, real AWS provider on moto",
        stacks.aws,
        fresh=(Promise(TERRAGRUNT_FRESH, 1.0), Promise(RAW_FRESH, 0.77)),
        unchanged=(Promise(TERRAGRUNT_UNCHANGED, 0.75), Promise(RAW_PLAN, 0.99)),
        aws=True,
    ),
)
