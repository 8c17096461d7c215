"""Command lines of the engine, by python-terraform's rules for options."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from python_terraform import Terraform

Option = str | int | None | Sequence[str] | Mapping[str, str]


def command_line(program: Sequence[str], command: str, *words: str, **options: Option) -> tuple[str, ...]:
    """Build the argv of a command such as `state pull`.

    An option that is True becomes a flag, None and False leave it out, a sequence repeats it, a mapping (of backend
    settings only) becomes one `-name=key=value` each; `_` in its name becomes `-`.
    """
    from python_terraform import IsFlagged

    given = {name: _as_given(value, IsFlagged) for name, value in options.items() if value is not False}
    return (*program, *_rules().generate_cmd_string(command, *words, **given)[1:])


@cache
def _rules() -> Terraform:
    """One for all: only variables that are given as a mapping, which never happens here, would leave a trace in it."""
    from python_terraform import Terraform

    # The constructor reads any state file that it finds in its folder: it gets a folder that can have none. Its rules
    # turn a boolean in a mapping into a word that no engine knows, and a mapping of variables into a file in the shared
    # temporary folder: neither is given to it.
    return Terraform(working_dir=os.devnull)


def _as_given(value: Option, flag: object) -> object:
    if value is True:
        return flag
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return value
