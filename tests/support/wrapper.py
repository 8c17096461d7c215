"""A hybridwrap reduced to its engine: applies the gated module of a workshop, and says when that is under way.

`python -m tests.support.wrapper ROOT PROGRAM` prints the operation's locks as one line of JSON.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from msgspec import to_builtins

from hybridwrap.domain.engine_run import Hook
from hybridwrap.domain.ports import EngineEvent
from tests.support.workshop import GATED, Operation, Workshop


def main(root: Path, program: str) -> None:
    signal.signal(signal.SIGINT, lambda *_: None)
    workshop = Workshop(root, program)
    operation = Operation(workshop, workshop.module("slow", GATED))
    operation.plan()
    locks = operation.folder.lock()

    def tell(event: EngineEvent) -> None:
        if isinstance(event, Hook) and event.provisioner and event.phase == "start":
            print(json.dumps(to_builtins(locks)), flush=True)  # noqa: T201 - this is a program

    sys.exit(operation.engine.apply(operation.folder, tell).ended.exit_code)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
