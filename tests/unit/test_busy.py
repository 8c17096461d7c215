"""What is said about a module that somebody holds: only options that the command at hand has."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.cli.main import main
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.run.busy import busy, once_free
from hybridwrap.run.context import Context, Patience
from tests.support.imaginary import Machine, World, begin_command
from tests.support.ledgers import begin, ledger_on

IMPATIENT = Patience(for_engine=False, offered=True)


def hint(patience: Patience, found: Liveness) -> str:
    ledger = ledger_on()
    held = ledger.begin(ledger.record("vm"), begin(), operation="01OPERATION")
    context: Context = begin_command(MemoryStore(), World(), Machine(), "10", step=lambda: None)
    context = replace(context, options=replace(context.options, patience=patience))
    return busy(context, held, found).hint


@pytest.mark.parametrize(
    ("patience", "found", "said"),
    [
        (Patience(offered=True), Liveness.RUNNER, "the same command with --wait"),
        (Patience(), Liveness.RUNNER, "once it is free: the same command again"),
        (IMPATIENT, Liveness.ENGINE, "the same command without --no-wait"),
        (Patience(), Liveness.ENGINE, "once it is free: the same command again"),
        (Patience(), Liveness.DEAD, "hybridwrap sync"),
        (
            Patience(offered=True),
            Liveness.NOT_VISIBLE,
            "the same command with --wait; hybridwrap unlock vm    shows who holds it",
        ),
    ],
)
def test_it_names_what_can_be_typed(patience: Patience, found: Liveness, said: str) -> None:
    assert hint(patience, found) == said


@pytest.mark.parametrize("name", ["adopt", "apply", "destroy", "drift", "mv", "resume", "retain", "tf", "verify"])
def test_commands_that_wait_for_their_turn_can_be_told_to(name: str) -> None:
    command = main.get_command(main.make_context("hybridwrap", [name]), name)
    assert command
    assert "wait_seconds" in {parameter.name for parameter in command.params}


def test_nobody_is_told_of_an_option_that_is_not_there() -> None:
    assert "--wait" not in once_free(Patience())
