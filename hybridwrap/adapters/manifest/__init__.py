"""`hybridwrap.yaml` and the modules that it names: from text with line numbers to a Stack."""

from hybridwrap.adapters.manifest.finding import find_manifest
from hybridwrap.adapters.manifest.loading import environments_of, load_stack, read_stack

__all__ = ["environments_of", "find_manifest", "load_stack", "read_stack"]
