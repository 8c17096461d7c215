"""A plan that only looks: it locks nothing, and is thrown away as soon as it is read."""

from __future__ import annotations

from hybridwrap.domain.command_failed import CommandFailed
from hybridwrap.domain.inputs import ResolvedInputs
from hybridwrap.domain.look import Look
from hybridwrap.domain.ports import EngineEvent, ModuleEngine, PlanOptions
from hybridwrap.domain.stack import Module
from hybridwrap.domain.state import Unreadable
from hybridwrap.domain.status import Status
from hybridwrap.errors import HybridwrapError
from hybridwrap.run.context import Context
from hybridwrap.run.masking import mask_of, masked_failure
from hybridwrap.run.preparation import Prepared

_PLANNED = frozenset({Status.OK, Status.ERROR, Status.UNKNOWN})  # what a plan can say something about


def plan_to_look(
    context: Context, look: Look, module: Module, engine: ModuleEngine, given: ResolvedInputs | str
) -> Prepared | str:
    """Plan a module, or say why not, "" where a plan would tell nothing; what is returned can't be applied."""
    comparison = look.comparison
    if comparison is None or not comparison.safe or _tells_nothing(look):
        return ""
    if isinstance(given, str):
        return given
    folder = context.tools.folders.make(context.tools.ids.new())
    try:
        engine.init(folder)
        planned = engine.plan(folder, given.values, PlanOptions(lock=False), _ignore)
        source = context.tools.sources.describe(module)
        return Prepared(
            module, engine, folder, look.record, given, planned, look.state, comparison, source, mask_of(context, given)
        )
    except CommandFailed as error:
        return masked_failure(mask_of(context, given), error).message
    except HybridwrapError as error:
        return error.message
    finally:
        folder.remove()


def _tells_nothing(look: Look) -> bool:
    """Whether the engine refuses to plan, or would plan something else than what was begun."""
    record = look.record
    blocked = look.kept is not None or isinstance(look.found, Unreadable)
    return blocked or record.status not in _PLANNED or record.command == "destroy"


def _ignore(_: EngineEvent) -> None:
    """A look is silent."""
