"""Keep plans within what the manifest's guard lets them destroy, unless somebody says otherwise."""

from __future__ import annotations

from hybridwrap.domain.limits import destroyed_by, over_limit
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.errors import ApprovalOutdated
from hybridwrap.run.context import Context
from hybridwrap.run.preparation import Prepared


def beyond_guard(context: Context, prepared: Prepared) -> str:
    """Say in what a plan goes beyond its module's guard, "" when it does not."""
    return over_limit(prepared.module.guard, prepared.actions, context.options.yes_destroy)


def within_guard(context: Context, planned: Prepared | ModuleEnd) -> Prepared | ModuleEnd:
    """Pass on a plan that nobody is asked about. Raise ApprovalOutdated when only a person can let it through."""
    if isinstance(planned, ModuleEnd) or not (beyond := beyond_guard(context, planned)):
        return planned
    planned.folder.remove()
    name, command = planned.module.name, context.options.command
    count, saved = len(destroyed_by(planned.actions)), context.options.saved
    by_word = f"--run {saved}" if saved else f"{name} --auto-approve"
    by_number = f"    or hybridwrap {command} {by_word} --yes-destroy {count}"
    raise ApprovalOutdated(
        f"{name} {beyond}; nothing was changed",
        hint=f"at a terminal: hybridwrap {command} {name}" + ("" if "protected_types" in beyond else by_number),
    )
