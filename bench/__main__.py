"""`python -m bench`: measure everything once, print one table, keep the figures as JSON."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from rich.console import Console

from bench.comparison import compare
from bench.ground import Ground
from bench.layers import validating
from bench.moto_server import moto_server
from bench.process import Failed
from bench.report import Row, median_rows, save, show
from bench.s3_requests import counted
from bench.stacks import CASES
from bench.startup import starting
from bench.status import looking
from tests.support.aws_provider import NotAvailable
from tests.support.engines import engine_environment, engines

_JSON = Path(__file__).parents[1] / ".cache" / "bench.json"

Measurement = Callable[[Ground, Path], list[Row]]
MEASUREMENTS: Mapping[str, Measurement] = {
    "start": starting,
    **{case.name: partial(compare, case=case) for case in CASES},
    "s3": counted,
    "status": looking,
    "layers": validating,
}


def main() -> int:
    options = _options()
    engine = next(engine for engine in engines().values() if engine)
    failures: list[str] = []
    with moto_server() as moto, tempfile.TemporaryDirectory(prefix="hybridwrap-bench-") as folder:
        ground = Ground(shlex.join(engine.argv), engine_environment({}), moto)
        rows = [row for name in options.only for row in _measure(name, ground, Path(folder), options.repeat, failures)]
    show(rows, engine.name)
    save(rows, options.json, engine.name)
    sys.stderr.writelines(f"{failure}\n" for failure in failures)
    return 1 if failures else 0


def _measure(name: str, ground: Ground, folder: Path, repeat: int, failures: list[str]) -> list[Row]:
    """Measure one thing so many times; a failure is kept for the end, the rest goes on."""
    with Console(stderr=True).status(f"measuring {name} …"):
        try:
            return median_rows([MEASUREMENTS[name](ground, folder / f"{name}-{n}") for n in range(repeat)])
        except (Failed, NotAvailable) as reason:
            failures.append(f"{name}: {reason}")
            return []


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(MEASUREMENTS),
        default=list(MEASUREMENTS),
        metavar="NAME",
        help=", ".join(MEASUREMENTS),
    )
    parser.add_argument("--repeat", type=int, default=1, help="measure so many times and take the median (1)")
    parser.add_argument(
        "--json", type=Path, default=_JSON, metavar="FILE", help="where the figures go (.cache/bench.json)"
    )
    return parser.parse_args()


sys.exit(main())
