"""What the manifest said of a module, as far as tearing it down without the manifest needs it."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from hybridwrap.domain.stack import EngineWish, Interface, Module, Stack, StateSettings, Verify


class Declared(Struct, frozen=True):
    """Recorded with each intent; paths are relative to the manifest's folder.

    The module's `env` and `credentials` are left out, as they may hold secrets.
    """

    source: str
    needs: tuple[str, ...]
    owner: str
    state: StateSettings
    engine: EngineWish
    verify: Verify
    backend_config: tuple[str, ...] = ()
    var_files: tuple[str, ...] = ()
    workspace: str = ""


def declared_by(module: Module, root: Path) -> Declared:
    """Describe a module of the manifest in the folder `root`."""
    return Declared(
        source=os.path.relpath(module.source, root),
        needs=module.needs,
        owner=module.owner,
        state=module.state,
        backend_config=_below(root, module.backend_config),
        var_files=_below(root, module.var_files),
        workspace=module.workspace,
        engine=module.engine,
        verify=module.verify,
    )


def module_from(name: str, declared: Declared, stack: Stack) -> Module:
    """Build the module as it was declared, without inputs; who its engine is, the stack's defaults say.

    Its source was not looked at.
    """
    root = stack.root
    return Module(
        name=name,
        source=Path(os.path.normpath(root / declared.source)),
        interface=Interface(),
        depends_on=declared.needs,
        owner=declared.owner,
        var_files=tuple(root / file for file in declared.var_files),
        env=stack.env,
        credentials=stack.credentials.of(name),
        account=stack.account,
        state=declared.state,
        backend_config=tuple(root / file for file in declared.backend_config),
        workspace=declared.workspace,
        engine=declared.engine,
        verify=declared.verify,
    )


def _below(root: Path, files: tuple[Path, ...]) -> tuple[str, ...]:
    return tuple(os.path.relpath(file, root) for file in files)
