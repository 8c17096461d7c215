"""Objects that a failed apply has made, and that the engine holds for not finished."""

from __future__ import annotations

from shlex import quote

from hybridwrap.domain.state import Found, instances_of


def half_made(module: str, found: Found) -> tuple[str, ...]:
    """Say which objects the next apply would destroy and make again, and how each is kept instead."""
    tainted = [i.address for i in instances_of(found) or () if i.tainted and not i.deposed]
    return tuple(
        f"{address} is tainted: the next apply makes it anew; to keep it: "
        f"hybridwrap tf {module} -- untaint {quote(address)}"
        for address in tainted
    )
