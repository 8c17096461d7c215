"""Start the provider: as an engine's plugin, or with `--reattach SOCKET` as a server for many engines."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.support.fakecloud.provider import FakeCloudProvider
from tests.support.fakecloud.serve import serve_plugin, serve_reattached


def main() -> None:
    database = os.environ.get("FAKECLOUD_DB")
    provider = FakeCloudProvider(Path(database) if database else None)
    match sys.argv[1:]:
        case ["--reattach", socket]:
            serve_reattached(provider, Path(socket))
        case _:
            serve_plugin(provider)


main()
