"""The environments of a manifest: what is not as everywhere else in each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridwrap.adapters.scaffold.conventions import Files
from hybridwrap.adapters.scaffold.draft import Draft
from hybridwrap.adapters.scaffold.module_text import covers, module_lines
from hybridwrap.adapters.scaffold.yaml_text import yaml


def environment_lines(draft: Draft) -> Iterator[str]:
    """Nothing where no file or workspace names an environment."""
    if not draft.environments:
        return
    yield "# Named by variable files, backend files and workspaces. Say which: -e NAME"
    yield "environments:"
    for name in draft.environments:
        lines = list(_overlay(draft, name))
        about = "    # modules with one state, whatever the environment" if name == draft.shared else ""
        yield f"  {yaml(name)}: {{}}" if not lines else f"  {yaml(name)}:{about}"
        if lines:
            yield "    modules:"
            yield from (f"      {line}" for line in lines)
    yield ""


def _overlay(draft: Draft, environment: str) -> Iterator[str]:
    for name in draft.everywhere():
        if environment not in draft.where(name):
            yield f"{yaml(name)}: {{enabled: false}}"
            continue
        evidence = draft.of(name)
        for field, files in (("backend_config", evidence.backend_files), ("var_files", evidence.var_files)):
            if files and not covers(files, evidence.environments):
                yield f"{yaml(name)}: {{{field}: [{', '.join(_paths(draft, files, environment))}]}}"
    if environment == draft.shared:
        for name in draft.certain:
            if not draft.of(name).environments:
                yield from module_lines(draft, name)


def _paths(draft: Draft, files: Sequence[Files], environment: str) -> Iterator[str]:
    for each in files:
        if path := each.found.get(environment) or each.found.get(""):
            yield yaml(draft.shown(path))
