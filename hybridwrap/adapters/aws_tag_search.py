"""Searches AWS for objects with a module's tags, by the Resource Groups Tagging API.

Some services list an object for a while after it is gone; it then counts as present until they stop to.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from hybridwrap.domain.absence import Answer, Probe

MOST_SURVIVORS = 100
ATTEMPTS = 4


def search_by_tags(tags: Mapping[str, str], *, region: str, env: Mapping[str, str], seconds: float) -> Probe:
    """Look for anything that has all the tags; `env` is the environment of the module's engine."""
    from botocore.exceptions import BotoCoreError, ClientError

    told = ", ".join(f"{name}={value}" for name, value in sorted(tags.items()))
    by = f"AWS tags {told}" + (f" in {region}" if region else "")
    try:
        found = _found(_client(region, env, seconds), tags)
    except (BotoCoreError, ClientError, ValueError) as error:
        return Probe(by, Answer.UNVERIFIABLE, detail=str(error), search=True)
    return Probe(by, Answer.PRESENT if found else Answer.ABSENT, found, search=True)


def _found(client: Any, tags: Mapping[str, str]) -> tuple[str, ...]:
    filters = [{"Key": name, "Values": [value]} for name, value in sorted(tags.items())]
    pages = client.get_paginator("get_resources").paginate(TagFilters=filters)
    arns = (item["ResourceARN"] for page in pages for item in page["ResourceTagMappingList"])
    return tuple(islice(arns, MOST_SURVIVORS))


def _client(region: str, env: Mapping[str, str], seconds: float) -> Any:
    import boto3
    from botocore.config import Config

    keys = env.get("AWS_ACCESS_KEY_ID")
    session = boto3.Session(
        aws_access_key_id=keys,
        aws_secret_access_key=env.get("AWS_SECRET_ACCESS_KEY") if keys else None,
        aws_session_token=env.get("AWS_SESSION_TOKEN") if keys else None,
        profile_name=None if keys else env.get("AWS_PROFILE"),
        region_name=region or env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION"),
    )
    config = Config(
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS}, connect_timeout=seconds, read_timeout=seconds
    )
    endpoint = env.get("AWS_ENDPOINT_URL_RESOURCE_GROUPS_TAGGING_API") or env.get("AWS_ENDPOINT_URL")
    return session.client("resourcegroupstaggingapi", endpoint_url=endpoint, config=config)
