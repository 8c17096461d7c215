"""Commands: options in, one call into `run`, a view out; the only layer that prints and exits."""
