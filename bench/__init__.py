"""How fast and how frugal hybridwrap is beside the raw engine, measured side by side in one run."""
