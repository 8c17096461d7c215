"""What is told to be typed next can be typed: each option that a hint names, its command has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import click
import pytest

import hybridwrap
from hybridwrap.cli.hints import WITHOUT_PLACE, as_typed
from hybridwrap.cli.main import COMMANDS, main
from hybridwrap.cli.options import Place

PACKAGE = Path(hybridwrap.__file__).parent
DOCS = sorted([PACKAGE.parent / "README.md", *PACKAGE.parent.glob("docs/*.md")])
OPTION = re.compile(r"(?<![^\s\[])(--?[a-z][a-z-]*)")
OF_OTHERS = re.compile(r"git [a-z -]+|\brm -r\b")
OF_THE_SAME = {"--wait", "--no-wait", "--keep-protected"}  # the last one is told by nobody but `destroy`


@cache
def options() -> Mapping[str, frozenset[str]]:
    """By command, all its options."""
    return dict(_options(main, ""))


def _options(group: click.Group, before: str) -> Iterator[tuple[str, frozenset[str]]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        if isinstance(command, click.Group):
            yield from _options(command, f"{before}{name} ")
        named = {each for parameter in command.params for each in (*parameter.opts, *parameter.secondary_opts)}
        yield f"{before}{name}", frozenset(named | {"--help", "-h"})


@cache
def command_line() -> re.Pattern[str]:
    """One ends as for those who add -e to it (cli/hints.py), and in prose also with its quotes or sentence."""
    names = "|".join(sorted(map(re.escape, options()), key=len, reverse=True))
    rest = r"(?:(?! {3}| -- |[;`|#,)]|\n| or |\bhybridwrap ).)*"
    return re.compile(rf"\bhybridwrap (?P<name>{names})(?![\w-])(?P<rest>{rest})")


def texts(tree: ast.AST) -> Iterator[str]:
    """All strings of a source, those with values in them as one."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def sources() -> Iterator[ast.Module]:
    return (ast.parse(file.read_text()) for file in sorted(PACKAGE.rglob("*.py")))


def hints() -> Iterator[str]:
    """What errors say in their hints."""
    for tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                yield from texts(node.value)


def unknown(text: str) -> list[str]:
    """Options in the command lines of a text that their commands do not have."""
    return [
        f"{found['name']} {option}"
        for found in command_line().finditer(text)
        for option in OPTION.findall(found["rest"])
        if option not in options()[found["name"]]
    ]


def test_every_command_line_that_is_printed_has_only_options_of_its_command() -> None:
    printed = [text for tree in sources() for text in texts(tree) if command_line().search(text)]
    assert len(printed) > 50
    assert [wrong for text in printed for wrong in unknown(text)] == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_every_command_line_on_a_page_has_only_options_of_its_command(page: Path) -> None:
    assert unknown(page.read_text()) == []


def test_an_option_that_no_command_has_is_found() -> None:
    assert unknown("hybridwrap apply vm --engine tofu    or hybridwrap status --watch") == ["apply --engine"]


def test_a_hint_names_no_option_that_no_command_has() -> None:
    known = frozenset().union(*options().values())
    named = {option for hint in hints() for option in OPTION.findall(OF_OTHERS.sub("", hint))}
    assert named
    assert sorted(named - known) == []


def test_what_is_said_of_the_same_command_is_said_by_commands_that_have_it() -> None:
    named = {text for tree in sources() for text in texts(tree) if "the same command with" in text}
    said = {option for text in named for option in OPTION.findall(text)}
    assert said == OF_THE_SAME
    assert "--keep-protected" in options()["destroy"]


@pytest.mark.parametrize("name", COMMANDS)
def test_whoever_is_patient_can_be_told_to_wait(name: str) -> None:
    source = PACKAGE / "cli" / "commands" / f"{name.replace(' ', '_')}.py"
    patient = "patience: Patience" in source.read_text()
    assert ("--wait" in options()[name]) is patient


def test_to_every_command_for_an_environment_a_hint_adds_it() -> None:
    """The names of subcommands are written down in cli/hints.py: to look them up would load every command."""
    takes = [name for name, known in options().items() if "-e" in known and name not in WITHOUT_PLACE]
    assert "ledger verify" in takes
    typed = {name: as_typed(f"hybridwrap {name} x", Place(None, "dev")) for name in takes}
    assert typed == {name: f"hybridwrap {name} -e dev x" for name in takes}
