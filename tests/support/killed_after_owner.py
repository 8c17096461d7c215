"""`python -m tests.support.killed_after_owner`: destroy the module `vm`, killed as soon as its end is in the ledger."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from msgspec.structs import replace

from hybridwrap.cli.compose import equip, load
from hybridwrap.cli.options import Place
from hybridwrap.cli.running import at_work, job_in, watcher
from hybridwrap.cli.variables import Variables
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.run.context import Options
from hybridwrap.run.destroy import destroy
from hybridwrap.run.left_alone import Wishes
from hybridwrap.run.selection import Selection


class Killing:
    """The operations' folders; the first one to be closed is the last thing that is done."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        if name == "close_business":
            os.kill(os.getpid(), signal.SIGKILL)
        found = getattr(self._target, name)
        return (lambda *args: Killing(found(*args))) if name == "make" else found


def main() -> int:
    workshop = equip(load(Place(None, None)))
    tools = replace(workshop.tools, folders=Killing(workshop.tools.folders))
    job = job_in(replace(workshop, tools=tools), Selection(("vm",)), Variables(), 1)
    with at_work(job, Options(PlanOptions(destroy=True)), watcher(job)) as context:
        return destroy(context, job.modules, None, Wishes(frozenset({"vm"}))).exit_code


if __name__ == "__main__":
    sys.exit(main())
