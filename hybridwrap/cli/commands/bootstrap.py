"""`hybridwrap bootstrap`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

import click

from hybridwrap.adapters.bootstrap.bucket import Bucket, Difference
from hybridwrap.adapters.bootstrap.settings import UNSUPPORTED
from hybridwrap.adapters.home import home_of
from hybridwrap.cli.buckets import buckets_of
from hybridwrap.cli.compose import look_at
from hybridwrap.cli.lines import faint, table
from hybridwrap.cli.options import Place, stack_options
from hybridwrap.errors import Stopped, UsageError

Row = tuple[str, str, str]


@click.command("bootstrap")
@stack_options
@click.option("--yes", is_flag=True, help="Change an existing bucket without asking.")
@click.option(
    "--old-versions",
    "old_versions_days",
    type=click.IntRange(min=1),
    metavar="DAYS",
    help="Remove versions that were replaced so many days ago; else all are kept.",
)
def command(place: Place, yes: bool, old_versions_days: int | None) -> int:
    """Make the bucket for states and ledger, or compare it with how it should be.

    Old versions kept, encrypted (by the manifest's kms_key_id where it names one), no public access, TLS only. What an
    existing bucket lacks is shown, and changed only when you say so.
    """
    stack = look_at(place)
    for bucket in buckets_of(stack, home_of(stack.root, os.environ), old_versions_days).values():
        if not bucket.exists() and bucket.make():
            click.echo(f"{bucket.place}: made")
            _show(_changed(bucket, bucket.differences()))
        else:
            _compare(bucket, yes=yes)
    click.echo("next: hybridwrap doctor")
    return 0


def _compare(bucket: Bucket, *, yes: bool) -> None:
    found = bucket.differences()
    missing = [difference for difference in found if difference.can_be_made]
    click.echo(f"{bucket.place}: {'there, and not as it should be' if missing else 'as it should be'}")
    _show((d.setting.name, d.now, f"should be: {d.setting.wanted}" if d.can_be_made else "") for d in found)
    if missing and not yes:
        _ask(bucket, ", ".join(difference.setting.name for difference in missing))
    _show(_changed(bucket, missing))


def _ask(bucket: Bucket, names: str) -> None:
    """Raise Stopped for a no, UsageError where nobody can be asked; nothing was changed then."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            f"nothing was changed: nobody can be asked here about {names}", hint="hybridwrap bootstrap --yes"
        )
    if not click.confirm(f"\nChange {names} of {bucket.place}?"):
        raise Stopped("nothing was changed", hint="hybridwrap doctor    says what that means")


def _changed(bucket: Bucket, wanted: Iterable[Difference]) -> Iterator[Row]:
    for difference in wanted:
        now = bucket.change(difference) if difference.can_be_made else difference.now
        good = difference.setting.is_met_by(now) or now == UNSUPPORTED
        yield difference.setting.name, now, "" if good else "still not as it should be"


def _show(rows: Iterable[Row]) -> None:
    for line in table([(f"  {name}", now, faint(remark) if remark else "") for name, now, remark in rows]):
        click.echo(line)
