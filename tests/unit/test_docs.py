"""The pages say what the code does: exit codes, words, commands, targets, and links that lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hybridwrap import errors
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.status import Outcome, Status
from tools.cli_reference import FILE, reference

ROOT = Path(__file__).parents[2]
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("modules/**/*.md")})
MODULES = sorted(path.parent for path in ROOT.glob("modules/*/main.tf"))
NOT_AN_ERROR = {0, 2}  # done, and plan --detailed-exitcode


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_of(name: str) -> str:
    return (ROOT / name).read_text()


def first_cells(page: str) -> list[str]:
    return [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("|")]


def error_classes(
    base: type[errors.HybridwrapError] = errors.HybridwrapError,
) -> Iterator[type[errors.HybridwrapError]]:
    yield base
    for each in base.__subclasses__():
        yield from error_classes(each)


def test_every_exit_code_is_documented_and_none_is_made_up() -> None:
    documented = {int(code) for cell in first_cells(text_of("docs/exit-codes.md")) for code in re.findall(r"\d+", cell)}
    stopped = errors.Stopped("", terminated=True).exit_code
    assert documented == {*(each.exit_code for each in error_classes()), stopped, *NOT_AN_ERROR}


def test_the_tree_of_errors_has_every_one_with_its_exit_code() -> None:
    drawn = re.findall(r"^[├└│─ ]*(\w+) +(?:(\d+)\b)?", str(errors.__doc__).partition("\n\n")[2], re.MULTILINE)
    ours = [each for each in error_classes() if each.__module__ == errors.__name__]
    classes = {each.__name__: str(each.exit_code) for each in ours}
    assert {name for name, _ in drawn} | {"HybridwrapError"} == set(classes)
    assert [(name, code) for name, code in drawn if code and code != classes[name]] == []


def test_the_order_of_gravity_is_the_one_of_the_code() -> None:
    (order,) = re.findall(r"in this order: ([\d ]+)\.", text_of("docs/exit-codes.md"))
    assert tuple(map(int, order.split())) == errors.GRAVEST_FIRST


@pytest.mark.parametrize("words", [Status, Outcome, Provenance])
def test_every_word_for_a_state_of_things_is_in_the_glossary(words: type[Status | Outcome | Provenance]) -> None:
    assert {f"`{word}`" for word in words} <= set(first_cells(text_of("docs/glossary.md")))


def test_the_page_of_commands_is_the_help_of_today() -> None:
    assert FILE.read_text() == reference(), "docs/cli.md is not current; next: make docs"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [link.partition("#") for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in link]
    broken = [link for link, _, _ in targets if not (page.parent / link).exists()]
    assert broken == []


def test_every_decision_is_in_the_list_of_decisions() -> None:
    decisions = {path.name for path in ROOT.glob("docs/decisions/[0-9]*.md")}
    assert decisions == set(re.findall(r"\((\d{4}-[^)]+)\)", text_of("docs/decisions/README.md")))


def test_no_text_names_a_decision_that_is_not_there() -> None:
    there = {path.name[:4] for path in ROOT.glob("docs/decisions/[0-9]*.md")}
    sources = (file for folder in ("hybridwrap", "tests", "tools", "bench") for file in (ROOT / folder).rglob("*.py"))
    texts = [*PAGES, *sources]
    named = {number for file in texts for number in re.findall(r"[Dd]ecisions?[ /](\d{4})", file.read_text())}
    assert named
    assert named <= there


def test_every_make_target_that_a_page_names_is_there() -> None:
    targets = set(re.findall(r"^([a-z0-9]+):.*## ", text_of("Makefile"), flags=re.MULTILINE))
    named = {
        each for page in PAGES for each in re.findall(r"(?:`|^|\$ )make ([a-z0-9]+)", page.read_text(), re.MULTILINE)
    }
    assert named <= targets
    assert named


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_a_module_documents_each_variable_and_output(module: Path) -> None:
    declared = [
        f"`{name}`"
        for file in sorted(module.glob("*.tf"))
        for name in re.findall(r'^(?:variable|output) "([^"]+)"', file.read_text(), flags=re.MULTILINE)
    ]
    documented = [cell for cell in first_cells((module / "README.md").read_text()) if cell.startswith("`")]
    assert sorted(documented) == sorted(declared)


def test_the_files_that_the_map_of_the_code_names_are_there() -> None:
    named = re.findall(r"`((?:cli|run|domain|adapters|tests|schemas)/[\w./]*)`", text_of("docs/architecture.md"))
    patterns = [name.replace("NAME", "*") for name in named]
    missing = [each for each in patterns if not any(any(base.glob(each)) for base in (ROOT, ROOT / "hybridwrap"))]
    assert missing == []
    assert named
