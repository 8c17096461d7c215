"""What people see, without what differs from run to run."""

from __future__ import annotations

import re


def golden(text: str) -> str:
    """A text without what differs from run to run."""
    text = re.sub(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "OPERATION", text)
    text = re.sub(r"\d{4}-\d\d-\d\d [\d:]{8} UTC", "TIME", text)
    text = re.sub(r"\b(srv|net)-[0-9a-f]{8}\b", r"\1-1", text)
    text = re.sub(r"by \S+?@\S+?,", "by ana@laptop,", text)
    text = re.sub(r"/\S+/\.hybridwrap", ".hybridwrap", text)
    text = re.sub(r"s3://(reconcile|rescue)-\d+/", "s3://states/", text)
    text = re.sub(r"lock [0-9a-f-]{36} of \S+ since", "lock LOCK of ana@laptop since", text)
    return re.sub(r"serial \d+( -> \d+)?", lambda found: "serial N -> N" if found[1] else "serial N", text)
