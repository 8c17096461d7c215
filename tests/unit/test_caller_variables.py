"""Values that the caller gives, as the options read them."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hybridwrap.cli.options import variable_options
from hybridwrap.cli.variables import Variables


def read(*argv: str) -> Variables:
    @click.command
    @variable_options
    def command(variables: Variables) -> Variables:
        return variables

    found = CliRunner().invoke(command, argv, standalone_mode=False, catch_exceptions=False).return_value
    assert isinstance(found, Variables)
    return found


def test_a_file_that_can_be_read_only_once_will_do() -> None:
    """As the shell's `-var-file <(decrypt secrets)` is one."""
    source, into = os.pipe()
    os.write(into, b'password = "hush"\nsize = 3\n')
    os.close(into)
    try:
        found = read("-var-file", f"/dev/fd/{source}", "-var", "size=4")
    finally:
        os.close(source)
    assert found == Variables({"password": "hush", "size": 3}, {"size": "4"})
    assert found.names == {"password", "size"}


def test_the_last_value_of_a_name_counts(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.tfvars").write_text(f"size = {number}\n")
    found = read(
        "-var-file", str(tmp_path / "1.tfvars"), "-var-file", str(tmp_path / "2.tfvars"), "-var", "a=1", "-var", "a=2"
    )
    assert found == Variables({"size": 2}, {"a": "2"})


@pytest.mark.parametrize("setting", ["size", "=3"])
def test_a_setting_without_a_name_or_a_value_is_wrong_usage(setting: str) -> None:
    with pytest.raises(Exception, match="-var takes NAME=VALUE"):
        read("-var", setting)
