"""Secrets are masked wherever they are printed, in whatever form."""

from __future__ import annotations

import json
from base64 import b64encode
from decimal import Decimal
from urllib.parse import quote, quote_plus, urlencode

import pytest

from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.json import Json
from hybridwrap.domain.redaction import MASK, Redaction, masked_plan

SECRET = 'p&ss "wörd"/<+>'


@pytest.mark.parametrize(
    "printed",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        r"p\u0026ss \"wörd\"/\u003c+\u003e",  # as Go writes it
        b64encode(SECRET.encode()).decode().rstrip("="),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        urlencode({"p": SECRET})[2:],
    ],
)
def test_every_form_of_a_secret_is_masked(printed: str) -> None:
    assert Redaction([SECRET]).text(f"before {printed} after") == f"before {MASK} after"


@pytest.mark.parametrize(
    ("value", "text", "masked"),
    [
        ({"user": "u", "list": [{"pass": "SECRET-69"}]}, "it is SECRET-69!", f"it is {MASK}!"),
        (["abcd", "abcdef"], "abcdef abcd", f"{MASK} {MASK}"),  # the longer one first
        (["abc"], "abc", "abc"),
        ([True, None, ""], "True None null true", "True None null true"),
        ([123456], "port 123456.", f"port {MASK}."),
        ([123456], "i-123456ab 1234567 0.123456 123456.5", "i-123456ab 1234567 0.123456 123456.5"),
        ([123], "123", "123"),
        ([Decimal("3.1415")], "pi=3.1415", f"pi={MASK}"),
        (["12345678"], "x12345678y", f"x{MASK}y"),  # digits as text are masked everywhere
        (["first line\nsecond line\n"], "  second line", f"  {MASK}"),
        (["  padded secret  "], "padded secret", MASK),
        (["a.b*c"], "aXbbc a.b*c", f"aXbbc {MASK}"),
        ([MASK], MASK, MASK),
        (["\udc80\udc81\udc82\udc83"], "nothing of it", "nothing of it"),
    ],
)
def test_what_is_masked_and_what_is_left(value: Json, text: str, masked: str) -> None:
    assert Redaction([value]).text(text) == masked


def test_without_secrets_a_text_stays_as_it_is() -> None:
    assert Redaction().text("all is well") == "all is well"


def test_a_diagnostic_is_masked_in_all_that_it_says() -> None:
    """A failed provisioner prints the command that the log had hidden."""
    secret = "SECRET-FAKE-69"
    told = Diagnostic(
        "error", f"no {secret}", f"Error running command 'login -p {secret}'", f'x.a["{secret}"]', "main.tf", 3
    )
    masked = Redaction([secret]).diagnostic(told)
    assert masked == Diagnostic(
        "error", f"no {MASK}", f"Error running command 'login -p {MASK}'", f'x.a["{MASK}"]', "main.tf", 3
    )


def test_one_of_very_many_secrets_is_masked() -> None:
    redaction = Redaction([f"secret value number {number}" for number in range(2_000)])
    assert redaction.text("secret value number 1234, secret value") == f"{MASK}, secret value"


@pytest.mark.parametrize(
    "value", [SECRET, [SECRET], {"deep": [{"x": f"a {SECRET} b"}]}, {SECRET: 1}, 123456789, {"n": Decimal("3.1415")}]
)
def test_a_value_holds_a_secret_at_any_depth(value: Json) -> None:
    assert Redaction([SECRET, 123456789, Decimal("3.1415")]).holds(value)


@pytest.mark.parametrize("value", [None, "open", ["open", {"a": 1234567890}], MASK])
def test_a_value_without_a_secret_holds_none(value: Json) -> None:
    assert not Redaction([SECRET, 123456789]).holds(value)


def test_a_plan_hides_what_a_secret_replaces_wherever_that_stands() -> None:
    plan = """
      ~ input  = "login old-one" -> "login new-one"
      ~ output = "login old-one" -> (known after apply)
        size   = "large"
    """
    shown = masked_plan(Redaction(["new-one"]), plan)
    assert "old-one" not in shown
    assert "new-one" not in shown
    assert 'size   = "large"' in shown
    assert "(known after apply)" in shown


def test_a_plan_shows_nothing_of_a_secret_that_is_a_json_text_and_is_shown_unfolded() -> None:
    secret = '{"region": "eu-central-1", "password": "hunter2-and-more", "list": [12345]}'
    plan = '  + input = jsonencode(\n        {\n          + password = "hunter2-and-more"\n          + n = 12345\n'
    shown = masked_plan(Redaction([secret]), plan)
    assert "hunter2" not in shown
    assert "12345" not in shown
    error = "no such host in eu-central-1"
    assert Redaction([secret]).text(error) == error, "elsewhere that would tear up every text"
