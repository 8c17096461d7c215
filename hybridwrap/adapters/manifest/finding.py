"""Which manifest is meant where nobody names one."""

from __future__ import annotations

import re
from pathlib import Path

from hybridwrap.adapters.manifest.parts import includes, read_main
from hybridwrap.errors import HybridwrapError, UsageError

MANIFEST = "hybridwrap.yaml"
NONE_HERE = "hybridwrap new    writes one for the root modules here; one that lies elsewhere is named with -f FILE"
NAMES_A_STACK = re.compile(rb"^[\"']?stack[\"']?\s*:", re.MULTILINE)


def find_manifest(start: Path) -> Path:
    """Find the manifest in a folder or the nearest one above it. Raise UsageError when there is none.

    A file without a stack's name is taken for the one that includes it.
    """
    start = start.absolute()
    found = [file for folder in (start, *start.parents) if (file := folder / MANIFEST).is_file()]
    if not found:
        misnamed = (start / "hybridwrap.yml").is_file()
        hint = f"rename hybridwrap.yml to {MANIFEST}" if misnamed else NONE_HERE
        raise UsageError(f"no {MANIFEST} in {start} or a folder above it", hint=hint)
    nearest = found[0]
    return nearest if _names_a_stack(nearest) else whole_of(nearest) or nearest


def whole_of(file: Path) -> Path | None:
    """Find the manifest, in a folder above, that includes a file; None when there is none."""
    above = (folder / MANIFEST for folder in file.parents)
    return next((m for m in above if m != file and m.is_file() and _names_a_stack(m) and _includes(m, file)), None)


def _names_a_stack(file: Path) -> bool:
    try:
        return NAMES_A_STACK.search(file.read_bytes()) is not None or "stack" in read_main(file).node.fields
    except (OSError, HybridwrapError):  # whoever reads it for good says what is wrong
        return True


def _includes(file: Path, other: Path) -> bool:
    try:
        return other in includes(read_main(file))
    except HybridwrapError:
        return False
