"""As whom a module's engine acts: credentials made anew before they are needed, and the account compared.

Keeps: nothing is planned, begun or recorded with credentials of another account than the manifest's.
"""

from __future__ import annotations

from hybridwrap.domain.ports import ModuleEngine
from hybridwrap.domain.stack import Module
from hybridwrap.errors import CredentialsRefused
from hybridwrap.run.context import Context


def take_identity(context: Context, module: Module, engine: ModuleEngine) -> None:
    """Have fresh credentials made and see that they are of the right account. Raise CredentialsRefused."""
    context.knowledge.learn_credentials(engine.renew().values())
    if module.account and (caller := engine.caller()).account != module.account:
        raise CredentialsRefused(
            f"{module.name}: its engine would act in {caller}; the manifest says {module.account}",
            hint="hybridwrap doctor    shows who is who",
        )


def keep_identity(context: Context, module: Module, engine: ModuleEngine) -> None:
    """Have fresh credentials made to see what became of an operation; the old ones serve where that fails."""
    try:
        context.knowledge.learn_credentials(engine.renew().values())
    except CredentialsRefused as error:
        context.watch.warning(module.name, f"the state is read with the credentials from before: {error.message}")
