"""How a stack's graph is spread over the jobs of a CI system; pure, so that the same graph gives the same jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from hybridwrap.domain.graph import Needs, order, reach

MODULES_EACH = 25  # of a worker, where nobody says how many workers there are
MOST_WORKERS = 20


class Spread(StrEnum):
    """What gets a job of its own."""

    MODULES = "modules"
    WAVES = "waves"
    WORKERS = "workers"


class Shape(Struct, frozen=True):
    spread: Spread = Spread.WORKERS
    workers: int = 0  # 0: by the number of modules

    def __str__(self) -> str:
        return f"{self.spread}={self.workers}" if self.workers else str(self.spread)


class ApplyJob(Struct, frozen=True):
    """A job that applies modules: those named, or with none whichever are ready."""

    id: str
    title: str
    modules: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # ids of the jobs that come before it


def read_shape(text: str) -> Shape:
    """Read `modules`, `waves`, `workers` or `workers=N`. Raise ValueError."""
    spread, given, number = text.partition("=")
    counted = spread == Spread.WORKERS and number.isdecimal() and int(number) > 0
    if spread not in set(Spread) or (given and not counted):
        raise ValueError(f'"{text}" is no shape: modules, waves, workers or workers=N')
    return Shape(Spread(spread), int(number or 0))


def apply_jobs(needs: Needs, shape: Shape) -> tuple[ApplyJob, ...]:
    """Spread modules over jobs; every job comes after those that it needs."""
    wanted = {name: frozenset(above) for name, above in needs.items()}
    match shape.spread if wanted else Spread.WORKERS:
        case Spread.MODULES:
            return tuple(_job_of_each(wanted))
        case Spread.WAVES:
            return tuple(_job_of_each_wave(wanted))
        case _:
            count = shape.workers or min(MOST_WORKERS, -(-len(wanted) // MODULES_EACH) or 1)
            return tuple(ApplyJob(f"worker-{number}", f"worker {number}") for number in range(1, count + 1))


def _job_of_each(needs: Mapping[str, frozenset[str]]) -> Iterator[ApplyJob]:
    ids = unique_ids(order(needs))
    for name in ids:
        yield ApplyJob(ids[name], name, (name,), tuple(ids[above] for above in sorted(nearest(needs, name))))


def _job_of_each_wave(needs: Mapping[str, frozenset[str]]) -> Iterator[ApplyJob]:
    before: tuple[str, ...] = ()
    for number, names in enumerate(waves(needs), 1):
        yield ApplyJob(f"wave-{number}", f"wave {number}", names, before)
        before = (f"wave-{number}",)


def waves(needs: Mapping[str, frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Group modules: each comes one wave after the last of those that it needs."""
    wave: dict[str, int] = {}
    for name in order(needs):
        wave[name] = 1 + max((wave[above] for above in needs[name]), default=-1)
    return tuple(
        tuple(name for name in wave if wave[name] == number) for number in range(1 + max(wave.values(), default=-1))
    )


def nearest(needs: Mapping[str, frozenset[str]], name: str) -> frozenset[str]:
    """What a module needs, without what those need anyway: the same order with the fewest edges."""
    return needs[name] - reach(needs, needs[name])


def unique_ids(names: tuple[str, ...]) -> dict[str, str]:
    """Name jobs after modules: letters, digits and `-` only, no two alike for who does not look at capitals."""
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = f"apply-{re.sub(r'[^A-Za-z0-9-]', '-', name)}"
        number = 1
        while (unique := plain if number == 1 else f"{plain}-{number}").lower() in taken:
            number += 1
        taken.add(unique.lower())
        ids[name] = unique
    return ids
