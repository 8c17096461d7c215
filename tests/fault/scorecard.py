"""`python -m tests.fault.scorecard`: run the whole matrix of faults and print what it showed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

from hybridwrap.domain import json
from tests.fault.faults import FAULTS

COUNTS = {
    "results_lost": "results lost",
    "mutations_without_begin": "mutations without a begin entry",
    "unrun_shown_as_error": "unrun shown as error",
    "duplicates": "duplicates created",
    "orphaned_locks": "orphaned locks",
    "unfinished": "left unfinished on the host",
}


def main(argv: Sequence[str]) -> int:
    """Return pytest's exit code; words after the program go to pytest."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scores"
        file.touch()
        tests = str(Path(__file__).parent)
        results = Path(folder) / "results.xml"
        options = ["--all-faults", "--scorecard", str(file), f"--junit-xml={results}", "-q", *(argv or ["-n", "auto"])]
        ran = subprocess.run([sys.executable, "-m", "pytest", tests, *options], check=False)
        scores = [json.loads(line) for line in file.read_bytes().splitlines()]
        suite = ElementTree.parse(results).getroot().find("testsuite")  # noqa: S314  our own
    assert suite is not None
    total, bad = int(suite.get("tests", 0)), int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    print(f"\n{'tests passed':40} {total - bad} of {total}")  # noqa: T201
    for line in lines(scores):
        print(line)  # noqa: T201
    return ran.returncode


def lines(scores: Sequence[dict[str, Any]]) -> Iterator[str]:
    sound = [score for score in scores if not score["flaws"] and not any(score[name] for name in COUNTS)]
    seconds = sorted(score["seconds"] for score in scores if score.get("seconds"))
    yield f"{'faults on the list, tested':40} {sum(bool(f.tests) for f in FAULTS.values())} of {len(FAULTS)}"
    yield f"{'boundaries passed':40} {len(sound)} of {len(scores)}"
    for name, words in COUNTS.items():
        yield f"{words:40} {sum(score[name] for score in scores)}"
    yield f"{'flaws in a ledger':40} {sum(len(score['flaws']) for score in scores)}"
    if seconds:
        times = f"median {median(seconds):.1f} s, longest {seconds[-1]:.1f} s, of {len(seconds)}"
        yield f"{'from SIGKILL to the right status':40} {times}"
    for score in scores:
        if score not in sound:
            yield f"not sound: {score['boundary']}   {score['test']}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
