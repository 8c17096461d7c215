"""What a shell offers: modules and environments of the manifest; nothing where it can't be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hybridwrap.domain.families import family_of
from hybridwrap.errors import HybridwrapError

if TYPE_CHECKING:
    from hybridwrap.cli.options import Place


def offer_environments(context: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    from hybridwrap.cli.compose import environments

    try:
        return _beginning(begun, environments(_place(context)))
    except (HybridwrapError, OSError):
        return []


def offer_modules(context: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    from hybridwrap.cli.compose import look_at

    try:
        names = look_at(_place(context)).modules
        families = dict.fromkeys(family for name in names if (family := family_of(name)))
        return _beginning(begun, [*families, *names])
    except (HybridwrapError, OSError):
        return []


def _beginning(begun: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(begun)]


def _place(context: click.Context) -> Place:
    from hybridwrap.cli.options import Place

    file = context.params.get("manifest")
    return Place(Path(file) if file else None, context.params.get("environment"))
