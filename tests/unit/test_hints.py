"""Commands in hints: for the environment and the manifest that the call was about."""

from pathlib import Path

import pytest

from hybridwrap.cli.ending import last_lines
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.options import NOWHERE, Place
from hybridwrap.domain.hooks import HookRun
from hybridwrap.domain.run import ModuleEnd, RunEnd

DEV = Place(None, "dev")


@pytest.mark.parametrize(
    ("hint", "typed"),
    [
        ("hybridwrap status", "hybridwrap status -e dev"),
        ("hybridwrap reconcile app", "hybridwrap reconcile -e dev app"),
        ("hybridwrap drift accept app.x", "hybridwrap drift accept -e dev app.x"),
        ("hybridwrap ledger verify", "hybridwrap ledger verify -e dev"),
        ("once it is free: hybridwrap drift app", "once it is free: hybridwrap drift -e dev app"),
        ("hybridwrap why a    or: hybridwrap resume", "hybridwrap why -e dev a    or: hybridwrap resume -e dev"),
        (
            "hybridwrap reconcile a, or hybridwrap adopt a",
            "hybridwrap reconcile -e dev a, or hybridwrap adopt -e dev a",
        ),
        ("hybridwrap apply -e prod", "hybridwrap apply -e prod"),
        ("hybridwrap apply a    or hybridwrap plan -e prod", "hybridwrap apply -e dev a    or hybridwrap plan -e prod"),
        ("hybridwrap apply --help", "hybridwrap apply --help"),
        ("hybridwrap new FOLDER", "hybridwrap new FOLDER"),
        ("hybridwrap is at work", "hybridwrap is at work"),
        ("hybridwrap plan\nhybridwrap apply", "hybridwrap plan -e dev\nhybridwrap apply -e dev"),
    ],
)
def test_each_command_of_a_hint_names_the_environment_once(hint: str, typed: str) -> None:
    assert as_typed(hint, DEV) == typed


def test_the_manifest_is_named_too_and_quoted_where_a_shell_needs_it() -> None:
    place = Place(Path("my stack/a.yaml"), "dev")
    assert as_typed("hybridwrap plan app", place) == "hybridwrap plan -e dev -f 'my stack/a.yaml' app"
    assert as_typed("hybridwrap plan -e prod", place) == "hybridwrap plan -f 'my stack/a.yaml' -e prod"


def test_what_was_not_said_is_not_added() -> None:
    assert as_typed("hybridwrap plan", NOWHERE) == "hybridwrap plan"


def test_of_several_commands_each_has_a_line_to_copy() -> None:
    ends = {
        "vm": ModuleEnd("refused", 10, hint="hybridwrap mv net vm"),
        "db": ModuleEnd("unknown", 32, hint="hybridwrap reconcile db"),
    }
    *_, first, second = last_lines(RunEnd("R1", "", 32, ends), {}, 1.0, NOWHERE)
    assert (first, second) == ("next: hybridwrap mv net vm", "      hybridwrap reconcile db")


def test_after_a_no_nothing_has_to_be_repaired() -> None:
    ends = {"a": ModuleEnd("declined", 130, reason="not approved"), "b": ModuleEnd("pending", waits_for="a.id")}
    *_, last = last_lines(RunEnd("R1", "", 130, ends), {}, 1.0, NOWHERE, command="apply")
    assert last == "next: hybridwrap why b    or: hybridwrap resume"


SMOKE = HookRun("after", ("./smoke-test", "all of it"), 7)
TELL = HookRun("after", ("./tell",), trouble="did not end within 10 min")


def test_where_only_hooks_failed_they_are_to_be_called_by_hand_and_nothing_else_has_to_be_done() -> None:
    ends = {"vm": ModuleEnd("ok", 4, hooks=(SMOKE, TELL)), "db": ModuleEnd("ok", 4, hooks=(SMOKE,))}
    _, failed, *following = last_lines(RunEnd("R1", "", 4, ends, hooks=(TELL,)), {}, 1.0, NOWHERE, command="apply")
    assert failed == f"hooks that failed: vm: {SMOKE}; vm: {TELL}; db: {SMOKE}; the run: {TELL}"
    assert following == [
        "next: once repaired, by hand: ./smoke-test 'all of it'    no module has to run again",
        "      once repaired, by hand: ./tell    no module has to run again",
    ]


def test_where_a_module_failed_too_the_run_goes_on_first() -> None:
    ends = {"vm": ModuleEnd("ok", 4, hooks=(SMOKE,)), "db": ModuleEnd("error", 4)}
    *_, last = last_lines(RunEnd("R1", "", 4, ends), {}, 1.0, NOWHERE, command="apply")
    assert last == "next: once repaired: hybridwrap resume"
