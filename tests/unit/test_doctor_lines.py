"""How `doctor` tells a finding on terminals of several widths."""

from __future__ import annotations

import pytest
from click import unstyle

from hybridwrap.cli.commands.doctor import lines
from hybridwrap.domain.checkup import Finding, Verdict

FIX = 'export TF_PLUGIN_CACHE_DIR="$HOME/.terraform.d/plugin-cache"    and make that folder'
CACHE = Finding("plugin cache", Verdict.WARNING, "none: each module keeps a copy of its providers, which is slow", FIX)


def told(width: int) -> list[str]:
    return [unstyle(line) for line in lines(CACHE, width)]


@pytest.mark.parametrize("width", [60, 80])
def test_a_finding_is_broken_between_words_and_stays_in_its_column(width: int) -> None:
    *text, fix = told(width)
    assert len(text) > 1
    assert all(len(line) <= width for line in text)
    assert all(line[:28].isspace() and line[28] != " " for line in text[1:])
    assert " ".join(line[28:] for line in text) == CACHE.text
    assert fix.endswith(FIX), "what is to be typed is never broken"


def test_where_nobody_looks_a_finding_is_one_line() -> None:
    first, _ = told(0)
    assert first == f"warning  plugin cache       {CACHE.text}"
