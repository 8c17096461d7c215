"""What an engine command, typed by a person, may do to a module."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from hybridwrap.errors import UsageError

OURS = {
    "apply": "hybridwrap apply {module}",
    "destroy": "hybridwrap destroy {module}",
    "init": "hybridwrap init {module}",
}
READ = frozenset(
    [
        "console", "fmt", "get", "graph", "metadata", "modules", "output", "plan", "providers", "query", "show",
        "state list", "state pull", "state show", "test", "validate", "version", "workspace list", "workspace show",
    ]
)  # fmt: skip
WITH_SUBCOMMANDS = frozenset({"state", "workspace"})
TAKE_VARIABLES = frozenset({"console", "import", "plan", "refresh", "test"})


class Effect(Enum):
    READS = "reads"
    CHANGES = "changes"


def name_of(words: Sequence[str]) -> str:
    """The command without its options: `plan`, `state mv`."""
    names = [word for word in words if not word.startswith("-")]
    return " ".join(names[: 2 if names and names[0] in WITH_SUBCOMMANDS else 1])


def effect_of(words: Sequence[str], module: str) -> Effect:
    """Tell reading commands from all others. Raise UsageError for what has a command of its own here."""
    name = name_of(words)
    if not name:
        raise UsageError("no engine command is given", hint=f"hybridwrap tf {module} -- state list")
    if name in OURS:
        raise UsageError(f"`{name}` is not run past the ledger", hint=OURS[name].format(module=module))
    writes_plan = name == "plan" and any(word.lstrip("-").startswith("out") for word in words[1:])
    if writes_plan:
        raise UsageError(
            "a plan that is saved past the ledger can't be applied", hint=OURS["apply"].format(module=module)
        )
    return Effect.READS if name in READ else Effect.CHANGES
