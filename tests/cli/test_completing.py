"""What a shell offers after TAB."""

from pathlib import Path

import pytest

from tests.support.project import Project

MANIFEST = (
    "version: 1\nstack: shop\nenvironments: {dev: {}, prod: {}}\nmodules:\n  app: {source: app}\n  net: {source: app}\n"
)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("hybridwrap status -e ", ["dev", "prod"]),
        ("hybridwrap apply -e dev n", ["net"]),
        ("hybridwrap why -e dev ", ["app", "net"]),
        ("hybridwrap why -f missing.yaml ", []),
    ],
)
def test_modules_and_environments_are_offered_and_errors_are_silent(
    tmp_path: Path, words: str, offered: list[str]
) -> None:
    project = Project(tmp_path)
    project.write(MANIFEST, app="")
    ran = project.run(_HYBRIDWRAP_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1))
    assert ([line.partition(",")[2] for line in ran.out.split()], ran.err) == (offered, "")


def test_tf_without_a_module_says_so(tmp_path: Path) -> None:
    ran = Project(tmp_path).run("tf", "--", "plan")
    assert (ran.code, ran.err) == (64, "no module is named\nnext: hybridwrap tf MODULE -- plan\n")


def test_a_usage_error_points_to_the_help_of_its_command(tmp_path: Path) -> None:
    assert "next: hybridwrap apply --help" in Project(tmp_path).run("apply", "--nope").err
    assert "next: hybridwrap apply --help" in Project(tmp_path).run("apply", "-q", "-v").err


@pytest.mark.parametrize(("command", "look"), [("apply", "plan"), ("destroy", "plan --destroy"), ("resume", "status")])
def test_without_a_terminal_it_says_how_to_look_first(tmp_path: Path, command: str, look: str) -> None:
    told = Project(tmp_path).run(command, "-e", "dev").err
    assert (
        f"next: hybridwrap {look.replace(' ', ' -e dev ', 1) if ' ' in look else look + ' -e dev'}    to look" in told
    )
