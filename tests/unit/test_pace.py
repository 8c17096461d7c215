"""How long modules take, the chain that decides, and what is left."""

from __future__ import annotations

from hybridwrap.domain.pace import critical_path, for_each, seconds_left, usual_seconds
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from tests.support.ledgers import writer

DIAMOND = {"base": (), "left": ("base",), "right": ("base",), "top": ("left", "right")}


def run(command: str, **ends: ModuleEnd) -> Run:
    start = RunStart("R", command, "2026-01-01T00:00:00Z", writer(), (), tuple(ends), {})
    return Run(start, RunEnd("R", "2026-01-01T00:01:00Z", 0, ends))


def test_the_newest_good_end_of_the_same_command_says_how_long_a_module_takes() -> None:
    runs = (
        run("destroy", vm=ModuleEnd("destroyed", seconds=1)),
        run("apply", vm=ModuleEnd("error", seconds=2), db=ModuleEnd("pending")),
        run("apply", vm=ModuleEnd("ok", seconds=3), db=ModuleEnd("unchanged", seconds=4)),
        run("apply", vm=ModuleEnd("ok", seconds=5)),
    )
    assert usual_seconds(runs, "apply") == {"vm": 3, "db": 4}


def test_what_a_resume_did_was_an_apply() -> None:
    assert usual_seconds((run("resume", vm=ModuleEnd("ok", seconds=3)),), "apply") == {"vm": 3}
    assert usual_seconds((run("apply", vm=ModuleEnd("ok", seconds=3)),), "resume") == {"vm": 3}


def test_a_run_without_an_end_says_nothing() -> None:
    unended = Run(run("apply", vm=ModuleEnd("ok", seconds=3)).start, None)
    assert usual_seconds((unended,), "apply") == {}


def test_a_module_that_is_new_takes_as_long_as_most_do() -> None:
    assert for_each(DIAMOND, {"base": 1.0, "left": 3.0, "right": 20.0})["top"] == 3.0


def test_the_critical_path_is_the_slowest_chain() -> None:
    assert critical_path(DIAMOND, {"base": 1, "left": 2, "right": 9, "top": 1}) == ("base", "right", "top")


def test_without_durations_the_longest_chain_counts_and_the_alphabet_decides() -> None:
    assert critical_path(DIAMOND | {"loner": ()}, {}) == ("base", "left", "top")
    assert critical_path({}, {}) == ()


def test_needs_outside_of_what_is_looked_at_do_not_count() -> None:
    assert critical_path({"top": ("elsewhere",)}, {}) == ("top",)


def test_what_is_left_is_the_longest_chain_or_all_work_shared_out() -> None:
    left = {"base": 0.0, "left": 2.0, "right": 6.0, "top": 4.0}
    assert seconds_left(DIAMOND, left, 4) == 10
    assert seconds_left(DIAMOND, left, 1) == 12
    assert seconds_left({}, {}, 4) == 0
