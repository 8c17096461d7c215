"""A source is remote by its form, or by the version that only a registry knows."""

from __future__ import annotations

import pytest

from hybridwrap.adapters.remote_sources import Remote, looks_like_registry, remote_of, without_secrets


@pytest.mark.parametrize(
    "source",
    [
        "git::https://example.com/vpc.git", "git::ssh://git@example.com/vpc.git?ref=v1", "hg::http://example.com/vpc.hg",
        "https://example.com/vpc.zip", "s3::https://s3.amazonaws.com/bucket/vpc.zip", "git@github.com:acme/vpc.git",
        "github.com/acme/vpc", "bitbucket.org/acme/vpc", "oci://example.com/vpc", "git::file:///srv/git/lib//vpc?ref=v1",
    ],
)  # fmt: skip
def test_an_address_is_a_remote_source(source: str) -> None:
    assert remote_of(source, "") == Remote(source)


@pytest.mark.parametrize(
    "source", ["modules/vpc", "../modules/vpc", "/srv/vpc", "live/prod/vpc", "~/vpc", "acme/vpc/aws"]
)
def test_a_path_is_none_unless_it_has_a_version(source: str) -> None:
    assert remote_of(source, "") is None
    assert remote_of(source, "1.0.0") == Remote(source, "1.0.0")


@pytest.mark.parametrize(
    ("remote", "pinned"),
    [
        (Remote("git::https://example.com/vpc.git"), False),
        (Remote("git::https://example.com/vpc.git?depth=1"), False),
        (Remote("git::https://example.com/vpc.git?ref=v1"), True),
        (Remote("git::https://example.com/vpc.git?depth=1&ref=v1"), True),
        (Remote("acme/vpc/aws", "~> 5.0"), True),
    ],
)
def test_a_ref_or_a_version_pins_it(remote: Remote, *, pinned: bool) -> None:
    assert remote.pinned is pinned


@pytest.mark.parametrize(
    ("source", "like"),
    [("acme/vpc/aws", True), ("app.example.com/acme/vpc/aws//inner", True), ("modules/vpc", False), ("../a/b", False)],
)
def test_what_may_be_meant_for_a_registry_is_told_by_its_form(source: str, *, like: bool) -> None:
    assert looks_like_registry(source) is like


def test_passwords_in_addresses_are_not_shown() -> None:
    assert (
        str(Remote("git::https://ana:hunter2@example.com/x.git?ref=v1"))
        == "git::https://ana:…@example.com/x.git?ref=v1"
    )
    assert without_secrets("at https://:tok@h and ssh://git@h:22/x") == "at https://:…@h and ssh://git@h:22/x"
