"""The words for where a module stands and how an operation ended."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where a module stands; PENDING is derived from the runs and never stored."""

    NONE = "none"
    PENDING = "pending"
    RUNNING = "running"
    OK = "ok"
    ERROR = "error"
    UNKNOWN = "unknown"
    RETAINED = "retained"
    DESTROYED = "destroyed"


class Outcome(StrEnum):
    """How an operation ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"
