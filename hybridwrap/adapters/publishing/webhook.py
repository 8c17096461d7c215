"""Messages to a chat that takes Slack's incoming webhooks: Slack, Mattermost, Rocket.Chat."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hybridwrap.adapters.publishing.http import Call, NotPublished, TryAgain, persistently, send
from hybridwrap.domain.ports import Clock

VARIABLE = "SLACK_WEBHOOK_URL"
LIMIT = 4_000  # characters; Slack advises no more for `text`


def post_message(environ: Mapping[str, str], text: str, clock: Clock) -> str:
    """Send a text as it is; the address is a secret, and said nowhere. Raise NotPublished."""
    if not (address := environ.get(VARIABLE, "")):
        raise NotPublished(f"{VARIABLE} is not set")
    call = Call("POST", address, {}, {"text": inert(text[:LIMIT])})
    persistently(clock, lambda: _post(call, clock))
    return "message sent"


def _post(call: Call, clock: Clock) -> None:
    """A message without an answer may have come: it is not sent twice."""
    try:
        send(call, clock.now().timestamp())
    except TryAgain as error:
        if error.status:
            raise
        raise NotPublished(str(error)) from None


def inert(text: str) -> str:
    """Escaped as api.slack.com/reference/surfaces/formatting has it, and nobody is mentioned (Mattermost: @all)."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"@(?=\w)", "@\u2060", escaped)
