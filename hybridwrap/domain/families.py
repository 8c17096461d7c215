"""Names of modules of which there is one for each of several values: FAMILY.KEY; no other module's name has a dot."""

from __future__ import annotations

from collections.abc import Container, Iterable


def instances(family: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that are instances of a family, in their order."""
    return tuple(name for name in names if name.startswith(f"{family}."))


def several(family: str, found: Iterable[str]) -> str:
    """Say that one of the instances has to be named."""
    return f"{family} is a module for each of several values: name one of {', '.join(found)}"


def family_of(name: str) -> str:
    """The family of an instance, "" for any other module."""
    return name.partition(".")[0] if "." in name else ""


def module_in(waits_for: str, known: Container[str]) -> str:
    """The module in what something waits for: a module, or an output of one."""
    return waits_for if waits_for in known else waits_for.rpartition(".")[0] or waits_for


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """End a message about a module that is not there: `; did you mean x?`, or nothing."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
