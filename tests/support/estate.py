"""A repository as people have them: twelve root modules that the engine alone has applied, each kept in its own way."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from textwrap import dedent

from hybridwrap.domain.json import Json, loads
from tests.support.engines import RealEngine
from tests.support.s3_servers import Server

_buckets = count()
BODY = """
variable "release" { default = 1 }
resource "terraform_data" "it" { input = "%s ${var.release}" }
output "id" { value = terraform_data.it.output }
"""


READERS = ("monitoring", "app")  # of other modules' states


@dataclass(frozen=True, slots=True)
class State:
    """One state: who has it, in which environment of the manifest, and what a person types to get at it."""

    module: str
    environment: str
    init: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    workspace: str = ""

    @property
    def folder(self) -> str:
        return f"live/{self.module}"


def _both(module: str, init: str = "", plan: str = "", *, workspace: bool = False) -> Iterator[State]:
    for name in ("dev", "prod"):
        yield State(
            module,
            name,
            (init.format(name),) if init else (),
            (f"-var-file={plan.format(name)}",) if plan else (),
            name if workspace else "",
        )


STATES = (
    *(State(name, "shared") for name in ("network", "dns", "bastion", "jobs", "monitoring")),
    State("vm", "shared", ("-backend-config=../../backend.hcl",)),
    *_both("db", "-backend-config=backend/{}.tfbackend", "env/{}.tfvars"),
    State("cache", "dev", ("-backend-config=dev.s3.tfbackend",), ("-var-file=dev.tfvars",)),
    *_both("queue", plan="env/{}.tfvars", workspace=True),
    State("cdn", "prod", workspace="prod"),
    State("app", "dev", ("-backend-config=backend/dev.tfbackend",), ("-var-file=env/dev.tfvars",)),
    State("edge", "prod", ("-backend-config=config/prod/backend.hcl",), ("-var-file=config/prod/terraform.tfvars",)),
)


@dataclass(frozen=True, slots=True)
class Estate:
    root: Path
    engine: RealEngine
    environ: Mapping[str, str]
    server: Server
    bucket: str

    def clone(self, target: Path) -> Path:
        git(self.root, "clone", "-q", ".", str(target))
        return target

    def raw(self, state: State, root: Path, scratch: Path, *argv: str) -> str:
        """Run the engine as people did before, with its data out of the way."""
        data = scratch / f"{state.module}-{state.environment}"
        env = {**self.environ, "TF_DATA_DIR": str(data)}
        if not data.exists():
            self.engine.must(root / state.folder, "init", "-input=false", *state.init, env=env)
            if state.workspace:
                self.engine.must(root / state.folder, "workspace", "select", "-or-create", state.workspace, env=env)
        return self.engine.must(root / state.folder, *argv, env=env)

    def raw_plan(self, state: State, root: Path, scratch: Path) -> Json:
        """What the engine alone would change in a checkout."""
        scratch.mkdir(parents=True, exist_ok=True)
        plan = scratch / f"{state.module}-{state.environment}.plan"
        self.raw(state, root, scratch, "plan", "-input=false", "-lock=false", f"-out={plan}", *state.plan)
        return self.changes(state, root, scratch, plan)

    def changes(self, state: State, root: Path, scratch: Path, plan: Path) -> Json:
        shown = self.raw(state, root, scratch, "show", "-json", str(plan))
        return loads(shown.encode())["resource_changes"]

    def objects(self) -> dict[str, bytes]:
        """All states in the bucket, by key."""
        s3 = self.server.client()
        keys = [found["Key"] for found in s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])]
        return {key: s3.get_object(Bucket=self.bucket, Key=key)["Body"].read() for key in keys}


def local_states(root: Path) -> dict[str, bytes]:
    found = (path for path in (root / "live").rglob("*.tfstate") if ".terraform" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def build(root: Path, engine: RealEngine, server: Server, environ: Mapping[str, str]) -> Estate:
    """Write the repository, apply everything once, and commit a change of variables that is not applied yet."""
    estate = Estate(root, engine, environ, server, server.make_bucket(f"estate-{next(_buckets)}"))
    for name, text in _files(estate.bucket, server.endpoint).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text))
    scratch = root / ".scratch"
    first = [state for state in STATES if state.module not in READERS]
    for states in (first, [state for state in STATES if state.module in READERS]):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda state: _apply(estate, state, scratch), states))
    shutil.rmtree(scratch)
    for file in root.rglob("*.tfvars"):
        file.write_text(file.read_text().replace("release = 1", "release = 2"))
    for argv in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "What there is")):
        git(root, *argv)
    return estate


def _apply(estate: Estate, state: State, scratch: Path) -> None:
    estate.raw(state, estate.root, scratch, "apply", "-input=false", "-auto-approve", *state.plan)


def git(root: Path, *words: str) -> str:
    """Run git on a repository, whatever is configured on this machine."""
    argv = ["git", "-C", str(root), "-c", "user.name=ana", "-c", "user.email=ana@example.org", *words]
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(argv, check=True, env=env, capture_output=True, text=True).stdout


def _files(bucket: str, endpoint: str) -> dict[str, str]:
    server = {"region": '"us-east-1"', "endpoints": f'{{ s3 = "{endpoint}" }}', **dict.fromkeys(_SWITCHES, "true")}
    here = "\n".join(f"{name} = {value}" for name, value in server.items())
    whole = f'bucket = "{bucket}"\n{here}\n'
    config = f'bucket = "{bucket}", {", ".join(f"{name} = {value}" for name, value in server.items())}'
    network = f'backend = "s3"\n  config = {{ key = "network.tfstate", {config} }}'
    dns = 'backend = "local"\n  config = { path = "${path.module}/../dns/dns.tfstate" }'
    db = f'backend = "s3"\n  config = {{ key = "${{var.name}}/db.tfstate", {config} }}'
    queue = f'backend = "s3"\n  workspace = var.name\n  config = {{ key = "queue.tfstate", {_PREFIX}, {config} }}'
    return {
        **{f"live/{name}/main.tf": text + BODY % name for name, text in _plain(whole).items()},
        **{f"live/{file}.tfvars": f'name = "{Path(file).name}"\nrelease = 1\n' for file in _VAR_FILES},
        **{
            f"live/{module}/backend/{name}.tfbackend": f'{whole}key = "{name}/{module}.tfstate"\n'
            for module, name in (("db", "dev"), ("db", "prod"), ("app", "dev"))
        },
        ".gitignore": ".terraform/\n.scratch/\n.hybridwrap/\nhybridwrap_override.tf.json\n",
        "backend.hcl": whole,
        "modules/worker/main.tf": _WORKER,
        "live/jobs/terraform.tfvars": "release = 1\n",
        "live/jobs/.terraform.lock.hcl": "# This file is maintained automatically.\n",
        "live/monitoring/main.tf": _s3(f'{whole}key = "monitoring.tfstate"')
        + _reading("network", network)
        + _reading("dns", dns)
        + BODY % "monitoring",
        "live/monitoring/more.auto.tfvars": "release = 1\n",
        "live/db/main.tf": _s3("") + _NAME + BODY % "db ${var.name}",
        "live/cache/dev.s3.tfbackend": f'{whole}key = "dev/cache.tfstate"\n',
        "live/cache/dev.tfvars": "release = 1\n",
        "live/app/main.tf": _s3("") + _NAME + _reading("db", db) + _reading("queue", queue) + BODY % "app",
        "live/edge/main.tf.json": _JSON,
        "live/edge/config/prod/backend.hcl": f'{whole}key = "prod/edge.tfstate"\n',
        "live/edge/config/prod/terraform.tfvars": "release = 1\n",
    }


_SWITCHES = (
    *("use_path_style", "skip_credentials_validation", "skip_requesting_account_id", "skip_metadata_api_check"),
)
_PREFIX = 'workspace_key_prefix = "ws"'
_NAME = 'variable "name" {}\n'
_VAR_FILES = ("db/env/dev", "db/env/prod", "queue/env/dev", "queue/env/prod", "app/env/dev")
_WORKER = """
variable "n" {}
resource "terraform_data" "w" { input = var.n }
output "n" { value = terraform_data.w.output }
"""
_JOBS = """
module "worker" {
  source = "../../modules/worker"
  n      = var.release
}
"""
_JSON = (
    '{"terraform": {"backend": {"s3": {}}}, "variable": {"release": {"default": 1}},'
    ' "resource": {"terraform_data": {"it": {"input": "edge ${var.release}"}}}}'
)


def _plain(whole: str) -> dict[str, str]:
    """What stands before the resource of a module that has nothing more to it."""
    return {
        "network": _s3(f'{whole}key = "network.tfstate"'),
        "dns": 'terraform {\n  backend "local" { path = "dns.tfstate" }\n}\n',
        "bastion": "",
        "jobs": _s3(f'{whole}key = "jobs.tfstate"') + _JOBS,
        "vm": _s3('key = "vm.tfstate"'),
        "cache": _s3(""),
        "queue": _s3(f'{whole}key = "queue.tfstate"\n{_PREFIX}') + _NAME,
        "cdn": 'output "workspace" { value = terraform.workspace }\n',
    }


def _s3(settings: str) -> str:
    return f'terraform {{\n  backend "s3" {{\n    {settings}\n  }}\n}}\n'


def _reading(name: str, config: str) -> str:
    return (
        f'data "terraform_remote_state" "{name}" {{\n  {config}\n}}\n'
        f'output "{name}" {{ value = data.terraform_remote_state.{name}.outputs.id }}\n'
    )
