"""`hybridwrap lock`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from hybridwrap.adapters.source import LOCK_FILE
from hybridwrap.cli.compose import equip, load
from hybridwrap.cli.options import Place, Telling, selection_options, stack_options, telling_options
from hybridwrap.cli.running import Job, at_work, selected, watcher
from hybridwrap.domain.lock_files import ALL, PLATFORM, LockWish
from hybridwrap.run.context import Options
from hybridwrap.run.knowledge import Knowledge
from hybridwrap.run.lock import lock
from hybridwrap.run.selection import Selection


def _platforms(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for name in given:
        if not PLATFORM.fullmatch(name):
            raise click.BadParameter(f'"{name}" is no platform; linux_amd64 is one')
    return given or ALL


@click.command("lock")
@stack_options
@selection_options
@click.option(
    "-platform",
    "--platform",
    "platforms",
    multiple=True,
    callback=_platforms,
    metavar="OS_ARCH",
    help=f"As the engine's -platform; else {', '.join(ALL)}.",
)
@click.option(
    "-fs-mirror",
    "--fs-mirror",
    type=click.Path(exists=True, file_okay=False, path_type=Path, resolve_path=True),
    help="As the engine's -fs-mirror.",
)
@click.option("-net-mirror", "--net-mirror", default="", metavar="URL", help="As the engine's -net-mirror.")
@telling_options
def command(
    place: Place,
    selection: Selection,
    platforms: tuple[str, ...],
    fs_mirror: Path | None,
    net_mirror: str,
    telling: Telling,
) -> int:
    """Write the providers' checksums for all platforms into the modules' lock files.

    One folder after the other. Where CI is set, `init` takes a lock file as it is: what is missing in it is an error
    that names this command. Versions that are locked stay as they are; commit the files.
    """
    workshop = equip(load(place))
    job = Job(workshop, selected(workshop, selection), Knowledge({}))
    watch = watcher(job, telling)
    wish = LockWish(platforms, str(fs_mirror or ""), net_mirror)
    with at_work(job, Options(parallelism=1), watch) as context:
        end = lock(context, job.modules, wish)
        sources = {job.workshop.stack.modules[name].source for name, e in end.modules.items() if e.result == "ok"}
        changed = sorted(os.path.relpath(source / LOCK_FILE) for source in sources)
        if changed:
            watch.note(f"to be committed: {' '.join(changed)}")
    watch.run_ended(end, job.knowledge.outputs)
    return end.exit_code
