"""When each module of a run was at work, as bars on one scale."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hybridwrap.cli.lines import duration, ticking
from hybridwrap.cli.reports.wording import took
from hybridwrap.domain.moments import after, seconds_between
from hybridwrap.run.report import ModuleReport, Report

SCALE = 1000  # the whole run
TICKS = 5
SHORT = 10  # seconds: a run whose labels need tenths
LEAST = 1.5  # of a bar, so that it can be seen

Span = tuple[float, float]  # start and length


class Bar(Struct, frozen=True):
    """`wait` was before its turn, `plan` before the engine was let at things, `work` after; `open`: no end was seen."""

    module: str
    result: str
    took: str
    plan: Span
    work: Span | None
    open: bool
    critical: bool
    wait: Span | None = None

    @property
    def whole(self) -> float:
        """How long both parts are together."""
        x, length = self.work or self.plan
        return round(x + length - self.plan[0], 1)


def bars_of(report: Report) -> Iterator[Bar]:
    """Bars of the modules whose times are known, the first to begin first."""
    path = set(report.critical_path)
    timed = [module for module in report.modules if module.began and (module.ended or module.share.begun)]
    for module in sorted(timed, key=lambda module: (module.began, module.ended, module.module)):
        yield _bar(report, module, critical=module.module in path)


def _bar(report: Report, module: ModuleReport, *, critical: bool) -> Bar:
    begun, ended = module.share.begun, module.ended or report.last_seen
    return Bar(
        module=module.module,
        result=module.result,
        took=took(module),
        plan=_span(report, module.began, begun or ended),
        work=_span(report, begun, ended) if begun else None,
        open=not module.ended,
        critical=critical,
        wait=_span(report, after(module.began, -module.end.waited), module.began) if module.end.waited else None,
    )


def _span(report: Report, start: str, end: str) -> Span:
    per_second = SCALE / max(report.seconds, 0.001)
    x = min(seconds_between(report.start.time, start) * per_second, SCALE - LEAST)
    length = max(seconds_between(start, end) * per_second, LEAST)
    return round(x, 1), round(length, 1)


def ticks_of(report: Report) -> list[str]:
    """Labels at even distances, the first at the start."""
    label = ticking if report.seconds > SHORT else duration
    return [label(report.seconds * tick / TICKS) for tick in range(TICKS)]
