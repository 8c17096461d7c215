"""Print as whom AWS knows this process: run as a program of its own, in the very environment that an engine gets.

Prints one JSON object, account and arn; else ends with 1 and the reason on stderr.
"""

from __future__ import annotations

import json
import sys
from typing import Any

ATTEMPTS = 3
SECONDS = 10  # for a connection, and for an answer
ANY_REGION = "us-east-1"  # where none is said: every account of the standard partition is known there


def main() -> int:
    import botocore.session
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    config = Config(
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS}, connect_timeout=SECONDS, read_timeout=SECONDS
    )
    try:
        session = botocore.session.Session()
        region = session.get_config_variable("region") or ANY_REGION
        client: Any = session.create_client("sts", region_name=region, config=config)
        found = client.get_caller_identity()
    except (BotoCoreError, ClientError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201  this is a program of its own
        return 1
    print(json.dumps({"account": found["Account"], "arn": found["Arn"]}))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
