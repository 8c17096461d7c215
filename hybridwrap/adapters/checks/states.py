"""Where the states of a stack's modules lie."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from hybridwrap.adapters.engine.backend import object_key, settle_backend
from hybridwrap.adapters.engine.layout import Layout
from hybridwrap.adapters.s3_connection import S3Settings
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import Module, Stack
from hybridwrap.errors import InvalidManifest, PreflightRefused


class StatePlaces(Struct, frozen=True):
    buckets: Mapping[S3Settings, Mapping[str, str]] = {}  # module -> key of its state
    local: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # of other backends, or with settings that only the engine knows


def state_places(stack: Stack, home: Path) -> StatePlaces:
    """Sort the modules by where they keep their states; those that can't be set up are left out."""
    layout = Layout(stack.root.resolve(), home.resolve(), stack.environment)
    buckets: dict[S3Settings, dict[str, str]] = {}
    local: list[str] = []
    others: list[str] = []
    for module in stack.modules.values():
        try:
            backend = settle_backend(module, layout)
        except (InvalidManifest, PreflightRefused):  # the engines' part of a checkup says so
            continue
        if backend.type == "local":
            local.append(module.name)
        elif backend.type == "s3" and backend.settings and backend.settings.get("bucket"):
            keys = buckets.setdefault(_reached_by(backend.settings, module), {})
            keys[module.name] = object_key(backend.settings, module.workspace or "default")
        else:
            others.append(module.name)
    return StatePlaces(buckets, tuple(local), tuple(others))


def _reached_by(settings: Mapping[str, Json], module: Module) -> S3Settings:
    endpoints = settings.get("endpoints") or {}
    return S3Settings(
        bucket=str(settings["bucket"]),
        region=settings.get("region") or "",
        profile=settings.get("profile") or module.env.get("AWS_PROFILE", ""),
        endpoint=endpoints.get("s3") or settings.get("endpoint") or "",
        path_style=bool(settings.get("use_path_style") or settings.get("force_path_style")),
        kms_key_id=settings.get("kms_key_id") or "",
    )
