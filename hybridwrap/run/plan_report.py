"""A plan as a report, for those who review it: nothing of it is in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from hybridwrap.domain.declared import declared_by
from hybridwrap.domain.engine_run import PlannedChange
from hybridwrap.domain.run import RunEnd, RunStart
from hybridwrap.run.context import Context
from hybridwrap.run.report import ModuleReport, Report
from hybridwrap.run.share import Share

Planned = Mapping[str, Sequence[PlannedChange]]


def report_of_plan(context: Context, began: str, end: RunEnd, planned: Planned) -> Report:
    """Tell a plan in the terms of a run; `planned` has the changes of each module that has any."""
    declared, root = context.tools.stack.modules, context.tools.stack.root
    return Report(
        stack=context.tools.stack.name,
        environment=context.tools.stack.environment,
        start=RunStart(
            run=context.run,
            command="plan",
            time=began,
            writer=context.tools.ledger.writer,
            argv=context.argv,
            modules=tuple(end.modules),
            edges={name: declared[name].needs for name in end.modules},
            saved=context.options.saved,
        ),
        modules=tuple(
            ModuleReport(
                module=name,
                needs=tuple(need for need in declared[name].needs if need in end.modules),
                end=module_end,
                share=Share(replace(context.knowledge.record(name), declared=declared_by(declared[name], root))),
                planned=tuple(planned.get(name, ())),
            )
            for name, module_end in end.modules.items()
        ),
        ended=end.time,
        exit_code=end.exit_code,
    )
