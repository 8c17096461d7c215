"""Use cases: carry out what a command asks for, through the ports of the domain."""
