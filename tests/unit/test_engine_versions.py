"""Version constraints mean what they mean to Terraform."""

from __future__ import annotations

import pytest

from hybridwrap.domain.version import parse_constraint, satisfies


@pytest.mark.parametrize(
    ("constraint", "yes", "no"),
    [
        ("", ["0.1.0", "1.11.4"], []),
        ("1.11.4", ["1.11.4", "v1.11.4"], ["1.11.5", "1.11.4-rc1"]),
        ("= 1.11", ["1.11.0"], ["1.11.4"]),
        ("!= 1.11.0", ["1.11.4", "1.11.0-rc1"], ["1.11.0"]),
        (">= 1.10", ["1.10.0", "1.11.4", "2.0.0"], ["1.9.9", "1.11.0-rc1"]),
        ("> 1.10, < 1.12", ["1.10.1", "1.11.4"], ["1.10.0", "1.12.0"]),
        (">=1.10,<1.11", ["1.10.9"], ["1.11.0"]),
        ("<= 1.11.4", ["1.11.4", "1.2.0"], ["1.11.5"]),
        ("~> 1.5", ["1.5.0", "1.11.4"], ["1.4.9", "2.0.0"]),
        ("~> 1.11.2", ["1.11.2", "1.11.4"], ["1.11.1", "1.12.0"]),
        ("~> 0.13.0", ["0.13.7"], ["1.11.4", "0.14.0"]),
        ("~> 1", ["1.0.0", "1.11.4", "2.0.0"], ["0.9.0"]),
        (">= 1.12.0-beta1", ["1.12.0-beta2", "1.12.0-rc1", "1.12.0", "1.13.0"], ["1.12.0-alpha1", "1.13.0-beta1"]),
        ("~> 1.12.0-beta1", ["1.12.0-beta1", "1.12.0-rc1"], ["1.12.0", "1.12.0-alpha3", "1.13.0-beta1"]),
        ("> 1.12.0-beta.2", ["1.12.0-beta.10"], ["1.12.0-beta.1"]),
    ],
)
def test_a_constraint_admits_some_versions_and_not_others(constraint: str, yes: list[str], no: list[str]) -> None:
    assert [version for version in (*yes, *no) if satisfies(version, constraint)] == yes


@pytest.mark.parametrize("constraint", ["=> 1.10", "latest", ">= ", "1.10,", "~> 1.x", "== 1.2", ">= 1.2 < 2", "1..2"])
def test_what_is_no_constraint_is_an_error(constraint: str) -> None:
    with pytest.raises(ValueError, match="is not a version"):
        parse_constraint(constraint)
