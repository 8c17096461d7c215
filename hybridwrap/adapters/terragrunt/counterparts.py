"""What Terragrunt does for a unit and hybridwrap does not, each with what to do instead."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hybridwrap.adapters.terragrunt.units import Unit
from hybridwrap.domain.json import Json

_ROLE = "name a profile with that role in `env: {AWS_PROFILE: …}`, or fetch a token with `credentials: {command: […]}`"


class Loss(Struct, frozen=True):
    what: str
    advice: str


def losses(unit: Unit, *, remote: bool) -> Iterator[Loss]:
    """Name what a unit has that no manifest says; nothing can be added to a `remote` source."""
    yield from _generated(unit, remote=remote)
    if unit.text("iam_role"):
        yield Loss(f"iam_role {unit.text('iam_role')}", _ROLE)
    if unit.block("engine"):
        yield Loss(f"engine {unit.block('engine').get('source', '')}", "name a program in `engine: {program: …}`")
    if unit.block("errors", "ignore"):
        yield Loss(
            "errors.ignore", "nothing to do: a module that failed has failed; what follows waits, with the reason"
        )
    yield from _excluded(unit)
    yield from _arguments(unit)
    yield from _mocks(unit)
    if unit.block("terraform").get("include_in_copy"):
        yield Loss("include_in_copy", "nothing to do: modules run where they lie, and nothing is copied")


def _generated(unit: Unit, *, remote: bool) -> Iterator[Loss]:
    for name, block in sorted(unit.block("generate").items()):
        if isinstance(block, dict) and not block.get("disable"):
            path = block.get("path", name)
            where = "to a module of your own that calls the remote one" if remote else "beside the code of the module"
            advice = f"commit {path} {where}; its contents are in the rendered file"
            yield Loss(f'generate "{name}" ({path})', advice)


def _excluded(unit: Unit) -> Iterator[Loss]:
    exclude = unit.block("exclude")
    if exclude.get("if") and not is_left_out(unit):
        yield Loss(f"exclude for {_words(exclude.get('actions'))}", "leave it out of such runs with --exclude")


def is_left_out(unit: Unit) -> bool:
    """Whether Terragrunt passes a unit by, whatever is done."""
    exclude = unit.block("exclude")
    actions = exclude.get("actions")
    everything = isinstance(actions, list) and ("all" in actions or {"plan", "apply", "destroy"} <= set(actions))
    return unit.tree.get("skip") is True or (exclude.get("if") is True and everything)


def _arguments(unit: Unit) -> Iterator[Loss]:
    for name, block in sorted(unit.block("terraform", "extra_arguments").items()):
        given = block.get("arguments") if isinstance(block, dict) else None
        others = [str(word) for word in given or [] if not str(word).startswith("-var-file=")]
        if others:
            yield Loss(
                f'extra_arguments "{name}": {" ".join(others)}', "type them: plan and apply have options of that name"
            )


def _mocks(unit: Unit) -> Iterator[Loss]:
    for name, block in sorted(unit.block("dependency").items()):
        if isinstance(block, dict) and block.get("mock_outputs"):
            yield Loss(
                f'mock_outputs of "{name}"', "nothing to do: a plan that needs a value that is not there is deferred"
            )


def _words(actions: Json) -> str:
    return ", ".join(map(str, actions)) if isinstance(actions, list) else "some actions"
