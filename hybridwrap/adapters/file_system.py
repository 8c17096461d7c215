"""What kind of file system a folder lies on, as far as a folder store must care."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

NETWORKED = re.compile(
    r"nfs\d?|cifs|smb\w*|afpfs|webdav|davfs2?|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|ocfs2|gfs2|fuse\.(?!fuse-overlayfs).*"
)
_ESCAPE = re.compile(r"\\([0-7]{3})")  # how /proc spells spaces and the like


def network_kind(folder: Path, mounts: str) -> str:
    """Name the network file system that a folder lies on, "" for a local one; `mounts` is what `read_mounts` gives."""
    place = folder.resolve()
    kinds = {Path(mount): kind for mount, _, kind in (line.rpartition("\t") for line in mounts.splitlines())}
    kind = next((kinds[parent] for parent in (place, *place.parents) if parent in kinds), "")
    return kind if NETWORKED.fullmatch(kind) else ""


def read_mounts() -> str:
    """All mounts, later ones last: `folder`, tab, kind; empty where the system does not tell."""
    if sys.platform == "darwin":
        return _from_mount(subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False).stdout)
    try:
        return _from_proc(Path("/proc/self/mountinfo").read_text())
    except OSError:
        return ""


def _from_proc(text: str) -> str:
    rows = []
    for line in text.splitlines():
        mount, _, file_system = line.partition(" - ")
        folder = _ESCAPE.sub(lambda found: chr(int(found[1], 8)), mount.split()[4])
        rows.append(f"{folder}\t{file_system.split()[0]}")
    return "\n".join(rows)


def _from_mount(text: str) -> str:
    """Lines such as `/dev/disk3s1 on /System/Volumes/Data (apfs, local, journaled)`."""
    found = (re.fullmatch(r".+? on (.+) \((\w+)[,)].*", line) for line in text.splitlines())
    return "\n".join(f"{row[1]}\t{row[2]}" for row in found if row)
