"""Run a process and measure it alone, without its children."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_SAMPLE_SECONDS = 0.02  # the kernel keeps the peak: only growth after the last look is missed


class Failed(Exception):
    """A command that is measured did not succeed: there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Cost:
    """`cpu` (user and system, seconds) and `peak` (bytes) are of the process alone; None where there is no /proc.

    `below` is the CPU time of all processes that it started, and of theirs.
    """

    seconds: float
    cpu: float | None = None
    below: float | None = None
    peak: int | None = None


def measured(argv: Sequence[str], folder: Path, env: Mapping[str, str], log: Path) -> Cost:
    """Run a command that must succeed; raise Failed with the end of its output otherwise."""
    with log.open("wb") as output:
        start = time.monotonic()
        process = subprocess.Popen(
            list(argv), cwd=folder, env=dict(env), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        cpu, below, peak = _watch(process.pid) if Path("/proc/self/stat").exists() else (None, None, None)
        process.wait()
        seconds = time.monotonic() - start
    if process.returncode != 0:
        end = log.read_text(errors="replace")[-2000:]
        raise Failed(f"{' '.join(argv)} in {folder} ended with {process.returncode}:\n{end}")
    return Cost(seconds, cpu, below, peak)


def _watch(pid: int) -> tuple[float, float, int]:
    """Wait until a child has ended, and leave it to be reaped: its own CPU time can still be read then."""
    peak = 0
    handle = os.pidfd_open(pid)
    try:
        while not select.select([handle], [], [], _SAMPLE_SECONDS)[0]:
            peak = max(peak, _peak(pid))
    finally:
        os.close(handle)
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system, children_user, children_system = map(int, fields[11:15])  # 14 to 17 in proc(5)
    return (user + system) / _TICKS, (children_user + children_system) / _TICKS, peak


def _peak(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0  # it ended between the two looks
