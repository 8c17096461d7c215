"""From a folder to the draft of its manifest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hybridwrap.adapters.scaffold.conventions import matching
from hybridwrap.adapters.scaffold.draft import Draft
from hybridwrap.adapters.scaffold.edges import with_reads
from hybridwrap.adapters.scaffold.evidence import Patterns, evidence_of
from hybridwrap.adapters.scaffold.finding import FROM_TERRAGRUNT, find_root_modules, may_be_library
from hybridwrap.adapters.scaffold.naming import module_names, usable
from hybridwrap.adapters.scaffold.reading import RootModule, read_root_module
from hybridwrap.adapters.source import config_files
from hybridwrap.errors import UsageError

USUAL = Patterns()


def draft_stack(root: Path, stack: str, patterns: Patterns = USUAL) -> Draft:
    """Find and read the root modules of a folder.

    Raise UsageError when there is none, for a name that can't be one, and for a pattern that fits no file.
    """
    if stack and stack != usable(stack, ""):
        raise UsageError(f"{stack!r} can't be the name of a stack; {usable(stack, 'stack')!r} could")
    found = find_root_modules(root, tofu=True)
    tofu = any(".tofu" in file.name for path in found.roots for file in config_files(path, tofu=True))
    names = module_names(found.roots, root)
    modules = {names[path]: read_root_module(path, root, tofu=tofu) for path in found.roots}
    _refuse_unmatched(patterns, modules.values(), root)
    doubtful = frozenset(name for name, module in modules.items() if _is_doubtful(module, root))
    if found.terragrunt and len(doubtful) == len(modules):
        raise UsageError(
            f"units of Terragrunt, and modules that they may use, are all that is in {root}", hint=FROM_TERRAGRUNT
        )
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


def _refuse_unmatched(patterns: Patterns, modules: Iterable[RootModule], root: Path) -> None:
    """Raise UsageError for a pattern that no module has a file for: it may be a typing mistake."""
    folders = [module.path for module in modules]
    said = [("--var-file", each) for each in patterns.var_files]
    said += [("--backend-config", each) for each in patterns.backend_config]
    for option, pattern in said:
        if not any(matching(pattern, folder, root) for folder in folders):
            raise UsageError(
                f"no file matches {option} {pattern}, seen from any module or from {root}",
                hint="hybridwrap new --help    {environment} and {module} are filled in",
            )


def _is_doubtful(module: RootModule, root: Path) -> bool:
    plain = module.interface.backend is None and not module.interface.cloud and not module.problem
    return plain and not module.providers and not module.has_local_state and may_be_library(module.path, root)
