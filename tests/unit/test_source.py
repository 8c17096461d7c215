"""A module's source has a digest that follows its content in every checkout, and a commit when it is clean."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hybridwrap.adapters.commits import Commits, source_of
from hybridwrap.adapters.source import automatic_var_files, lock_digest, source_digest
from tests.support.manifests import write_stack

MAIN = """
    module "child" {
      source = "../shared/child"
    }
    module "remote" {
      source = "hashicorp/consul/aws"
    }
    locals { text = file("${path.module}/files/a.txt") }
    locals { path = "../elsewhere/b.txt" }
    output "b" { value = upper(file(local.path)) }
"""
CHILD = 'module "grandchild" { source = "./grand" }'


def build(root: Path) -> Path:
    write_stack(
        root,
        "x: 1",
        {"app": MAIN, "shared/child": CHILD, "shared/child/grand": 'output "x" { value = 1 }', "shared/other": ""},
    )
    (root / "app/files").mkdir()
    (root / "app/files/a.txt").write_text("a", encoding="utf-8")
    (root / "elsewhere").mkdir()
    (root / "elsewhere/b.txt").write_text("b", encoding="utf-8")
    return root / "app"


def test_the_same_source_has_the_same_digest_in_another_checkout(tmp_path: Path) -> None:
    assert source_digest(build(tmp_path / "one")) == source_digest(build(tmp_path / "two"))


@pytest.mark.parametrize(
    "name",
    [
        "app/main.tf", "app/new.tf", "app/new.tofu", "app/new.tf.json", "shared/child/main.tf",
        "shared/child/grand/main.tf", "app/files/a.txt",
        "elsewhere/b.txt",
    ],
)  # fmt: skip
def test_a_change_of_what_the_engine_reads_changes_the_digest(tmp_path: Path, name: str) -> None:
    folder = build(tmp_path)
    before = source_digest(folder)
    with (tmp_path / name).open("a", encoding="utf-8") as file:
        file.write("\n# more\n")
    assert source_digest(folder) != before


@pytest.mark.parametrize(
    "name",
    [
        "app/hybridwrap_override.tf.json", "app/.terraform.lock.hcl", "app/.terraform/modules/x.tf", "app/README.md",
        "app/terraform.tfstate", "app/x.auto.tfvars", "shared/other/main.tf",
    ],
)  # fmt: skip
def test_a_change_of_anything_else_does_not(tmp_path: Path, name: str) -> None:
    folder = build(tmp_path)
    before = source_digest(folder)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("changed", encoding="utf-8")
    assert source_digest(folder) == before


def test_modules_that_call_each_other_in_a_circle_do_not_hang(tmp_path: Path) -> None:
    write_stack(tmp_path, "x: 1", {"a": 'module "b" { source = "../b" }', "b": 'module "a" { source = "../a/" }'})
    assert source_digest(tmp_path / "a")


def test_the_lock_file_has_a_digest_of_its_own(tmp_path: Path) -> None:
    assert lock_digest(tmp_path) == ""
    (tmp_path / ".terraform.lock.hcl").write_text("x", encoding="utf-8")
    assert len(lock_digest(tmp_path)) == 64


def test_variable_files_are_named_in_the_order_of_their_weight(tmp_path: Path) -> None:
    for name in ("b.auto.tfvars", "terraform.tfvars.json", "a.auto.tfvars.json", "terraform.tfvars", "other.tfvars"):
        (tmp_path / name).touch()
    assert [path.name for path in automatic_var_files(tmp_path)] == [
        "terraform.tfvars", "terraform.tfvars.json", "a.auto.tfvars.json", "b.auto.tfvars",
    ]  # fmt: skip


def git(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")
    argv = ["git", "-C", str(root), *identity, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    build(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def test_a_clean_source_is_of_a_commit(repository: Path) -> None:
    source = source_of(repository / "app", Commits())
    assert source.git == git(repository, "rev-parse", "HEAD")
    assert source.digest == source_digest(repository / "app")


@pytest.mark.parametrize("name", ["app/main.tf", "app/new file.tf", "shared/child/grand/main.tf", "app/main.tf.moved"])
def test_a_changed_source_or_child_is_of_no_commit(repository: Path, name: str) -> None:
    if name.endswith(".moved"):
        git(repository, "mv", "app/main.tf", "app/moved.tf")
    else:
        (repository / name).write_text("changed", encoding="utf-8")
    assert source_of(repository / "app", Commits()).git == ""


def test_a_change_elsewhere_in_the_repository_does_not_matter(repository: Path) -> None:
    (repository / "shared/other/main.tf").write_text("changed", encoding="utf-8")
    assert source_of(repository / "app", Commits()).git


def test_a_folder_outside_git_or_without_a_commit_is_of_no_commit(tmp_path: Path) -> None:
    folder = build(tmp_path)
    if not any((parent / ".git").exists() for parent in tmp_path.parents):
        assert Commits().commit(folder) == ""
    git(tmp_path, "init", "-q")
    assert Commits().commit(folder) == ""


def test_git_is_asked_once_for_a_repository(repository: Path) -> None:
    commits = Commits()
    first = commits.commit(repository / "app")
    (repository / ".git/HEAD").rename(repository / ".git/HEAD.gone")
    assert commits.commit(repository / "shared/child") == first != ""


def test_a_change_of_a_folder_that_holds_the_module_matters(repository: Path) -> None:
    git(repository, "rm", "-r", "-q", "--cached", "app")  # all of the folder is one line of git's answer
    assert source_of(repository / "app", Commits()).git == ""
    assert Commits().commit(repository / "app/deeper") == ""
    assert Commits().commit(repository / "shared") != ""
