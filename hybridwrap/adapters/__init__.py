"""Implementations of the ports of the domain: engine, stores, files, templates."""
