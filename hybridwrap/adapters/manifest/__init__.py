"""`hybridwrap.yaml` and the modules that it names: from text with line numbers to a Stack."""
