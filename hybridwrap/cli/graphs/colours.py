"""Colours of statuses on white: dark text on all of them has a contrast of 7 to 1 and more."""

from __future__ import annotations

from hybridwrap.domain.status import Status

TEXT = "#1f2328"
COLOURS = {  # fill, border
    Status.OK: ("#dafbe1", "#1a7f37"),
    Status.ERROR: ("#ffebe9", "#cf222e"),
    Status.UNKNOWN: ("#fbefff", "#8250df"),
    Status.RUNNING: ("#ddf4ff", "#0969da"),
    Status.PENDING: ("#fff8c5", "#9a6700"),
    Status.RETAINED: ("#eaeef2", "#57606a"),
    Status.DESTROYED: ("#ffffff", "#57606a"),
    Status.NONE: ("#ffffff", "#8c959f"),
}
DASHED = frozenset({Status.PENDING, Status.RETAINED, Status.DESTROYED, Status.NONE})  # nothing that is known to work
