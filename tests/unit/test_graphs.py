"""The graph of a stack in every format: statuses, the chain that takes longest, the same bytes each time."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

import pytest
from click import unstyle
from msgspec.structs import replace

from hybridwrap.cli.graphs import dot, mermaid, svg, tree
from hybridwrap.cli.graphs.colours import COLOURS, DASHED, TEXT
from hybridwrap.cli.graphs.graph import Graph, graph_of
from hybridwrap.cli.lines import cells
from hybridwrap.domain.drift import Difference, Drift
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from hybridwrap.domain.status import Status
from hybridwrap.domain.unapplied import Unapplied
from hybridwrap.run.standing import Standing
from tests.support.ledgers import writer
from tests.support.standings import overview_of, standing
from tests.support.stories import many_needs

SHOP = (
    standing("network"),
    standing("db", Status.OK, "network"),
    standing("vm", Status.ERROR, "network"),
    standing("agent", Status.PENDING, "vm", owner="vm", waits_for="vm"),
    standing("health", Status.PENDING, "agent", "db", waits_for="agent"),
    standing("old", Status.DESTROYED),
    standing("kept", Status.RETAINED),
)


def earlier(**seconds: float) -> tuple[Run, ...]:
    start = RunStart("R1", "apply", "2026-01-01T00:00:00Z", writer(), (), tuple(seconds), {})
    ends = {name: ModuleEnd("ok", seconds=took) for name, took in seconds.items()}
    return (Run(start, RunEnd("R1", "2026-01-01T01:00:00Z", 0, ends)),)


def graph(*found: Standing, **seconds: float) -> Graph:
    return graph_of(overview_of(*found, runs=earlier(**seconds) if seconds else ()))


def drawn(graph: Graph, width: int = 0) -> list[str]:
    return [unstyle(line) for line in tree.lines(graph, width)]


def test_a_tree_shows_each_module_once_with_its_status_and_the_needs_beside_the_branch() -> None:
    assert drawn(graph(*SHOP)) == [
        "network          ok",
        "├─ db            ok",
        "┕━ vm            error",
        "   ┕━ agent      pending    goes with vm",
        "      ┕━ health  pending    also needs db",
        "old              destroyed",
        "kept             retained",
        "━ the longest chain",
    ]


def test_durations_of_earlier_runs_say_which_chain_takes_longest() -> None:
    lines = drawn(graph(*SHOP, network=1, db=600, vm=2, agent=2, health=5))
    assert lines[1].startswith("┝━ db")
    assert "10m00" in lines[1]
    assert lines[-1] == "━ the chain that takes longest, 10m06"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_tree_is_not_wider_than_the_terminal(width: int) -> None:
    chain = [standing("m000"), *(standing(f"m{i:03}", Status.OK, f"m{i - 1:03}") for i in range(1, 60))]
    wide = standing("w", Status.OK, *(each.module for each in chain))
    assert all(cells(line) <= width + 24 for line in drawn(graph(*chain, wide), width))
    assert all(cells(line) <= width for line in drawn(graph(*SHOP), width))


def test_mermaid_has_a_class_for_each_status_and_thick_edges_for_the_longest_chain() -> None:
    lines = list(mermaid.lines(graph(*SHOP)))
    assert '  n2["vm<br>error"]:::error' in lines
    assert "  n0 ==> n2" in lines
    assert "  n0 --> n1" in lines
    assert any(line.startswith("  accDescr: ") and "error: vm" in line for line in lines)
    classes = {line.split()[1] for line in lines if line.startswith("  classDef")}
    assert classes == {"ok", "error", "pending", "destroyed", "retained"}


def test_dot_has_a_box_for_each_module_and_bold_edges_for_the_longest_chain() -> None:
    lines = list(dot.lines(graph(*SHOP)))
    assert (lines[0], lines[-1]) == ("digraph {", "}")
    assert '  "network" -> "vm" [penwidth=3]' in lines
    assert '  "network" -> "db"' in lines


@pytest.mark.parametrize("name", ['a"]; click n0 "javascript:x', "<b>", "x\\", "网络", "a\nb"])
def test_no_name_gets_out_of_its_label(name: str) -> None:
    hostile = graph(standing(name))
    label = next(line for line in mermaid.lines(hostile) if line.startswith("  n0["))
    assert re.fullmatch(r'  n0\["[^"<>\n]*<br>ok"\]:::ok', label)
    assert sum(line.count("\n") for line in dot.lines(hostile)) == 0
    box = next(line for line in dot.lines(hostile) if "fillcolor" in line and "node [" not in line)
    assert re.fullmatch(r'  "(\\.|[^"\\])*" \[label="(\\.|[^"\\])*", fillcolor="#\w+", color="#\w+"\]', box)
    parsed(svg.file(hostile))


def test_an_svg_is_told_to_those_who_do_not_see_it() -> None:
    root = parsed(svg.file(graph(*SHOP)))
    space = {"s": "http://www.w3.org/2000/svg"}
    assert root.get("role") == "img"
    assert root.findtext("s:title", namespaces=space) == "shop in prod"
    assert "error: vm" in (root.findtext("s:desc", namespaces=space) or "")
    assert "the longest chain: network then vm then agent then health" in (
        root.findtext("s:desc", namespaces=space) or ""
    )
    names = {node.findtext("s:title", namespaces=space) for node in root.findall("s:g", space)}
    assert "vm: error" in names


def test_destroyed_and_retained_modules_look_other_than_those_that_are_ok() -> None:
    assert Status.OK not in DASHED
    assert {Status.DESTROYED, Status.RETAINED} <= DASHED
    assert len({*map(COLOURS.__getitem__, (Status.OK, Status.DESTROYED, Status.RETAINED))}) == 3
    text = svg.file(graph(*SHOP))
    assert 'class="node destroyed"' in text
    assert 'class="node retained"' in text


def test_drift_stands_behind_the_status() -> None:
    drift = Drift("2026-01-01T00:00:00Z", (Difference("aws_vpc.a", Action.UPDATE),))
    found = graph(replace(standing("vpc"), drift=drift))
    assert drawn(found) == ["vpc  ok, drift"]
    assert '["vpc<br>ok, drift"]' in "\n".join(mermaid.lines(found))
    assert "ok  drift" in svg.file(found)


def test_a_module_that_is_not_as_last_applied_says_so_behind_its_status() -> None:
    found = graph(replace(standing("vpc"), unapplied=Unapplied(("inputs have changed: size",), merged=True)))
    assert drawn(found) == ["vpc  ok, merged, not applied"]
    assert "merged, not applied" in svg.file(found)


def test_an_edge_of_kind_state_looks_other_than_a_reference() -> None:
    found = replace(
        graph(standing("dns"), standing("vm", Status.OK, "dns"), standing("audit", Status.OK, "dns")),
        kinds={"vm": {"dns": ("reference",)}, "audit": {"dns": ("state",)}},
        critical=(),
    )
    classes = re.findall(r'<path class="([a-z ]+)"', svg.file(found))
    assert sorted(classes) == ["edge", "edge state"]
    assert '"dns" -> "audit" [style=dashed, label="state"]' in "\n".join(dot.lines(found))


def test_a_module_of_another_stack_is_drawn_once_however_many_use_it() -> None:
    found = replace(graph(standing("vm"), standing("db")), elsewhere={"vm": ("net/vpc",), "db": ("net/vpc", "net/dns")})
    text = list(dot.lines(found))
    assert text.count('  "net/vpc" [style="rounded,dashed"]') == 1
    assert '  "net/vpc" -> "vm"' in text
    assert '  "net/dns" -> "db"' in text
    assert sum('"net#47;vpc"' in line for line in mermaid.lines(found)) == 1


def test_what_stands_behind_a_status_is_not_cut_in_a_drawing() -> None:
    found = replace(graph(standing("vm")), elsewhere={"vm": ("network/vpc",)})
    assert ">ok  uses network/vpc</text>" in svg.file(found)


def test_the_same_stack_gives_the_same_bytes() -> None:
    assert svg.file(graph(*SHOP)) == svg.file(graph(*SHOP))


def test_a_stack_without_modules_can_be_drawn() -> None:
    empty = graph()
    assert drawn(empty) == []
    parsed(svg.file(empty))
    assert list(dot.lines(empty))[-1] == "}"


@pytest.mark.parametrize("status", list(Status))
def test_text_on_a_box_can_be_read(status: Status) -> None:
    fill, border = COLOURS[status]
    assert contrast(TEXT, fill) >= 7
    assert contrast(border, "#ffffff") >= 3


def parsed(text: str) -> Xml.Element:
    return Xml.fromstring(text)  # noqa: S314 - ours


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 has it."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_note_that_would_be_cut_to_nothing_is_left_out() -> None:
    seen = overview_of(*(standing(name) for name in "abcdefghi"), standing("last", Status.OK, *"abcdefghi"))
    whole = [unstyle(line) for line in tree.lines(graph_of(seen), 0)]
    narrow = [unstyle(line) for line in tree.lines(graph_of(seen), 20)]
    wide = [unstyle(line) for line in tree.lines(graph_of(seen), 36)]
    assert "also needs b, c, d, e, f, g, h, i" in "".join(whole)
    assert not any("also" in line or "…" in line for line in narrow)
    assert any(line.endswith("…") and "also needs b" in line for line in wide)


@pytest.mark.parametrize(("count", "told"), [(300, ""), (400, "558 edges, ")])
def test_what_no_forge_draws_is_said(count: int, told: str) -> None:
    large = graph(*(standing(name, Status.OK, *above) for name, above in many_needs(count).items()))
    text = "\n".join(mermaid.lines(large))
    assert mermaid.too_large(large, text).startswith(told)
    assert bool(mermaid.too_large(large, text)) == bool(told)
    assert mermaid.too_large(large, "x" * 50_001), "a long text is not drawn either"
