"""Pipelines of CI systems, written from a stack's graph."""
