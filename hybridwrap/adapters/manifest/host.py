"""Where this host's part of the inputs comes from: environment, files, the user's variable files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hybridwrap.adapters.manifest.var_files import given_values
from hybridwrap.adapters.templates import render
from hybridwrap.domain.inputs import Host


def host_for(root: Path, environ: Mapping[str, str]) -> Host:
    """Give `resolve_inputs` what it needs from this host; `root` is the manifest's folder."""
    return Host(
        render=render,
        environ=environ,
        read_text=lambda path: path.read_bytes().decode(),  # line ends stay as they are
        given=lambda module: given_values(module, root),
    )
