"""Settings of Go's garbage collector for the engines: they do not collect as long as memory is free.

A plan is short and makes little garbage that is worth collecting. Both products and their providers are Go programs
and inherit the setting, and so do Go programs that a provisioner starts; the limit keeps all of them bounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_SWITCH = "HYBRIDWRAP_ENGINE_GC"
_SHARE = 2  # of what is free, one half is for the engines, and one for their providers and for everybody else
_LEAST = 256 << 20  # with less, collecting is the better use of time
_MOST = 2 << 30

_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def collector_settings(env: Mapping[str, str], *, free: int, parallelism: int) -> dict[str, str]:
    """GOGC and GOMEMLIMIT for each of so many engines; nothing when the user has set either or memory is short.

    `free` is in bytes.
    """
    if "GOGC" in env or "GOMEMLIMIT" in env or env.get(_SWITCH) == "off":
        return {}
    limit = min(free // _SHARE // max(parallelism, 1), _MOST)
    return {"GOGC": "off", "GOMEMLIMIT": str(limit)} if limit >= _LEAST else {}


def free_memory() -> int:
    """Bytes that processes can still take, 0 when that is not known here (no Linux)."""
    if not _MEMINFO.exists():
        return 0
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", _MEMINFO.read_text(encoding="ascii"), re.MULTILINE)
    host = int(found[1]) * 1024 if found else 0
    limit, used = _number(_GROUP / "memory.max"), _number(_GROUP / "memory.current")
    return host if limit is None else max(min(host, limit - (used or 0)), 0)


def _number(file: Path) -> int | None:
    """The number in a file of the control group; None when there is no such file or it says `max`."""
    try:
        text = file.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
