"""The demo: a stack applied, broken, looked at, repaired and torn down on this machine."""
