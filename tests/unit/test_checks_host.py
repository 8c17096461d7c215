"""What a checkup finds on a host: rights, owners, leftovers, variables, engines; and that it leaves nothing there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from hybridwrap.adapters.checks.engines import check_engines
from hybridwrap.adapters.checks.environment import check_environment, check_plugin_cache
from hybridwrap.adapters.checks.host import check_home, check_left_behind
from hybridwrap.adapters.checks.places import check_folder_ledger, folders_of
from hybridwrap.adapters.clock import SystemClock
from hybridwrap.adapters.home import make_home
from hybridwrap.adapters.operation_folders import Folders
from hybridwrap.domain.checkup import Finding, Verdict, exit_code_of, ok, problem, warning
from hybridwrap.domain.stack import Interface, Module, Variable

NOT_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


def verdicts(found: list[Finding]) -> dict[str, Verdict]:
    return {finding.subject: finding.verdict for finding in found}


def files(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_the_gravest_problem_gives_the_exit_code_and_warnings_give_none() -> None:
    assert exit_code_of([ok("a", ""), warning("b", "", "")]) == 0
    assert exit_code_of([problem("a", "", "", 10), problem("b", "", "", 40)]) == 40
    assert exit_code_of([problem("a", "", "", 10), problem("b", "", "", 30)]) == 30


def test_a_home_that_is_well_and_one_that_is_not_made_yet_are_ok_and_stay_as_they_are(tmp_path: Path) -> None:
    home = tmp_path / ".hybridwrap"
    fresh = list(check_home(home, "shop"))
    assert set(verdicts(fresh).values()) == {Verdict.OK}
    assert "not made yet" in fresh[0].text
    assert files(tmp_path) == set()
    make_home(home, "shop")
    before = files(tmp_path)
    assert set(verdicts(list(check_home(home, "shop"))).values()) == {Verdict.OK}
    assert files(tmp_path) == before


def test_a_home_of_another_stack_or_open_to_others_is_said(tmp_path: Path) -> None:
    home = tmp_path / ".hybridwrap"
    make_home(home, "shop")
    home.chmod(0o755)
    found = list(check_home(home, "other"))
    assert [finding.text for finding in found if finding.verdict is Verdict.PROBLEM] == [
        f'{home} belongs to the stack "shop", not to "other"'
    ]
    assert [finding.fix for finding in found if finding.verdict is Verdict.WARNING] == [f"chmod 700 {home}"]


@NOT_ROOT
def test_a_home_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "read-only").mkdir(mode=0o500)
    (finding,) = check_home(tmp_path / "read-only" / "home", "shop")
    assert (finding.verdict, finding.exit_code) == (Verdict.PROBLEM, 10)
    assert "HYBRIDWRAP_HOME" in finding.fix


@pytest.mark.parametrize(
    ("free", "verdict"), [(10, Verdict.PROBLEM), (500 << 20, Verdict.WARNING), (9 << 30, Verdict.OK)]
)
def test_little_room_is_said_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, verdict: Verdict
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1 << 40, 0, free))
    assert verdicts(list(check_home(tmp_path, "")))["disk"] is verdict


def test_operations_without_an_end_are_named_with_what_to_type(tmp_path: Path) -> None:
    folders = Folders(tmp_path / ".hybridwrap", "shop")
    assert check_left_behind(folders).verdict is Verdict.OK
    folder = folders.make("O1")
    folder.keep_claim(b"{}")
    folder.release()
    assert "O1" in check_left_behind(folders).text
    folder.keep_result(b"{}")
    found = check_left_behind(folders)
    assert (found.verdict, "hybridwrap sync" in found.fix) == (Verdict.WARNING, True)


@pytest.mark.parametrize(
    ("environ", "subject", "told"),
    [
        ({"TF_CLI_ARGS_plan": "-destroy"}, "TF_CLI_ARGS_plan", "is not passed on to the engine"),
        ({"TF_DATA_DIR": "x"}, "TF_DATA_DIR", "is not passed on"),
        ({"TF_LOG": "TRACE"}, "TF_LOG", "may hold secrets"),
        ({"TF_CLI_CONFIG_FILE": "/no/such/file"}, "TF_CLI_CONFIG_FILE", "which is not there"),
        ({"TF_REATTACH_PROVIDERS": "{}"}, "TF_REATTACH_PROVIDERS", "already running"),
        ({"TF_VAR_size": "1", "TF_VAR_other": "2"}, "variables", "TF_VAR_size"),
        ({"PATH": "/bin"}, "variables", "none is set"),
    ],
)
def test_variables_that_matter_are_named(environ: Mapping[str, str], subject: str, told: str) -> None:
    module = Module("vm", Path(), interface=Interface({"size": Variable("size")}))
    (finding,) = check_environment(environ, {"vm": module})
    assert finding.subject == subject
    assert told in finding.text
    assert "TF_VAR_other" not in finding.text
    assert (finding.verdict is Verdict.WARNING) == bool(finding.fix)


def test_a_plugin_cache_is_looked_at_and_its_absence_matters_only_to_many(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert check_plugin_cache(home, "terraform", 1).verdict is Verdict.OK
    assert check_plugin_cache(home, "terraform", 5).verdict is Verdict.WARNING
    cache = {**home, "TF_PLUGIN_CACHE_DIR": str(tmp_path / "cache")}
    assert check_plugin_cache(cache, "terraform", 5).fix == f"mkdir -p {tmp_path / 'cache'}"
    (tmp_path / "cache").mkdir()
    assert "one init at a time" in check_plugin_cache(cache, "terraform", 5).text
    assert "one init at a time" not in check_plugin_cache(cache, "opentofu", 5).text


def engine(folder: Path, name: str, says: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (folder / name).chmod(0o755)


def test_engines_that_are_there_are_named_and_an_old_one_is_said(tmp_path: Path) -> None:
    engine(tmp_path / "bin", "terraform", "Terraform v1.3.9")
    engine(tmp_path / "bin", "tofu", "OpenTofu v1.12.6")
    found = list(
        check_engines({"PATH": str(tmp_path / "bin")}, SystemClock(), tmp_path / "none" / "cache" / "engines.json")
    )
    assert [finding.verdict for finding in found][:2] == [Verdict.WARNING, Verdict.OK]
    assert "Terraform 1.3.9" in found[0].text
    assert "OpenTofu 1.12.6" in found[1].text
    assert not (tmp_path / "none").exists()


def test_a_folder_for_a_ledger_is_looked_at_and_not_made(tmp_path: Path) -> None:
    (finding,) = check_folder_ledger(tmp_path / "a" / "ledger", "HYBRIDWRAP_HOME")
    assert finding.verdict is Verdict.OK
    assert files(tmp_path) == set()


def test_states_are_looked_at_folder_by_folder() -> None:
    keys = {"a": "shop/prod/a.tfstate", "b": "shop/prod/b.tfstate", "c": "c.tfstate"}
    assert folders_of(keys) == {"": ("c",), "shop/prod/": ("a", "b")}


def test_operations_that_cannot_be_looked_at_are_a_problem_and_no_bug(tmp_path: Path) -> None:
    (tmp_path / "operations").symlink_to("operations")  # a loop: also root can't read it
    finding = check_left_behind(Folders(tmp_path, "shop"))
    assert finding.verdict is Verdict.PROBLEM
    assert "operations can't be read: Too many levels" in finding.text
