"""What a command of `credentials` may print, and what is said where it does not."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hybridwrap.adapters.clock import SystemClock
from hybridwrap.adapters.credentials_command import ask_for_credentials
from hybridwrap.adapters.engine.live_environment import LiveEnvironment
from hybridwrap.adapters.printed_credentials import Printed, laid_over, read_credentials, secret_in
from hybridwrap.domain.stack import Credentials, Module
from hybridwrap.errors import CredentialsRefused

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KEYS = {"AccessKeyId": "AKIA1", "SecretAccessKey": "hush-hush", "SessionToken": "long-token"}
VARIABLES = {"AWS_ACCESS_KEY_ID": "AKIA1", "AWS_SECRET_ACCESS_KEY": "hush-hush", "AWS_SESSION_TOKEN": "long-token"}


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ({"VAULT_TOKEN": "s.123", "AWS_PROFILE": None}, {"VAULT_TOKEN": "s.123", "AWS_PROFILE": None}),
        ({"Version": 1, **KEYS, "Expiration": "2026-11-30T12:15:00Z"}, VARIABLES),
        ({"Credentials": {**KEYS, "Expiration": "2026-11-30T13:15:00+01:00"}, "AssumedRoleUser": {}}, VARIABLES),
        (
            {"Version": 1, "AccessKeyId": "AKIA1", "SecretAccessKey": "hush-hush"},
            {name: value for name, value in VARIABLES.items() if name != "AWS_SESSION_TOKEN"},
        ),
    ],
)
def test_variables_and_both_forms_of_aws_are_read(printed: object, read: Printed) -> None:
    assert read_credentials(json.dumps(printed).encode(), NOW) == read


@pytest.mark.parametrize(
    ("printed", "complaint"),
    [
        (b"", "did not print a JSON object"),
        (b"hush-hush", "did not print a JSON object"),
        (b"[1]", "did not print a JSON object"),
        (b"{}", "did not print a JSON object with anything in it"),
        (b'{"A": 1, "B": "hush-hush"}', "printed for A neither a text nor null"),
        (b'{"A": "hush-hush\\u0000"}', "printed for A neither a text nor null"),
        (b'{"a b": "hush-hush"}', "'a b', which is no name of a variable"),
        (b'{"TF_VAR_password": "hush-hush"}', "TF_VAR_password, which cannot be set here; say it in `inputs`"),
        (b'{"TF_DATA_DIR": "hush-hush"}', "cannot be set here: hybridwrap sets it itself"),
        (b'{"Version": 1, "AccessKeyId": "hush-hush"}', "without a SecretAccessKey"),
        (json.dumps({**KEYS, "Expiration": "2026-11-30T12:00:00Z"}).encode(), "have expired at 2026-11-30T12:00:00Z"),
        (json.dumps({**KEYS, "Expiration": "soon"}).encode(), "an Expiration that is no time of RFC 3339"),
    ],
)
def test_anything_else_is_refused_and_never_quoted(printed: bytes, complaint: str) -> None:
    with pytest.raises(ValueError, match="print") as refused:
        read_credentials(printed, NOW)
    assert complaint in str(refused.value)
    assert "hush" not in str(refused.value)


def test_keys_replace_those_of_the_caller_as_a_whole() -> None:
    callers = {"AWS_PROFILE": "dev", "AWS_SESSION_TOKEN": "old", "AWS_REGION": "eu-central-1", "HOME": "/home/ana"}
    printed = {"AWS_ACCESS_KEY_ID": "AKIA2", "AWS_SECRET_ACCESS_KEY": "hush-hush"}
    assert laid_over(callers, printed) == {"AWS_REGION": "eu-central-1", "HOME": "/home/ana", **printed}
    assert laid_over(callers, {"AWS_PROFILE": None}).keys() == {"AWS_SESSION_TOKEN", "AWS_REGION", "HOME"}


def test_everything_is_a_secret_but_a_region_and_the_name_of_a_profile() -> None:
    assert secret_in({"A": "1", "AWS_REGION": "eu-central-1", "AWS_PROFILE": "prod", "B": None}) == {"A": "1"}


def ask(folder: Path, *argv: str, seconds: float = 60, env: Mapping[str, str] | None = None) -> Printed:
    return ask_for_credentials(
        Module("vm", folder / "vm", credentials=Credentials(argv, seconds)),
        env={**os.environ, **(env or {})},
        folder=folder,
        names={"stack": "shop", "environment": "prod"},
        clock=SystemClock(),
        stopped=lambda: False,
    )


def python(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


def test_a_command_knows_for_whom_it_is_asked_in_the_environment_of_the_engine(tmp_path: Path) -> None:
    told = """
import json, os
names = ("HYBRIDWRAP_STACK", "HYBRIDWRAP_ENVIRONMENT", "HYBRIDWRAP_MODULE", "ROLE")
print(json.dumps({"SEEN": " ".join([os.getcwd(), *map(os.environ.get, names)])}))
"""
    assert ask(tmp_path, *python(told), env={"ROLE": "admin"}) == {"SEEN": f"{tmp_path.resolve()} shop prod vm admin"}


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("./no-such-command",), "could not be started: No such file or directory"),
        (python("import sys; print('hush-hush'); sys.exit('sso session is over')"), "exit code 1: sso session is over"),
        (python("print('hush-hush')"), "it did not print a JSON object"),
        (python("import os; os.kill(os.getpid(), 9)"), "was killed by SIGKILL"),
        (python("import time; time.sleep(600)"), "did not end within 0.3s"),
    ],
)
def test_a_command_that_fails_is_told_with_its_reason_and_without_what_it_printed(
    tmp_path: Path, argv: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CredentialsRefused) as refused:
        ask(tmp_path, *argv, seconds=0.3 if "time" in argv[-1] else 60)
    assert refused.value.message.startswith("vm: no credentials from `")
    assert refused.value.message.endswith(why) or f": {why}" in refused.value.message
    assert "hush-hush" not in refused.value.message.rpartition("`")[2]
    assert refused.value.exit_code == 10


def test_an_environment_asks_when_it_is_first_read_and_when_it_is_renewed() -> None:
    asked: list[dict[str, str | None]] = []

    def answer() -> Printed:
        asked.append({"TOKEN": f"number-{len(asked) + 1}"})
        return asked[-1]

    env = LiveEnvironment({"HOME": "/home/ana"}, answer)
    assert (env.given, asked) == ({"HOME": "/home/ana"}, [])
    assert dict(env) == {"HOME": "/home/ana", "TOKEN": "number-1"}
    assert env.renew() == {"TOKEN": "number-2"}
    assert env["TOKEN"] == "number-2"
    assert len(asked) == 2


def test_an_answer_that_fails_leaves_the_one_before() -> None:
    answers = iter([{"TOKEN": "good"}])

    def answer() -> Printed:
        try:
            return next(answers)
        except StopIteration:
            raise CredentialsRefused("sso session is over") from None

    env = LiveEnvironment({}, answer)
    env.renew()
    with pytest.raises(CredentialsRefused):
        env.renew()
    assert env["TOKEN"] == "good"
