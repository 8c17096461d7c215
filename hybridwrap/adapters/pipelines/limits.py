"""What CI systems refuse, or worse: silently never start."""

from __future__ import annotations

from collections.abc import Sequence

from hybridwrap.domain.pipeline import ApplyJob
from hybridwrap.errors import UsageError

MATRIX = 256  # jobs, docs.github.com/en/actions/reference/limits
WORKFLOW_FILE = 500_000  # bytes, same page: a larger one does not start runs
NEEDS = 50  # docs.gitlab.com/ci/yaml/#needs, GitLab.com
PARALLEL = 200  # docs.gitlab.com/ci/yaml/#parallel
WORKFLOW_OBJECT = 1_000_000  # bytes; etcd takes 1.5 MB, and Argo adds the state of each node
_MOST_WORKERS = {"github": MATRIX, "gitlab": PARALLEL, "argo": 1000}
_LARGEST = {"github": WORKFLOW_FILE, "argo": WORKFLOW_OBJECT}


def check_jobs(system: str, jobs: Sequence[ApplyJob]) -> None:
    """Raise UsageError for a shape that the system does not take."""
    workers, most = sum(not job.modules for job in jobs), _MOST_WORKERS[system]
    if workers > most:
        raise UsageError(f"{workers} workers: {system} takes {most}", hint=_instead(system, f"workers={most}"))
    widest = max(jobs, key=lambda job: len(job.needs))
    if system == "gitlab" and len(widest.needs) >= NEEDS:  # and for the approval
        raise UsageError(
            f"{widest.title} waits for {len(widest.needs) + 1} jobs: gitlab takes {NEEDS}",
            hint=_instead(system, "waves"),
        )


def check_size(system: str, text: str) -> None:
    """Raise UsageError for a file that the system would not start."""
    size, most = len(text.encode()), _LARGEST.get(system)
    if most and size > most:
        raise UsageError(f"the pipeline has {size} bytes: {system} takes {most}", hint=_instead(system, "workers=20"))


def _instead(system: str, shape: str) -> str:
    return f"hybridwrap pipeline {system} --shape {shape}"
