"""A report as one page that needs nothing else: no network, no script but its own, everything from outside escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hybridwrap.cli import drawing
from hybridwrap.cli.lines import duration
from hybridwrap.cli.reports import wording
from hybridwrap.cli.reports.drifted import drifted_in
from hybridwrap.cli.reports.hooks import failed_hooks
from hybridwrap.cli.reports.next import next_commands, next_for, purpose
from hybridwrap.cli.reports.timeline import bars_of, ticks_of
from hybridwrap.domain.graph import reversed_edges
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.moments import seconds_between
from hybridwrap.domain.trace import Step
from hybridwrap.run.report import ModuleReport, Report

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

PAGE = Path(__file__).parent / "page"
MANY = 40  # modules; of more, the graph is also drawn without the unchanged ones
LONG = 4_000  # characters of a value or of what an engine says
SHOWN = {"SHOWN_FAILED": 12, "SHOWN_OBJECTS": 200, "SHOWN_STEPS": 200}


def render(report: Report) -> str:
    return wording.visible(_environment().get_template("report.html.j2").render(**_content(report)))


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.globals |= SHOWN | {
        name: getattr(wording, name)
        for name in (
            *("SYMBOLS", "by", "called", "clock", "conclusion", "first_line", "moment", "named"),
            *("planned_in_words", "reason_of"),
            *("short_reason", "summary", "tally_in_words", "told", "took"),
        )
    }
    said = (drifted_in, duration, failed_hooks, next_for, purpose)
    own = (*said, cut, facts, quiet, search_text, step_took, value, word)
    environment.globals |= {each.__name__: each for each in own}
    return environment


def _content(report: Report) -> dict[str, Any]:
    path = report.critical_path
    bars = tuple(bars_of(report))
    grave = [(m, change) for m in report.modules for change in m.planned if change.action in wording.GRAVE]
    failed = [m for m in report.modules if not m.done and (m.end.errors or m.result != "pending")]
    return {
        "report": report,
        "counts": wording.tally(report),
        "ids": {module.module: f"m{index}" for index, module in enumerate(report.modules)},
        "followers": reversed_edges({module.module: module.needs for module in report.modules}),
        "failed": sorted(failed, key=lambda module: wording.rank(module.result)),
        "grave": grave,
        "next": next_commands(report),
        "graphs": _graphs(report),
        "bars": bars,
        "ticks": ticks_of(report),
        "not_begun": len(report.modules) - len(bars),
        "path_seconds": duration(sum(module.seconds for module in report.modules if module.module in path)),
        "style": Inline.of(drawing.STYLE + _part("report.css")),
        "script": Inline.of(_part("report.js")),
    }


class Inline(Struct, frozen=True):
    """A part of the page that the browser runs or obeys, because the page's own policy names its digest."""

    text: Markup
    digest: str

    @classmethod
    def of(cls, text: str) -> Inline:
        from markupsafe import Markup

        return cls(Markup(text), f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}")  # noqa: S704 - ours


def _part(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8")


class Graphs(Struct, frozen=True):
    all: Markup
    changed: Markup | None  # without the modules that are unchanged, where there are many


def _graphs(report: Report) -> Graphs:
    changed = {module.module for module in report.modules if module.result != "unchanged"}
    reduced = len(report.modules) > MANY and 0 < len(changed) < len(report.modules)
    return Graphs(_drawn(report, {m.module for m in report.modules}), _drawn(report, changed) if reduced else None)


def _drawn(report: Report, names: set[str]) -> Markup:
    from markupsafe import Markup

    nodes = {
        module.module: drawing.Node(word(module.result), wording.took(module), f"#m{index}")
        for index, module in enumerate(report.modules)
        if module.module in names
    }
    needs = {module.module: module.needs for module in report.modules}
    path = [name for name in report.critical_path if name in names]
    svg = drawing.draw(_without_others(needs, names), nodes, critical=path, title=f"Graph of {len(nodes)} modules")
    return Markup(svg)  # noqa: S704 - escaped where it was drawn


def _without_others(needs: Mapping[str, tuple[str, ...]], names: set[str]) -> dict[str, tuple[str, ...]]:
    """Take names out of a graph: what needs one of them needs, instead, what that one needed."""
    reached: dict[str, set[str]] = {}
    for name, above in needs.items():  # in order: each after those that it needs
        reached[name] = {found for need in above for found in ({need} if need in names else reached.get(need, set()))}
    return {name: tuple(sorted(reached[name])) for name in needs if name in names}


def word(result: str) -> str:
    """A result as the name of a style; anything but a word comes from a ledger that we did not write."""
    return result if result.isascii() and result.isalpha() else "unknown"


def quiet(module: ModuleReport) -> bool:
    """Whether nobody has to read about it on paper."""
    return module.done and not module.planned


def cut(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]}… {len(text) - LONG} more characters: --format json"


def value(json: Json) -> str:
    return cut(canonical(json).decode())


def step_took(step: Step) -> str:
    return duration(seconds_between(step.began, step.ended)) if step.began and step.ended else ""


def search_text(module: ModuleReport) -> str:
    """What a search finds a module by."""
    addresses = (change.address for change in module.planned)
    errors = (f"{error.summary} {error.address} {module.place(error)}" for error in module.end.errors)
    return " ".join([module.module, module.result, module.end.reason, *errors, *addresses]).lower()[:LONG]


def _turn(module: ModuleReport) -> Iterator[tuple[str, str]]:
    yield "waited", wording.waited(module)
    yield "operation", module.end.operation


def facts(module: ModuleReport) -> Iterator[tuple[str, str]]:
    """What identifies the operation: labels and texts."""
    record, end = module.record, module.share.end
    if module.source:
        yield "source", f"{module.folder}  {module.source.git or module.source.digest}".strip()
    if module.engine:
        yield "engine", f"{module.engine.product} {module.engine.version}"
    if record.state:
        yield "state", f"{record.state.place}, serial {record.state.serial}, lineage {record.state.lineage}"
    yield from ((label, text) for label, text in _turn(module) if text)
    if known := [each for each in record.objects if not each.open]:
        yield "objects", f"{len(known)} known"
    for run in module.end.hooks:
        yield "hook", str(run)
    if end and end.failed_command:
        yield "failed command", " ".join(end.failed_command)
    if end and end.log:
        yield "log", f"{end.log} on {module.share.entries[-1].writer.host}"
