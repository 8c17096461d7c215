"""`schema` prints what is shipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from hybridwrap.cli.main import main

SHIPPED = sorted(file.stem for file in (Path(__file__).parents[2] / "schemas").glob("*.json"))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_schema_is_printed_by_its_name_and_is_one(name: str) -> None:
    ran = CliRunner().invoke(main, ["schema", name])
    assert ran.exit_code == 0
    Draft202012Validator.check_schema(json.loads(ran.stdout))


def test_without_a_name_it_is_that_of_the_manifest() -> None:
    assert CliRunner().invoke(main, ["schema"]).stdout == CliRunner().invoke(main, ["schema", "stack.v1"]).stdout
    assert CliRunner().invoke(main, ["schema", "--list"]).stdout.split() == SHIPPED


def test_a_name_that_is_none_is_said_with_those_that_are() -> None:
    ran = CliRunner().invoke(main, ["schema", "stak"])
    assert ran.exit_code == 64
    assert "stack.v1" in ran.stderr
