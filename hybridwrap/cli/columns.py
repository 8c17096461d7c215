"""Columns that fit into a terminal: those that matter least are left out where there is no room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from hybridwrap.cli.lines import cells, table


def fitting(rows: Sequence[Mapping[str, str]], width: int, left_out_first: Sequence[str]) -> list[str]:
    """Align rows, the head among them; with `width` 0 all columns stay. What is too wide even so is not cut."""
    columns = list(rows[0])
    lines = _aligned(rows, columns)
    for left_out in left_out_first:
        if not width or widest(lines) <= width:
            break
        columns.remove(left_out)
        lines = _aligned(rows, columns)
    return lines


def widest(lines: Sequence[str]) -> int:
    """Columns of a terminal that the widest line takes; colours do not count."""
    return max((cells(click.unstyle(line)) for line in lines), default=0)


def _aligned(rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> list[str]:
    return table([[row[column] for column in columns] for row in rows])
