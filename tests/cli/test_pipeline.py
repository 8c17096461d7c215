"""`hybridwrap pipeline`: written where the system looks, remembered, compared, and never over somebody else's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pages import Check, Screen
from tests.support.project import Project

MODULES = "modules:\n  network: {source: modules/network}\n"
IN_A_FOLDER = f"version: 1\nstack: shop\n{MODULES}"
MANIFEST = f"version: 1\nstack: shop\nledger: {{s3: {{bucket: acme-state, prefix: shop/}}}}\n{MODULES}"
VM = "  vm: {source: modules/network, depends_on: [network]}\n"
HEALTH = "  health: {source: modules/network, depends_on: [vm]}\n"
WORKFLOW = ".github/workflows/hybridwrap-shop.yml"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / ".git").mkdir()
    found = Project(tmp_path)
    found.write(MANIFEST + VM + HEALTH, **{"modules/network": ""})
    return found


def test_it_is_written_to_where_github_looks(project: Project, check: Check) -> None:
    screen = Screen(project)
    screen.type("hybridwrap pipeline github --write")
    check("pipeline-written", screen)
    assert (project.root / WORKFLOW).read_text() == project.call("pipeline", "github").out
    assert project.call("pipeline", "github", "--check").out == f"{WORKFLOW} is current\n"
    assert project.call("pipeline", "github", "--write").out == f"{WORKFLOW} is current\n"


@pytest.mark.parametrize(
    ("words", "noted"), [((), True), (("--install", "pip install x"), False), (("--image", "x"), False)]
)
def test_where_jobs_get_hybridwrap_has_to_be_said(project: Project, words: tuple[str, ...], *, noted: bool) -> None:
    assert ("not on PyPI yet" in project.call("pipeline", "github", "--write", *words).out) is noted


def test_a_stale_one_is_found_with_what_is_different(project: Project, check: Check) -> None:
    project.write(MANIFEST + VM)
    assert project.call("pipeline", "gitlab", "--shape", "modules", "--write").code == 0
    project.write(MANIFEST + VM + HEALTH)
    screen = Screen(project)
    screen.type("hybridwrap pipeline gitlab --check")
    assert screen.text.endswith("exit code 10\n")
    check("pipeline-stale", screen)
    assert project.call("pipeline", "gitlab", "--write").code == 0
    assert project.call("pipeline", "gitlab", "--check").code == 0


def test_a_file_remembers_its_options_until_others_are_given(project: Project) -> None:
    project.call("pipeline", "github", "--write", "--shape", "waves", "--branch", "it's main")
    assert "apply wave 3" in project.call("pipeline", "github").out
    assert project.call("pipeline", "github", "--check").code == 0
    project.call("pipeline", "github", "--write", "--shape", "workers=2")
    text = (project.root / WORKFLOW).read_text()
    assert "matrix: {worker: [1, 2]}" in text
    assert "refs/heads/it''s main" in text


def test_a_file_that_is_not_there_is_said(project: Project) -> None:
    ran = project.call("pipeline", "github", "--check")
    assert (ran.code, f"{WORKFLOW} is not there\nnext: hybridwrap pipeline github --write\n" in ran.err) == (10, True)


def test_a_file_of_somebody_else_is_left_alone(project: Project) -> None:
    file = project.root / ".gitlab-ci.yml"
    file.write_text("stages: [test]\n")
    ran = project.call("pipeline", "gitlab", "--write", ".gitlab-ci.yml")
    assert (ran.code, file.read_text()) == (10, "stages: [test]\n")
    assert ".gitlab-ci.yml is there already, and not made by hybridwrap" in ran.err
    assert project.call("pipeline", "gitlab", "--write", "other.yml").code == 0
    assert project.call("pipeline", "gitlab", "--check", "other.yml").code == 0
    (project.root / "other.yml").open("a").write("# mine\n")
    assert "--write other.yml\n" in project.call("pipeline", "gitlab", "--check", "other.yml").err


def test_each_environment_has_a_file_of_its_own_and_the_manifest_may_lie_below_the_top(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    project = Project(tmp_path / "live")
    project.root.mkdir()
    project.write(
        MANIFEST.replace("modules:", "environments: {dev: {}, prod: {}}\nmodules:"), **{"modules/network": ""}
    )
    for environment in ("dev", "prod"):
        assert project.call("pipeline", "github", "-e", environment, "--write").code == 0
    files = sorted(path.name for path in (tmp_path / ".github/workflows").iterdir())
    assert files == ["hybridwrap-shop-dev.yml", "hybridwrap-shop-prod.yml"]
    text = (tmp_path / ".github/workflows/hybridwrap-shop-prod.yml").read_text()
    assert "exec hybridwrap apply -e prod -f live/hybridwrap.yaml --auto-approve --join --wait=10m\n" in text
    assert project.call("pipeline", "github").code == 64


def test_gitlab_is_told_how_to_find_the_file_and_a_ledger_in_a_folder_is_pointed_out(project: Project) -> None:
    project.write(IN_A_FOLDER)
    said = project.call("pipeline", "gitlab", "--write").out
    assert "note: the ledger lies in a folder: jobs on several machines need one in S3" in said
    assert 'next: in .gitlab-ci.yml: include: [{local: ".gitlab/hybridwrap-shop.yml"}]' in said


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("argo",), 64, "argo has no repository of its own"),
        (("jenkins",), 64, "'jenkins' is not one of 'github', 'gitlab', 'argo'"),
        (("github", "--shape", "rows"), 64, '"rows" is no shape'),
        (("github", "--write", "--check"), 64, "--write and --check contradict each other"),
        (("github", "--shape", "workers=300"), 64, "300 workers: github takes 256"),
    ],
)
def test_what_cant_be_is_said_and_nothing_is_written(
    project: Project, words: tuple[str, ...], code: int, told: str
) -> None:
    ran = project.call("pipeline", *words)
    assert (ran.code, told in ran.err) == (code, True), ran.err
    assert not (project.root / ".github").exists()


def test_outside_a_repository_there_is_nothing_to_check_out(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(MANIFEST, **{"modules/network": ""})
    ran = project.call("pipeline", "github")
    assert (ran.code, "is in no git repository" in ran.err) == (10, True)
