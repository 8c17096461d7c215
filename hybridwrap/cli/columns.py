"""Columns that fit into a terminal: those that matter least are left out where there is no room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from hybridwrap.cli.lines import GAP, cells, table


def fitting(
    rows: Sequence[Mapping[str, str]], width: int, left_out_first: Sequence[str], *, least: int | None = None
) -> list[str]:
    """Align rows, the head among them; with `width` 0 all columns stay. What is too wide even so is not cut.

    `least` columns of the last one are enough: what does not fit of it can go on below.
    """
    columns = list(rows[0])
    for left_out in left_out_first:
        if not width or _needed(rows, columns, least) <= width:
            break
        columns.remove(left_out)
    return _aligned(rows, columns)


def _needed(rows: Sequence[Mapping[str, str]], columns: Sequence[str], least: int | None) -> int:
    whole = widest(_aligned(rows, columns))
    return whole if least is None else min(whole, widest(_aligned(rows, columns[:-1])) + len(GAP) + least)


def widest(lines: Sequence[str]) -> int:
    """Columns of a terminal that the widest line takes; colours do not count."""
    return max((cells(click.unstyle(line)) for line in lines), default=0)


def _aligned(rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> list[str]:
    return table([[row[column] for column in columns] for row in rows])
