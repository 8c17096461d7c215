"""The demo: a stack applied, broken, looked at and repaired on this machine."""
