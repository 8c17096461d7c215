"""From a request to the text of a pipeline: the same request gives the same bytes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybridwrap.adapters.pipelines.engines import SetupAction, check_installable, install_line, setup_actions
from hybridwrap.adapters.pipelines.limits import check_jobs, check_size
from hybridwrap.adapters.pipelines.request import Request
from hybridwrap.domain.pipeline import ApplyJob
from hybridwrap.domain.stack import FromEnv, Stack
from hybridwrap.errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Environment

FILES = {
    "github": ".github/workflows/hybridwrap-{slug}.yml",
    "gitlab": ".gitlab/hybridwrap-{slug}.yml",
    "argo": "argo/hybridwrap-{slug}.yml",
}
GIVE_A_KEY = "in hybridwrap.yaml: ledger: {encryption: {key_from_env: HYBRIDWRAP_KEY}}; or --approves graph"
IMAGE = "python:3.13"  # has git, which tells the ledger the commit
BRANCH = "main"
RUN = "$HYBRIDWRAP_RUN"
LEFT = "hybridwrap-left.json"  # results that a job could not send, kept by the CI system


def file_of(request: Request) -> Path:
    """Where a pipeline lies, from the top of the repository."""
    return Path(FILES[request.system].format(slug=request.slug))


def pipeline_text(request: Request) -> str:
    """Raise UsageError for what the system can't do."""
    jobs = request.jobs
    if request.saves and not request.stack.ledger.encryption:
        raise UsageError("plans can't be saved without a key of the ledger: they hold secrets", hint=GIVE_A_KEY)
    check_jobs(request.system, jobs)
    template = _templates().get_template(f"{request.system}.yml.j2")
    text = template.render(
        request=request,
        jobs=jobs,
        titles={job.id: job.title for job in jobs},
        workers=0 if jobs[0].modules else len(jobs),
        command=partial(_command, request),
        apply=partial(_apply, request),
        ended=_ended,
        secrets=secrets_of(request.stack),
        left=LEFT,
        destroy_words=f"destroy {request.label}",
        **_chosen(request),
    )
    check_size(request.system, text)
    return text


def secrets_of(stack: Stack) -> tuple[str, ...]:
    """Name the variables that the manifest takes from the environment of every command."""
    inputs = (each for module in stack.modules.values() for each in module.inputs.values())
    names = {each.name for each in inputs if isinstance(each, FromEnv)}
    return tuple(sorted({*names, *filter(None, [stack.ledger.encryption.get("key_from_env")])}))


def _command(request: Request, name: str, *words: str | Sequence[str]) -> str:
    """A command line of ours; of words that come in a list each is one."""
    flat = [word for each in words for word in ([each] if isinstance(each, str) else each)]
    return shlex.join(["hybridwrap", name, *request.place, *flat])


def _apply(request: Request, job: ApplyJob) -> str:
    """What an apply job runs: exactly the saved plans, or whatever the graph wants now.

    Workers wait for modules that another pipeline is at; a job with modules of its own says what it can't begin.
    """
    what = ("--run", RUN) if request.saves else ("--auto-approve",)
    how = job.modules or ("--join", "--wait=10m")
    return _command(request, "apply", *what, *how).replace(f"'{RUN}'", f'"{RUN}"')


def _ended(tasks: Sequence[str]) -> str:
    """Argo's words for: these have ended, well or badly."""
    return " && ".join(f"({task}.Succeeded || {task}.Failed || {task}.Errored)" for task in tasks)


def _chosen(request: Request) -> Mapping[str, Any]:
    wishes = request.wishes
    actions, install = _installed(request)
    return {
        "actions": actions,
        "install": install,
        "image": wishes.image or ("" if request.system == "github" else IMAGE),
        "branch": wishes.branch or BRANCH,
        "repository": _repository(request),
        "setup": wishes.setup or "",
    }


def _installed(request: Request) -> tuple[Sequence[SetupAction], str]:
    """What brings hybridwrap and the engine: an image that has both, a command, or our own idea."""
    wishes = request.wishes
    if wishes.install is not None or wishes.image:
        return (), wishes.install or ""
    if request.system == "github":
        return setup_actions(request.stack), install_line(request.stack)
    check_installable(request.stack, request.system)
    return (), install_line(request.stack)


def _repository(request: Request) -> str:
    if request.system == "argo" and not request.wishes.repository:
        raise UsageError(
            "argo has no repository of its own: say which one its jobs clone",
            hint="hybridwrap pipeline argo --repository URL",
        )
    return request.wishes.repository or ""


def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - YAML, not HTML: what comes from outside is quoted for that
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"quoted": quoted, "expression": expression, "kubernetes": kubernetes}
    return environment


def quoted(value: str) -> str:
    """A YAML string that is nothing else, whatever is in it: JSON is YAML."""
    return json.dumps(value, ensure_ascii=False)


def expression(value: str) -> str:
    """A string in GitHub's expressions."""
    return "'" + value.replace("'", "''") + "'"


def kubernetes(name: str) -> str:
    """A name of an object in Kubernetes: small letters, digits and `-`, at most 63 of them."""
    return re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:63].strip("-") or "hybridwrap"
