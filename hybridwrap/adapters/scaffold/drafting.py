"""From a folder to the draft of its manifest."""

from __future__ import annotations

from pathlib import Path

from hybridwrap.adapters.scaffold.draft import Draft
from hybridwrap.adapters.scaffold.edges import with_reads
from hybridwrap.adapters.scaffold.evidence import Patterns, evidence_of
from hybridwrap.adapters.scaffold.finding import find_root_modules, may_be_library
from hybridwrap.adapters.scaffold.naming import module_names, usable
from hybridwrap.adapters.scaffold.reading import RootModule, read_root_module
from hybridwrap.adapters.source import config_files
from hybridwrap.errors import UsageError

USUAL = Patterns()


def draft_stack(root: Path, stack: str, patterns: Patterns = USUAL) -> Draft:
    """Find and read the root modules of a folder. Raise UsageError when there is none, or for a name that is none."""
    if stack and stack != usable(stack, ""):
        raise UsageError(f"{stack!r} can't be the name of a stack; {usable(stack, 'stack')!r} could")
    found = find_root_modules(root, tofu=True)
    tofu = any(".tofu" in file.name for path in found.roots for file in config_files(path, tofu=True))
    names = module_names(found.roots, root)
    modules = {names[path]: read_root_module(path, root, tofu=tofu) for path in found.roots}
    doubtful = frozenset(name for name, module in modules.items() if _is_doubtful(module, root))
    draft = Draft(
        stack=stack or usable(root.name, "stack"),
        root=root,
        modules=modules,
        doubtful=doubtful if len(doubtful) < len(modules) else frozenset(),
        left_out=found.left_out,
        terragrunt=found.terragrunt,
        tofu=tofu,
        evidence={name: evidence_of(module, root, patterns) for name, module in modules.items()},
    )
    return with_reads(draft)


def _is_doubtful(module: RootModule, root: Path) -> bool:
    plain = module.interface.backend is None and not module.interface.cloud and not module.problem
    return plain and not module.providers and not module.has_local_state and may_be_library(module.path, root)
