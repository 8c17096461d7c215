"""The buckets that a manifest names, and what each of them should be like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from hybridwrap.adapters.bootstrap.bucket import Bucket
from hybridwrap.adapters.bootstrap.settings import Wishes
from hybridwrap.adapters.checks.states import state_places
from hybridwrap.adapters.s3_connection import S3Settings
from hybridwrap.cli.stores import s3_settings_of
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import PreflightRefused


def buckets_of(stack: Stack, home: Path, old_versions_days: int | None) -> Mapping[str, Bucket]:
    """By name, the buckets of a stack's ledger and states. Raise PreflightRefused when there are none."""
    named = [s3_settings_of(stack.ledger)] if stack.ledger.bucket else []
    found: dict[str, S3Settings] = {}
    for settings in (*named, *state_places(stack, home).buckets):
        first = found.setdefault(settings.bucket, settings)
        found[settings.bucket] = replace(first, kms_key_id=first.kms_key_id or settings.kms_key_id)
    if not found:
        raise PreflightRefused(
            f"{stack.file} names no bucket: states and ledger lie on this machine, or where only the engine can look",
            hint="state: {s3: {bucket: NAME, region: REGION}}    in the manifest, then: hybridwrap bootstrap",
        )
    return {name: Bucket(settings, _wishes(settings, old_versions_days)) for name, settings in found.items()}


def _wishes(settings: S3Settings, old_versions_days: int | None) -> Wishes:
    """Without TLS on the way there, a bucket that demands it would keep us out as well."""
    return Wishes(settings.kms_key_id, not settings.endpoint.startswith("http://"), old_versions_days)
