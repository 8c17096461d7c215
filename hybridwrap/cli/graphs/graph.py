"""What every format of a graph shows: modules with their words, edges, the chain that takes longest."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from msgspec import Struct

from hybridwrap.cli.lines import duration
from hybridwrap.cli.overview import Overview
from hybridwrap.domain.drift import DriftResult
from hybridwrap.domain.pace import critical_path, for_each, usual_seconds
from hybridwrap.domain.status import Status
from hybridwrap.run.standing import Standing


class Graph(Struct, frozen=True):
    title: str
    needs: Mapping[str, tuple[str, ...]]  # in order: each module after those that it needs
    standings: Mapping[str, Standing]
    marks: Mapping[str, str]  # what is to be said behind a status: drift, not as last applied
    critical: tuple[str, ...]
    seconds: Mapping[str, float]  # how long modules took, where that is known
    kinds: Mapping[str, Mapping[str, tuple[str, ...]]] = {}  # of edges, by module and need
    elsewhere: Mapping[str, tuple[str, ...]] = {}  # modules of other stacks that a module uses, as STACK/MODULE

    @property
    def caption(self) -> str:
        """What the marked chain is."""
        if len(self.critical) < 2:  # noqa: PLR2004 - one module is no chain
            return ""
        if not self.seconds:
            return "the longest chain"
        took = for_each(self.needs, self.seconds)
        return f"the chain that takes longest, {duration(sum(took[name] for name in self.critical))}"

    @property
    def description(self) -> str:
        """The graph in a sentence for those who don't see it: names by status."""
        by_status: dict[Status, list[str]] = {}
        for name, standing in self.standings.items():
            by_status.setdefault(standing.status, []).append(name)
        told = [f"{status}: {', '.join(names)}" for status, names in sorted(by_status.items())]
        return "; ".join([*told, *([f"{self.caption}: {' then '.join(self.critical)}"] if self.caption else [])])

    @property
    def others(self) -> tuple[str, ...]:
        """All modules of other stacks that are used, each once."""
        return tuple(sorted({other for used in self.elsewhere.values() for other in used}))

    def word(self, name: str) -> str:
        return f"{self.standings[name].status}{self.marks.get(name, '')}"

    def is_state(self, need: str, name: str) -> bool:
        """Whether nothing but a `terraform_remote_state` makes a module come after another one."""
        return self.kinds.get(name, {}).get(need) == ("state",)

    def is_critical(self, need: str, name: str) -> bool:
        return (need, name) in pairwise(self.critical)


def graph_of(seen: Overview) -> Graph:
    standings = {standing.module: standing for standing in seen.standings}
    needs = {name: tuple(n for n in standing.depends_on if n in standings) for name, standing in standings.items()}
    seconds = {name: took for name, took in usual_seconds(seen.runs, "apply").items() if name in needs}
    return Graph(
        title=f"{seen.stack.name} in {seen.stack.environment}",
        needs=needs,
        standings=standings,
        marks={standing.module: _mark(standing, seen.today) for standing in seen.standings},
        critical=critical_path(needs, seconds),
        seconds=seconds,
        elsewhere={name: m.elsewhere for name, m in seen.stack.modules.items() if name in needs and m.elsewhere},
        kinds={name: seen.stack.modules[name].edges for name in needs if name in seen.stack.modules},
    )


def _mark(standing: Standing, today: str) -> str:
    drifted = standing.drift is not None and standing.drift.result(today) is DriftResult.NEW
    behind = standing.unapplied if standing.status is Status.OK else None
    return "".join((", drift" if drifted else "", f", {behind.headline}" if behind else ""))
