"""A warning before a run whose keys end before it does."""

from __future__ import annotations

from hybridwrap.domain.expiry import end_of_keys, too_soon, uses_them
from hybridwrap.domain.pace import for_each, seconds_left, usual_seconds
from hybridwrap.domain.run import RunStart
from hybridwrap.run.context import Context

RUNS_LOOKED_AT = 20
WAY_OUT = "fetch new ones first; a profile or a command of `credentials` gets them by itself"


def warn_of_ending_keys(context: Context, start: RunStart) -> None:
    """Say so where keys from the environment are used and are known to end too soon; else nothing."""
    tools = context.tools
    end = end_of_keys(tools.host.environ)
    if end is None or not any(map(uses_them, (tools.stack.modules[name] for name in start.modules))):
        return
    if told := too_soon(end, tools.clock.now(), _usual_seconds(context, start)):
        context.watch.note(f"warning: {told}: {WAY_OUT}")


def _usual_seconds(context: Context, start: RunStart) -> float:
    """How long it takes at least, as earlier runs have it; 0 when there was none."""
    usual = usual_seconds(context.tools.ledger.runs(RUNS_LOOKED_AT), start.command)
    if not usual:
        return 0.0
    needs = {name: tuple(need for need in needed if need in start.edges) for name, needed in start.edges.items()}
    return seconds_left(needs, for_each(needs, usual), context.options.parallelism)
