"""`hybridwrap bootstrap`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

import click
from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.adapters.bootstrap.bucket import Bucket, Difference
from hybridwrap.adapters.bootstrap.settings import UNSUPPORTED
from hybridwrap.adapters.bootstrap.tried import Tried
from hybridwrap.adapters.home import home_of
from hybridwrap.cli.buckets import buckets_of
from hybridwrap.cli.compose import look_at
from hybridwrap.cli.lines import faint, table
from hybridwrap.cli.options import Place, json_option, stack_options
from hybridwrap.domain.json import Json, canonical
from hybridwrap.errors import Stopped, UsageError

Row = tuple[str, str, str]


class Looked(Struct, frozen=True):
    """One bucket; `changed` are the settings that were set, as they are now, in `found`, too."""

    place: str
    made: bool
    found: tuple[Difference, ...]
    changed: frozenset[str] = frozenset()

    @property
    def missing(self) -> tuple[Difference, ...]:
        return tuple(difference for difference in self.found if difference.can_be_made)


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
@json_option
def command(place: Place, yes: bool, old_versions_days: int | None, as_json: bool) -> int:
    """Make the bucket for states and ledger, or compare it with how it should be.

    Old versions kept, encrypted (by the manifest's kms_key_id where it names one), no public access, TLS only. What an
    existing bucket lacks is shown, and changed only when you say so. What its server has taken and could not work with
    is not offered again on this host, unless with --yes.
    """
    stack = look_at(place)
    home = home_of(stack.root, os.environ)
    tried = Tried(home, stack.name)
    buckets = buckets_of(stack, home, old_versions_days).values()
    if as_json:
        return _for_programs(buckets, tried, yes=yes)
    for bucket in buckets:
        _for_people(bucket, tried, yes=yes)
    click.echo("next: hybridwrap doctor")
    return 0


def _for_people(bucket: Bucket, tried: Tried, *, yes: bool) -> None:
    if not bucket.exists() and bucket.make():
        click.echo(f"{bucket.place}: made")
        _show(_changed(bucket, bucket.differences(), tried))
        return
    found = _compared(bucket, tried, again=yes)
    click.echo(f"{bucket.place}: {'there, and not as it should be' if found.missing else 'as it should be'}")
    _show(found.found)
    if found.missing and not yes:
        _ask(bucket, ", ".join(_names(found.missing)))
    if found.missing:
        _show(_changed(bucket, found.missing, tried))


def _for_programs(buckets: Iterable[Bucket], tried: Tried, *, yes: bool) -> int:
    """Tell programs, who can't be asked. Raise UsageError after that when something was left as it is."""
    done = [_made_or_put_right(bucket, tried, yes=yes) for bucket in buckets]
    click.echo(canonical({"version": 1, "buckets": [_json(each) for each in done]}))
    if left := [name for each in done for name in _names(each.missing)]:
        raise _unasked(", ".join(dict.fromkeys(left)))
    return 0


def _made_or_put_right(bucket: Bucket, tried: Tried, *, yes: bool) -> Looked:
    made = not bucket.exists() and bucket.make()
    found = _compared(bucket, tried, again=yes or made)
    wanted = found.missing if yes or made else ()
    now = {each.setting.name: each for each in _changed(bucket, wanted, tried)}
    after = tuple(now.get(each.setting.name, each) for each in found.found)
    return Looked(bucket.place, made, after, frozenset(name for name, each in now.items() if each.is_met))


def _json(looked: Looked) -> Json:
    settings = [
        {
            "name": each.setting.name,
            "now": each.now,
            "wanted": each.setting.wanted,
            "as_it_should_be": each.is_met,
            "supported": each.now != UNSUPPORTED,
            "changed": each.setting.name in looked.changed,
        }
        for each in looked.found
    ]
    return {"place": looked.place, "made": looked.made, "settings": settings}


def _compared(bucket: Bucket, tried: Tried, *, again: bool) -> Looked:
    """Compare; what was tried in vain before is not offered, unless once more."""
    in_vain = frozenset[str]() if again else tried.in_vain(bucket.place)
    found = tuple(
        replace(each, now=UNSUPPORTED) if each.setting.name in in_vain and not each.is_met else each
        for each in bucket.differences()
    )
    return Looked(bucket.place, made=False, found=found)


def _ask(bucket: Bucket, names: str) -> None:
    """Raise Stopped for a no, UsageError where nobody can be asked; nothing was changed then."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise _unasked(names)
    if not click.confirm(f"\nChange {names} of {bucket.place}?"):
        raise Stopped("nothing was changed", hint="hybridwrap doctor    says what that means")


def _unasked(names: str) -> UsageError:
    return UsageError(f"nothing was changed: nobody can be asked here about {names}", hint="hybridwrap bootstrap --yes")


def _names(differences: Iterable[Difference]) -> tuple[str, ...]:
    return tuple(difference.setting.name for difference in differences)


def _changed(bucket: Bucket, wanted: Sequence[Difference], tried: Tried) -> list[Difference]:
    """Change what can be; return all, as they are now."""
    done = [replace(each, now=bucket.change(each)) if each.can_be_made else each for each in wanted]
    in_vain = frozenset(_names(each for each in done if each.now == UNSUPPORTED))
    met = frozenset(_names(each for each in done if each.is_met))
    tried.remember(bucket.place, (tried.in_vain(bucket.place) | in_vain) - met)
    return done


def _show(differences: Iterable[Difference]) -> None:
    rows: list[Row] = []
    for each in differences:
        remark = f"should be: {each.setting.wanted}" if each.can_be_made else ""
        rows.append((f"  {each.setting.name}", each.now, faint(remark) if remark else ""))
    for line in table(rows):
        click.echo(line)
