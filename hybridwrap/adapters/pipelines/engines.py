"""How a job of a CI system gets hybridwrap and an engine."""

from __future__ import annotations

import re
from pathlib import PurePath

from msgspec import Struct

from hybridwrap import __version__
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import UsageError

EMBEDDED = frozenset({"auto", "embedded"})


class SetupAction(Struct, frozen=True):
    """A step that brings an engine; without its wrapper, which would hide exit codes and signals."""

    uses: str
    release: str
    settings: tuple[tuple[str, str], ...]


def install_line(stack: Stack) -> str:
    """What installs hybridwrap, of this very version, with the embedded engine where none is asked for by name."""
    extra = "[embedded]" if _programs(stack) & EMBEDDED or not stack.modules else ""
    return f"pip install --quiet --disable-pip-version-check 'hybridwrap{extra}=={__version__}'"


def setup_actions(stack: Stack) -> tuple[SetupAction, ...]:
    """Name GitHub's actions for the engines that modules ask for. Raise UsageError for one that has none."""
    return tuple(_action(program, _versions(stack, program)) for program in sorted(_programs(stack) - EMBEDDED))


def check_installable(stack: Stack, system: str) -> None:
    """Raise UsageError when modules ask for an engine that `pip` does not bring."""
    if others := sorted(_programs(stack) - EMBEDDED):
        raise UsageError(
            f"modules ask for {' and '.join(others)}, and a job has to get it from somewhere",
            hint=f"hybridwrap pipeline {system} --image IMAGE    with it in; or --install COMMAND",
        )


def _action(program: str, versions: frozenset[str]) -> SetupAction:
    name = PurePath(program).name
    if name not in ("terraform", "tofu") or len(versions) > 1:
        raise UsageError(
            f"no one action of GitHub brings {program} {' and '.join(sorted(versions))}".rstrip(),
            hint="hybridwrap pipeline github --install COMMAND    or --image IMAGE",
        )
    settings = ((f"{name}_version", _as_npm("".join(versions))), (f"{name}_wrapper", "false"))
    given = tuple((key, value) for key, value in settings if value)
    if name == "tofu":
        return SetupAction("opentofu/setup-opentofu@592200bd4b9bbf4772ace78f887668b1aee8f716", "v1.0.5", given)
    return SetupAction("hashicorp/setup-terraform@b9cd54a3c349d3f38e8881555d616ced269862dd", "v3.1.2", given)


def _as_npm(constraint: str) -> str:
    """A version constraint as both actions read it: `~> 1.11` is any 1.x from there on, `~> 1.11.0` any 1.11.x."""
    parts = [re.sub(r"^=?\s*(?=\d)", "", part.strip()) for part in constraint.split(",")]
    return " ".join(
        re.sub(r"^~>\s*", "~" if part.count(".") > 1 else "^", part).replace(" ", "") for part in parts if part
    )


def _programs(stack: Stack) -> frozenset[str]:
    return frozenset(module.engine.program for module in stack.modules.values())


def _versions(stack: Stack, program: str) -> frozenset[str]:
    return frozenset(module.engine.version for module in stack.modules.values() if module.engine.program == program)
