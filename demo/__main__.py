"""`python -m demo`: apply a stack of four modules, break one, look, repair, and tear it all down."""

from __future__ import annotations

import signal
import sys
import time

from rich.console import Console

from demo.s3_server import ServerFailed
from demo.stage import Stage, Unexpected, stage

INTERRUPTED = 130


def apply_all(on: Stage) -> None:
    on.say("1  Four modules: network -> vm -> configuration -> health. State and ledger go into a bucket.")
    on.hybridwrap("apply", "--auto-approve")
    on.hybridwrap("status")
    on.expect(network="ok", vm="ok", configuration="ok", health="ok")


def break_one(on: Stage) -> None:
    on.want_release("1.1")
    on.break_cloud("configuration", "refuse-create")
    on.say("2  The manifest now wants release 1.1, and the cloud refuses to write it into the machine.")
    on.hybridwrap("apply", "--auto-approve", exit_code=4)


def look(on: Stage) -> None:
    on.say("3  A command failed. The machine is still running. What failed and why, what never began, what is known:")
    on.list_cloud()
    on.hybridwrap("status")
    on.expect(network="ok", vm="ok", configuration="error", health="pending")
    on.hybridwrap("show")
    on.hybridwrap("output")
    on.expect_known("vm", "address")


def repair(on: Stage) -> None:
    on.repair_cloud()
    on.say("4  The cloud works again. The same command does what is left.")
    on.hybridwrap("apply", "--auto-approve")
    on.expect(network="ok", vm="ok", configuration="ok", health="ok")


def tear_down(on: Stage) -> None:
    on.break_cloud("vm", "lie-delete")
    on.say("5  Tear it down. The cloud says that the machine is deleted, the engine believes it, and it is not true.")
    on.hybridwrap("destroy", "--auto-approve", exit_code=4)
    on.list_cloud()
    on.expect(network="ok", vm="error", configuration="ok", health="destroyed")


def finish(on: Stage) -> None:
    on.repair_cloud()
    on.say("6  Somebody deletes the machine by hand. The same command looks again, and does what is left.")
    on.delete_by_hand("vm")
    on.hybridwrap("destroy", "--auto-approve")
    on.list_cloud()
    on.expect(network="destroyed", vm="destroyed", configuration="destroyed", health="destroyed")


def look_back(on: Stage) -> None:
    on.say("7  What was done, as the ledger has it.")
    on.hybridwrap("history")


def main() -> int:
    """Play the demo; exit 1 when a step did not do what it should."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console, begun = Console(), time.monotonic()
    try:
        with stage(console) as on:
            for act in (apply_all, break_one, look, repair, tear_down, finish, look_back):
                act(on)
    except KeyboardInterrupt:
        console.print("\nInterrupted; the server is stopped and the demo's folder is removed.", style="bold")
        return INTERRUPTED
    except (ServerFailed, Unexpected) as failure:
        console.print(f"\nThe demo failed: {failure}", style="bold red", markup=False, highlight=False, soft_wrap=True)
        return 1
    seconds = round(time.monotonic() - begun)
    console.print(f"\nDone in {seconds} s; the server is stopped and the demo's folder is removed.", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
