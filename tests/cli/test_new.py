"""`new`: where the manifest goes, and what is wrong usage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from hybridwrap.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "terragrunt"


def test_from_terragrunt_the_manifest_goes_beside_the_units_and_losses_are_told(tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path / "infra")
    live = tmp_path / "infra" / "live"
    ran = CliRunner().invoke(main, ["new", "--from-terragrunt", str(live), "--stack", "shop"])
    assert ran.exit_code == 0, ran.output
    assert "hybridwrap.yaml: 4 modules: app, db, dns, vpc" in ran.output
    assert 'no counterpart: vpc: before_hook "lint"' in ran.output
    assert "next: look for TODO in it, then: hybridwrap validate" in ran.output
    assert "stack: shop\n" in (live / "hybridwrap.yaml").read_text()

    again = CliRunner().invoke(main, ["new", "--from-terragrunt", str(live)])
    assert again.exit_code == 10
    assert "is there already; nothing was written" in again.output
    shown = CliRunner().invoke(main, ["new", "--from-terragrunt", str(live), "--stdout"])
    assert shown.output.startswith(
        "# A stack for hybridwrap, written by `hybridwrap new` from what Terragrunt rendered"
    )


def test_units_of_terragrunt_are_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "unit").mkdir()
    (tmp_path / "unit" / "terragrunt.hcl").touch()
    alone = CliRunner().invoke(main, ["new", str(tmp_path)])
    assert "next: terragrunt render --all --json --write && hybridwrap new --from-terragrunt FOLDER" in alone.output
    (tmp_path / "unit" / "main.tf").write_text('output "x" { value = 1 }\n')
    among = CliRunner().invoke(main, ["new", str(tmp_path)])
    assert among.exit_code == 0
    assert "there are units of Terragrunt, which were not looked at" in among.output


def test_modules_that_only_units_of_terragrunt_may_use_make_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / "terragrunt.hcl").touch()
    (tmp_path / "modules" / "vpc").mkdir(parents=True)
    (tmp_path / "modules" / "vpc" / "main.tf").write_text('variable "x" {}\n')
    ran = CliRunner().invoke(main, ["new", str(tmp_path)])
    assert ran.exit_code == 64
    assert "next: terragrunt render" in ran.output
    assert not (tmp_path / "hybridwrap.yaml").exists()
    assert CliRunner().invoke(main, ["new", str(tmp_path / "modules")]).exit_code == 0


@pytest.mark.parametrize(
    ("below", "validate"), [("", "hybridwrap validate -f infra/hybridwrap.yaml"), ("infra/vpc", "hybridwrap validate")]
)
def test_what_to_type_next_finds_the_manifest_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str, validate: str
) -> None:
    (tmp_path / "infra" / "vpc").mkdir(parents=True)
    (tmp_path / "infra" / "vpc" / "main.tf").write_text('variable "x" {}\n')
    monkeypatch.chdir(tmp_path / below)
    ran = CliRunner().invoke(main, ["new", str(tmp_path / "infra")])
    assert ran.output.splitlines()[-1] == f"next: look for TODO in it, then: {validate}"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([".", "--from-terraform", "."], "name one place"),
        (["--from-terragrunt", ".", "--var-file", "x"], "are for --from-terraform"),
        (["--stack", "a b"], "'a b' can't be the name of a stack; 'a-b' could"),
        (["--from-terragrunt", "."], "no terragrunt.rendered.json in"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(main, ["new", *words])
    assert ran.exit_code == 64, ran.output
    assert why in ran.output
