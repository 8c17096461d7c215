"""What a command of `credentials` may print, in any of three forms, and how it is laid over an environment.

One JSON object: names and values of environment variables (null takes one away), or keys in one of the two forms of
AWS: that of a `credential_process`, or that which `aws sts assume-role` prints. The values are secrets: no error quotes
one. (https://docs.aws.amazon.com/sdkref/latest/guide/setting-global-credential_process.html)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from hybridwrap.adapters.own_variables import OWN_VARIABLES, instead_of
from hybridwrap.domain.json import Json, loads

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEYS = {"AccessKeyId": "AWS_ACCESS_KEY_ID", "SecretAccessKey": "AWS_SECRET_ACCESS_KEY"}
# One set of keys replaces another as a whole: an engine that found parts of both would act as nobody, or somebody else.
GO_TOGETHER = (*KEYS.values(), "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE")
# No secrets: masking a region, or a profile that is called prod, would tear up every text and withhold every ARN.
OPEN = frozenset({"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_PROFILE"})

Printed = Mapping[str, str | None]  # None: this variable goes


def read_credentials(text: bytes, now: datetime) -> Printed:
    """Read what a command has printed. Raise ValueError."""
    try:
        found = loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found:
        raise ValueError("it did not print a JSON object with anything in it")
    keys = found.get("Credentials", found)
    if isinstance(keys, dict) and "AccessKeyId" in keys:
        return _aws_keys(keys, now)
    for name, value in found.items():
        if wrong := _wrong(name, value):
            raise ValueError(wrong)
    return found


def laid_over(env: Mapping[str, str], printed: Printed) -> dict[str, str]:
    """Lay what was printed over an environment."""
    gone = {name for name, value in printed.items() if value is None}
    if printed.get("AWS_ACCESS_KEY_ID"):
        gone.update(GO_TOGETHER)
    kept = {name: value for name, value in env.items() if name not in gone}
    return kept | {name: value for name, value in printed.items() if value is not None}


def secret_in(printed: Printed) -> dict[str, str]:
    """What of it must not be seen."""
    return {name: value for name, value in printed.items() if value is not None and name not in OPEN}


def _wrong(name: str, value: Json) -> str:
    if not NAME.fullmatch(name):
        return f"it printed {name!r}, which is no name of a variable"
    if OWN_VARIABLES.fullmatch(name):
        return f"it printed {name}, which cannot be set here{instead_of(name)}"
    if value is None or (isinstance(value, str) and "\0" not in value):
        return ""
    return f"it printed for {name} neither a text nor null"


def _aws_keys(keys: Mapping[str, Json], now: datetime) -> Printed:
    texts = {name: value for name, value in keys.items() if isinstance(value, str) and value}
    for name in KEYS:
        if name not in texts:
            raise ValueError(f"it printed keys of AWS without a {name}")
    if "Expiration" in texts and _moment(texts["Expiration"]) <= now:
        raise ValueError(f"the keys that it printed have expired at {texts['Expiration']}")
    token = {"AWS_SESSION_TOKEN": texts["SessionToken"]} if "SessionToken" in texts else {}
    return {variable: texts[name] for name, variable in KEYS.items()} | token


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("it printed an Expiration that is no time of RFC 3339")
    return moment
