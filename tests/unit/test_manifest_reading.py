"""The text of a manifest: every trap of YAML is an error with a place, and all of them are said at once."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from hybridwrap.adapters.manifest.node import plain
from hybridwrap.adapters.manifest.reading import MAX_BYTES, parse, read_bytes
from hybridwrap.domain.json import Json
from hybridwrap.errors import InvalidManifest, UsageError

DATA = Path(__file__).parents[1] / "data" / "manifest"


def read(text: str | bytes) -> Json:
    return plain(parse(text.encode() if isinstance(text, str) else text, "hybridwrap.yaml"))


def complaints(text: str | bytes) -> list[str]:
    with pytest.raises(InvalidManifest) as caught:
        read(text)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("1.25", Decimal("1.25")),
        ("9007199254740993", 9007199254740993),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("0.1234567890123456789012345", Decimal("0.1234567890123456789012345")),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("10.0.0.0/16", "10.0.0.0/16"),
        ("1.2.3", "1.2.3"),
        ("not-a-number", "not-a-number"),
        ("nobody", "nobody"),
        ('"012345670123"', "012345670123"),
        ("'yes'", "yes"),
        ("!!str 012", "012"),
        ("a{{ b }}", "a{{ b }}"),
    ],
)
def test_a_plain_scalar_is_what_yaml_1_2_says_and_numbers_are_exact(text: str, value: Json) -> None:
    found = read(f"x: {text}")["x"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [
        "012345670123", "089012345678", "08989", "-012", "00.5", "1234e567", "1e5", "1.5E-3", "yes", "No", "on", "OFF",
        "0o17", "0x1f", "0b11", "1_000", "+5", "+4912345", "1.10", "3.0", "5.", ".5", ".inf", "-.INF", ".nan",
        "2024-01-01", "2001-12-14t21:59:43.10-05:00", "12:30:45", "1:30",
    ],
)  # fmt: skip
def test_a_scalar_that_readers_of_yaml_disagree_on_must_be_quoted(text: str) -> None:
    (complaint,) = complaints(f"x: {text}")
    assert complaint.startswith(f"hybridwrap.yaml:1:4  x: {text} ")
    assert f'write "{text}" in quotes' in complaint


def test_all_doubtful_scalars_of_a_file_are_said_at_once() -> None:
    found = complaints((DATA / "yaml-digits.yaml").read_bytes())
    assert [line.split("  ")[1].split(":")[0] for line in found] == [
        "account_octal", "account", "zip", "sha", "flag", "port", "ts", "sexagesimal",
    ]  # fmt: skip


def test_keys_are_texts_whatever_they_look_like() -> None:
    assert read("{on: 1, 080: 2, 1.10: 3, null: 4, yes: 5}") == {"on": 1, "080": 2, "1.10": 3, "null": 4, "yes": 5}


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "~\n"])
def test_a_file_without_content_is_an_error(text: str) -> None:
    assert complaints(text) == ["hybridwrap.yaml  is empty; a manifest begins with `version: 1`"]


@pytest.mark.parametrize(
    "text",
    ["x: {{ modules.a.b }}\n", "x: {{ modules.a['b'] }}\n", "x: {{ modules.a.b }}-y\n", "x: [{{ modules.a.b }}]\n"],
)
def test_a_template_without_quotes_gets_a_hint(text: str) -> None:
    (complaint,) = complaints(text)
    assert complaint.startswith("hybridwrap.yaml:1:")
    assert 'a template must stand in quotes: "{{ … }}"' in complaint


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: 1\nb: 2\na: 3\n", "hybridwrap.yaml:3:1  a: is here for the second time; the first is in line 1"),
        ("a: 1\n---\nb: 2\n", "hybridwrap.yaml:2:1  a second document begins here; a manifest is one document"),
        ("a: *x\n", "hybridwrap.yaml:1:4  a: no anchor &x stands before this alias"),
        ("a: &x [*x]\n", "hybridwrap.yaml:1:8  a[0]: no anchor &x stands before this alias"),
        ("? [a, b]\n: 1\n", "hybridwrap.yaml:1:3  a key must be a text"),
        ("a: !secret x\n", "hybridwrap.yaml:1:4  a: the tag !secret is not supported; quote a text"),
        ("a: {<<: 5}\n", "hybridwrap.yaml:1:9  a: << takes a mapping or a list of mappings"),
        ("a: \x07\n", "hybridwrap.yaml:1:4  has a character that YAML does not allow"),
    ],
)
def test_what_is_wrong_with_the_text_is_said_with_its_place(text: str, complaint: str) -> None:
    assert complaints(text) == [complaint]


def test_a_tag_runs_no_code() -> None:
    (complaint,) = complaints('a: !!python/object/apply:os.system ["true"]\n')
    assert "is not supported" in complaint


def test_broken_yaml_names_line_and_column() -> None:
    (complaint,) = complaints("a: [1,\nb: 2\n")
    assert complaint.startswith("hybridwrap.yaml:3:1  ")
    assert "not YAML" in complaint


def test_a_tab_is_called_one() -> None:
    assert complaints("a:\n\tb: 2\n") == ["hybridwrap.yaml:2:1  not YAML: a tab; YAML is indented with blanks"]


def test_a_file_that_is_not_utf_8_names_the_place_of_the_byte() -> None:
    assert complaints("a: 1\nbü: ".encode() + b"\xff") == [
        "hybridwrap.yaml:2:5  byte 0xff is not UTF-8; save the file as UTF-8"
    ]
    assert complaints("a: 1".encode("utf-16")) == ["hybridwrap.yaml  is UTF-16; save it as UTF-8"]


def test_a_byte_order_mark_of_utf_8_does_no_harm() -> None:
    assert read(b"\xef\xbb\xbfa: 1") == {"a": 1}


def test_aliases_and_merge_keys_mean_what_they_do_elsewhere() -> None:
    assert read("a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\nc: *x\nd: {<<: [{p: 4}, *x]}\n") == {
        "a": {"p": 1, "q": 2},
        "b": {"p": 1, "q": 3},
        "c": {"p": 1, "q": 2},
        "d": {"p": 4, "q": 2},
    }


def test_a_bomb_of_aliases_is_refused_before_it_is_expanded() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
    (complaint,) = complaints(bomb)
    assert "too many aliases?" in complaint


@pytest.mark.parametrize("text", ["[" * 200, "{a: " * 200, "".join(f"{'  ' * i}a:\n" for i in range(200))])
def test_a_deeply_nested_document_is_refused(text: str) -> None:
    assert complaints(text)


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    file = tmp_path / "hybridwrap.yaml"
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(InvalidManifest, match="bytes long"):
        read_bytes(file)


def test_a_file_that_cannot_be_read_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_bytes(tmp_path / "absent.yaml")
