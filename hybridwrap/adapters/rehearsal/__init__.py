"""A copy of a stack for failure drills: stand-ins instead of its modules, written into a folder of its own."""
