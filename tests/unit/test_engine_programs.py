"""Which program is taken for the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.adapters.engine.programs import check, find
from hybridwrap.domain.entry import EngineIdentity
from hybridwrap.domain.stack import EngineWish, Interface, Module
from hybridwrap.errors import EngineNotUsable


def program(folder: Path, name: str, text: str = "\x7fELF") -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return file


def test_terraform_comes_before_tofu_and_tofu_before_the_embedded_one(tmp_path: Path) -> None:
    tofu = program(tmp_path / "a", "tofu")
    assert find("auto", search=str(tmp_path / "a"), base=tmp_path).argv == (str(tofu),)
    terraform = program(tmp_path / "b", "terraform")
    search = f"{tmp_path}/a:{tmp_path}/b"
    assert find("auto", search=search, base=tmp_path).argv == (str(terraform),)
    assert find("tofu", search=search, base=tmp_path).argv == (str(tofu),)


def test_a_wish_with_a_slash_is_a_path_from_the_manifest(tmp_path: Path) -> None:
    own = program(tmp_path / "tools", "terraform-1.9")
    assert find("tools/terraform-1.9", search="", base=tmp_path).argv == (str(own),)
    assert find(str(own), search="", base=Path("/")).argv == (str(own),)


@pytest.mark.parametrize("wish", ["terraform-1.9", "tools/none", "/nowhere/tofu", "tools"])
def test_what_is_not_there_is_named(tmp_path: Path, wish: str) -> None:
    (tmp_path / "tools").mkdir()
    with pytest.raises(EngineNotUsable, match=wish):
        find(wish, search=str(tmp_path), base=tmp_path)


def test_the_binary_behind_the_wrapper_of_a_setup_action_is_taken(tmp_path: Path) -> None:
    program(tmp_path / "bin", "terraform", "#!/usr/bin/env node\n")
    binary = program(tmp_path / "bin", "terraform-bin")
    found = find("auto", search=str(tmp_path / "bin"), base=tmp_path)
    assert (found.argv, found.is_script) == ((str(binary),), False)


def test_a_script_is_known_as_one(tmp_path: Path) -> None:
    program(tmp_path / "bin", "terraform", "#!/bin/sh\n")
    assert find("terraform", search=str(tmp_path / "bin"), base=tmp_path).is_script


@pytest.mark.parametrize(
    ("wish", "required", "version", "complaint"),
    [
        ("", (), "1.11.4", ""),
        (">= 1.10", (">= 1.3", "< 2.0"), "1.11.4", ""),
        (">= 1.12", (), "1.12.0-rc1", ""),
        (">= 1.12.0-rc2", (), "1.12.0-rc1", "needs Terraform >= 1.12.0-rc2"),
        (
            "< 1.11",
            (),
            "1.11.4",
            r"needs Terraform < 1.11 \(engine.version in the manifest\), but .* is Terraform 1.11.4",
        ),
        ("", (">= 1.3", "~> 0.13.0"), "1.11.4", r"needs Terraform ~> 0.13.0 \(required_version in /srv/net\)"),
        ("", (), "1.5.7", r"needs Terraform >= 1.9.0"),
    ],
)
def test_both_versions_are_named_when_they_do_not_fit(
    tmp_path: Path, wish: str, required: tuple[str, ...], version: str, complaint: str
) -> None:
    found = find("terraform", search=str(program(tmp_path, "terraform").parent), base=tmp_path)
    module = Module(
        "net", Path("/srv/net"), engine=EngineWish(version=wish), interface=Interface(required_version=required)
    )
    identity = EngineIdentity("terraform", version)
    if not complaint:
        check(module, found, identity)
        return
    with pytest.raises(EngineNotUsable, match=complaint):
        check(module, found, identity)
