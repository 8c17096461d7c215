"""A source that is gone can be had again: from the commit that it was of, or from the copy that was kept."""

from __future__ import annotations

import os
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest

from hybridwrap.adapters.module_sources import StackSources
from hybridwrap.adapters.source_archive import LARGEST, pack
from hybridwrap.domain.stack import EngineWish, LedgerSettings, Stack
from hybridwrap.errors import LedgerDamaged, PreflightRefused

MAIN = """
module "common" { source = "../common" }
variable "size" { type = number }
locals { script = file("${path.module}/../scripts/run.sh") }
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "modules/vm/main.tf", MAIN)
    write(tmp_path / "modules/vm/templates/unit.tpl", "unit")
    write(tmp_path / "modules/common/main.tf", 'output "x" { value = 1 }\n')
    write(tmp_path / "modules/scripts/run.sh", "#!/bin/sh\n")
    (tmp_path / "modules/scripts/run.sh").chmod(0o755)
    write(tmp_path / "modules/other/main.tf", "")
    write(tmp_path / "data/blob.txt", "data")
    return tmp_path


@pytest.fixture
def sources(root: Path) -> StackSources:
    stack = Stack("shop", "default", root / "hybridwrap.yaml", {}, LedgerSettings())
    return StackSources(stack, root / ".hybridwrap", {})


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def members(data: bytes | None) -> list[str]:
    assert data is not None
    with tarfile.open(fileobj=BytesIO(data)) as tar:
        return tar.getnames()


def git(root: Path, *words: str) -> str:
    named = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    argv = ["git", "-C", str(root), *named, *words]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_the_copy_holds_the_module_and_what_it_reads_beside_it(root: Path) -> None:
    assert members(pack(root / "modules/vm")) == [
        "vm",
        "common/main.tf",
        "scripts/run.sh",
        "vm/main.tf",
        "vm/templates/unit.tpl",
    ]


def test_a_file_that_cannot_be_read_is_left_out_and_a_module_that_has_vanished_is_named(
    root: Path, sources: StackSources
) -> None:
    (root / "modules/other/unreadable").symlink_to("/proc/self/mem")  # looks like a file, and gives an error
    assert members(sources.pack(root / "modules/other")) == [".", "main.tf"]
    with pytest.raises(PreflightRefused, match="modules/gone can't be read any more"):
        sources.pack(root / "modules/gone")


@pytest.mark.parametrize(
    "name",
    [
        "secret.auto.tfvars",
        "prod.tfvars.json",
        "terraform.tfstate",
        "terraform.tfstate.backup",
        "errored.tfstate",
        ".env",
        ".terraform/modules/modules.json",
        "hybridwrap_override.tf.json",
        "out.tfplan",
    ],
)
def test_nothing_that_may_hold_a_secret_is_copied(root: Path, name: str) -> None:
    write(root / "modules/vm" / name, "hunter2")
    write(root / "modules/vm/.terraform.lock.hcl", "lock")
    data = pack(root / "modules/vm")
    assert data is not None
    assert b"hunter2" not in data
    assert "vm/.terraform.lock.hcl" in members(data)


def test_the_same_content_makes_the_same_bytes(root: Path) -> None:
    before = pack(root / "modules/vm")
    for file in (root / "modules/vm").rglob("*"):
        os.utime(file, (1, 1))
    assert pack(root / "modules/vm") == before


def test_of_a_folder_that_is_too_large_only_the_configuration_is_copied(root: Path) -> None:
    (root / "modules/vm/image.bin").write_bytes(b"0" * (LARGEST + 1))
    assert members(pack(root / "modules/vm")) == ["vm", "common/main.tf", "scripts/run.sh", "vm/main.tf"]


def test_a_configuration_that_is_too_large_is_not_copied(root: Path) -> None:
    write(root / "modules/vm/large.tf", "# " + "0" * LARGEST)
    assert pack(root / "modules/vm") is None


def test_a_kept_copy_comes_back_with_everything_around_it_in_its_place(root: Path, sources: StackSources) -> None:
    folder = root / "modules/vm"
    data = pack(folder)
    assert data is not None
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    folder.rmdir()

    place = sources.unpack(data, folder)

    assert (place / "main.tf").read_text() == MAIN
    assert (place / "templates/unit.tpl").read_text() == "unit"
    assert (place / "../common/main.tf").is_file()
    assert os.access(place / "../scripts/run.sh", os.X_OK)
    assert (place / "../other/main.tf").is_file(), "a sibling that the copy does not have is linked"
    assert (place / "../../data/blob.txt").read_text() == "data"
    assert place.is_relative_to(root / ".hybridwrap/cache")
    assert sources.unpack(data, folder) == place
    assert set(sources.interface(place, EngineWish()).variables) == {"size"}


def test_a_folder_comes_back_as_it_was_at_its_commit(root: Path, sources: StackSources) -> None:
    git(root, "init", "-q")
    git(root, "add", "modules")
    git(root, "commit", "-q", "-m", "one")
    commit = git(root, "rev-parse", "HEAD")
    git(root, "rm", "-q", "-r", "modules/vm", "modules/common")
    git(root, "commit", "-q", "-m", "two")
    status = git(root, "status", "--porcelain")

    place = sources.check_out(root / "modules/vm", commit)

    assert (place / "main.tf").read_text() == MAIN
    assert (place / "../common/main.tf").is_file()
    assert (place / "../../data/blob.txt").read_text() == "data", "what git does not have is linked"
    assert git(root, "status", "--porcelain") == status, "the repository is as it was"
    assert not (root / "modules/vm").exists()
    assert sources.check_out(root / "modules/vm", commit) == place


def test_modules_of_one_commit_come_back_side_by_side(root: Path, sources: StackSources) -> None:
    for number in range(300):
        write(root / f"modules/beside-{number}", "")
    git(root, "init", "-q")
    git(root, "add", "modules/vm", "modules/common")
    git(root, "commit", "-q", "-m", "one")
    commit = git(root, "rev-parse", "HEAD")
    names = ("vm", "common") * 4
    with ThreadPoolExecutor(len(names)) as pool:
        places = list(pool.map(lambda name: sources.check_out(root / "modules" / name, commit), names))
    assert [place.name for place in places] == list(names)
    assert all((place / "../beside-299").is_file() for place in places)


def test_a_commit_that_is_not_there_is_said(root: Path, sources: StackSources) -> None:
    git(root, "init", "-q")
    with pytest.raises(PreflightRefused, match="commit 0123456789 can't be checked out of"):
        sources.check_out(root / "modules/vm", "0123456789")


def test_a_folder_outside_of_every_repository_is_said(root: Path, sources: StackSources) -> None:
    with pytest.raises(PreflightRefused, match="is in no git repository here"):
        sources.check_out(root / "modules/vm", "0123456789")


@pytest.mark.parametrize("name", ["../evil.tf", "/evil.tf", "vm/../../evil.tf"])
def test_a_copy_that_would_be_written_elsewhere_is_refused(root: Path, sources: StackSources, name: str) -> None:
    data = BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        tar.addfile(tarfile.TarInfo(name), BytesIO(b""))
    with pytest.raises(LedgerDamaged, match="outside its folder"):
        sources.unpack(data.getvalue(), root / "modules/vm")


@pytest.mark.parametrize("data", [b"", b"\0" * 10240, b"junk" * 1000])
def test_a_copy_that_is_no_archive_is_damage(root: Path, sources: StackSources, data: bytes) -> None:
    with pytest.raises(LedgerDamaged):
        sources.unpack(data, root / "modules/vm")
