"""What was measured, as one table for people and as JSON."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass  # noqa: TID251  of a dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

_WIDTH = 130  # of the table where the output is not a terminal


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; `value` None: not measured, `note` says why. `promised` is a limit of the ratio if there is one."""

    section: str
    measure: str
    value: float | None
    unit: str  # s, ms, MB, a module, …
    against: str = ""
    ratio: float | None = None
    promised: float | None = None
    note: str = ""

    @property
    def judged(self) -> float | None:
        return self.value if self.ratio is None else self.ratio

    @property
    def kept(self) -> bool | None:
        return None if self.judged is None or self.promised is None else self.judged <= self.promised


def median_rows(repeats: Sequence[Sequence[Row]]) -> list[Row]:
    """Take for each row the repeat whose judged figure is in the middle (the lower one of two)."""
    return [sorted(rows, key=_rank)[(len(rows) - 1) // 2] for rows in zip(*repeats, strict=True)]


def _rank(row: Row) -> float:
    return math.inf if row.judged is None else row.judged


def show(rows: Sequence[Row], engine: str) -> None:
    table = Table(title=f"hybridwrap beside {engine}, {platform.machine()}", title_justify="left", box=None)
    for column in ("", "took", "ratio", "promised", ""):
        table.add_column(column, justify="right" if column == "took" else "left", no_wrap=True)
    section = ""
    for row in rows:
        if row.section != section:
            section = row.section
            table.add_row(f"[bold]{section}[/]")
        table.add_row(f"  {row.measure}", *_cells(row))
    Console(width=max(Console().width, _WIDTH)).print(table)


def _cells(row: Row) -> tuple[str, str, str, str]:
    took = row.note if row.value is None else f"{row.value:.3g} {row.unit}"
    ratio = f"{row.ratio:.2f}x {row.against}" if row.ratio is not None else ""
    limit = "" if row.promised is None else f"<= {row.promised:g}{'x' if row.ratio is not None else ' ' + row.unit}"
    verdict = {True: "[green]kept[/]", False: "[red]broken[/]", None: ""}[row.kept]
    return took, ratio, limit, verdict


def save(rows: Sequence[Row], file: Path, engine: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    document = {"engine": engine, "machine": platform.machine(), "rows": [{**asdict(r), "kept": r.kept} for r in rows]}
    file.write_text(json.dumps(document, indent=1) + "\n")
