"""`python -m tests.fault.drill`: many jobs with one run id, killed at random and started again, as CI would do it.

Each job is a process. A kill takes hybridwrap alone, as the death of a runner's shell does; its engine lives on. There
are three witnesses: a file into which the modules write as they are made, the ledger, and the outputs in the states.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hybridwrap.domain.entry import Begin, End
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.status import Outcome
from hybridwrap.run.report import Report, read_report
from tests.support import s3_servers
from tests.support.counting_proxy import counting_proxy
from tests.support.lost_runner import ledger_of
from tests.support.project import Project

NAME = "gh-4711"
MODULE = """
variable "name" { type = string }
variable "depths" { type = list(number) }
variable "made" { type = string }
locals { depth = max(0, [for d in var.depths : d + 1]...) }
resource "terraform_data" "it" {
  input = local.depth
  provisioner "local-exec" { command = "echo ${var.name} >> ${var.made}" }
}
output "depth" { value = terraform_data.it.output }
"""
HEAD = """version: 1
stack: fleet
ledger: {{s3: {{bucket: {bucket}, region: us-east-1, endpoint: "{endpoint}", use_path_style: true}}}}
modules:
"""
SECONDS = 3600


@dataclass
class Drill:
    """What is drilled; `parallelism` is each job's."""

    modules: int = 200
    jobs: int = 20
    kills: int = 20
    seed: int = 1
    parallelism: int = 1
    needs: dict[str, list[str]] = field(init=False)
    choose: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.choose = random.Random(self.seed)
        names = [f"m{number:03}" for number in range(self.modules)]
        self.needs = {
            name: sorted(self.choose.sample(names[:index], min(index, self.choose.choice([0, 1, 1, 2, 3]))))
            for index, name in enumerate(names)
        }

    def write(self, project: Project, bucket: str, endpoint: str) -> None:
        lines = [HEAD.format(bucket=bucket, endpoint=endpoint)]
        for name, needs in self.needs.items():
            depths = [f"{{{{ modules.{need}.depth }}}}" for need in needs]
            inputs = {"name": name, "made": str(project.root / "made"), "depths": depths}
            lines.append(f"  {name}: {{source: module, inputs: {json.dumps(inputs)}}}\n")
        project.write("".join(lines), module=MODULE)

    @property
    def depths(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, needs in self.needs.items():
            found[name] = max((found[need] + 1 for need in needs), default=0)
        return found


@dataclass
class Outcomes:
    seconds: float
    killed: int
    codes: Counter[int]
    flaws: list[str] = field(default_factory=list)


def carry_out(drill: Drill, project: Project, say: Callable[[str], None] = lambda _: None) -> Outcomes:
    """Start all jobs at once, kill some at random and start them again; and wait for all."""
    began, killed = time.monotonic(), 0
    jobs = [_job(drill, project) for _ in range(drill.jobs)]
    codes: Counter[int] = Counter()
    while jobs:
        made = len(_made(project))
        if killed < drill.kills and made >= (killed + 1) * drill.modules * 0.9 / (drill.kills + 1):
            victim = drill.choose.randrange(len(jobs))
            jobs[victim].send_signal(signal.SIGKILL)
            jobs[victim].wait()
            jobs[victim] = _job(drill, project)
            killed += 1
            say(f"{time.monotonic() - began:5.0f} s  {made} of {drill.modules} made; killed a job, started it again")
        for job in [job for job in jobs if job.poll() is not None]:
            codes[job.returncode] += 1
            jobs.remove(job)
        assert time.monotonic() - began < SECONDS, "it does not come to its end"
        time.sleep(0.05)
    seconds = time.monotonic() - began
    return Outcomes(seconds, killed, codes)


def _job(drill: Drill, project: Project) -> subprocess.Popen[bytes]:
    log = (project.root / "jobs.log").open("ab")
    argv = [
        "apply",
        "--auto-approve",
        "--join",
        "--parallelism",
        str(drill.parallelism),
        "--wait",
        "--log-format=plain",
    ]
    with log:
        return subprocess.Popen(
            [sys.executable, "-m", "hybridwrap", *argv],
            cwd=project.root,
            env={**project.env, "HYBRIDWRAP_RUN": NAME},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _made(project: Project) -> list[str]:
    file = project.root / "made"
    return file.read_text().split() if file.exists() else []


def flaws(drill: Drill, project: Project, ledger: Ledger) -> list[str]:
    """Name everything that is not as it must be."""
    made = _made(project)
    found = [f"{name} was made {count} times" for name, count in Counter(made).items() if count > 1]
    found += [f"{name} was never made" for name in drill.needs if name not in made]
    place = {name: index for index, name in enumerate(made)}
    found += [
        f"{name} was made before {need}, which it needs"
        for name, needs in drill.needs.items()
        for need in needs
        if place.get(name, 0) < place.get(need, 0)
    ]
    for name in drill.needs:
        found += [f"{name}: {flaw}" for flaw in (*ledger.verify(name), *_flaws_of_log(drill, ledger, name))]
    report = read_report(ledger, NAME)
    return found + list(_flaws_of_report(drill, report))


def _flaws_of_log(drill: Drill, ledger: Ledger, name: str) -> list[str]:
    record, bodies = ledger.record(name), [entry.body for entry in ledger.history(name)]
    begun = sum(isinstance(body, Begin) for body in bodies)
    done = sum(isinstance(body, End) and body.outcome is Outcome.SUCCEEDED for body in bodies)
    ended = sum(isinstance(body, End) for body in bodies)
    depth = record.outputs["depth"].value if "depth" in record.outputs else None
    found = [f"{begun} operations begun, {ended} ended"] if begun != ended else []
    found += [f"{done} operations succeeded"] if done != 1 else []
    found += [f"it is {record.status}"] if record.status != "ok" else []
    return found + ([f"its depth is {depth}"] if depth != drill.depths[name] else [])


def _flaws_of_report(drill: Drill, report: Report) -> Sequence[str]:
    results = Counter(module.result for module in report.modules)
    return [
        *([f"the report has {len(report.modules)} modules"] if len(report.modules) != drill.modules else []),
        *([f"the report says {dict(results)}"] if set(results) != {"ok"} else []),
        *([f"the report's exit code is {report.exit_code}"] if report.exit_code != 0 else []),
    ]


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fault.drill")
    for name, value in (("modules", 200), ("jobs", 20), ("kills", 20), ("parallelism", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    drill = Drill(**vars(parser.parse_args(argv)))
    os.environ.update(s3_servers.environment())
    _print(f"{drill.modules} modules, {drill.jobs} jobs, {drill.kills} kills, seed {drill.seed}")
    with TemporaryDirectory() as folder, s3_servers.seaweedfs() as server, counting_proxy(server.endpoint) as proxy:
        project = Project(Path(folder), {**s3_servers.environment(), "CHECKPOINT_DISABLE": "1"})
        bucket = server.make_bucket("drill")
        drill.write(project, bucket, proxy.endpoint)
        outcomes = carry_out(drill, project, _print)
        requests = dict(proxy.requests)
        outcomes.flaws += flaws(drill, project, ledger_of(project))
        for line in _figures(drill, outcomes, requests):
            _print(line)
    return 1 if outcomes.flaws else 0


def _figures(drill: Drill, outcomes: Outcomes, requests: Mapping[tuple[str, str], int]) -> Sequence[str]:
    rows: dict[str, Counter[str]] = {}
    for (method, kind), count in requests.items():
        rows.setdefault(kind, Counter())[method] += count
    total = sum(requests.values())
    return [
        f"{'time':24} {outcomes.seconds:.0f} s, {drill.modules / outcomes.seconds * 60:.0f} modules a minute",
        f"{'jobs killed':24} {outcomes.killed}; exit codes {dict(outcomes.codes)}",
        f"{'requests of the ledger':24} {total}, {total / drill.modules:.1f} a module",
        *(f"  {kind:22} {dict(sorted(counts.items()))}" for kind, counts in sorted(rows.items())),
        f"{'flaws':24} {len(outcomes.flaws)}",
        *(f"  {flaw}" for flaw in outcomes.flaws),
    ]


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
