"""The manifest for Terragrunt's units: references found again, states where they are, and what has no counterpart."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hybridwrap.adapters.manifest.loading import read_stack
from hybridwrap.adapters.terragrunt.drafting import draft_units
from hybridwrap.adapters.terragrunt.units import read_units
from hybridwrap.adapters.terragrunt.writing import manifest_text, told_losses
from hybridwrap.domain.stack import FromEnv, Literal, Stack
from hybridwrap.errors import UsageError

DATA = Path(__file__).parents[1] / "data" / "terragrunt"


@pytest.fixture
def live(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path / "infra")
    return tmp_path / "infra" / "live"


def text_of(root: Path, place: Path | None = None) -> str:
    return manifest_text(draft_units(read_units(place or root), root, ""))


def loaded(root: Path) -> tuple[Stack, list[str]]:
    """The stack that the written manifest is, and its problems."""
    file = root / "hybridwrap.yaml"
    file.write_text(text_of(root))
    stack, problems = read_stack(file, environment=None, environ={})
    return stack, [problem.message for problem in problems if "modules.dns" not in str(problem)]  # its source is remote


def unit(root: Path, name: str, tree: Mapping[str, Any], **files: str) -> None:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "terragrunt.rendered.json").write_text(json.dumps(tree))
    for file, text in files.items():
        (folder / file.replace("_", ".")).write_text(text)


def losses(root: Path) -> list[str]:
    return list(told_losses(draft_units(read_units(root), root, "")))


def test_units_become_modules_with_their_references_and_states(live: Path) -> None:
    stack, problems = loaded(live)
    # What is computed is a matter for a person; the rest is whole.
    assert problems == ['../modules/app needs a value for "labels", which has no default']
    assert {name: module.edges for name, module in stack.modules.items()} == {
        "app": {"db": ("reference",), "dns": ("depends_on",), "vpc": ("reference",)},
        "db": {"vpc": ("reference",)},
        "dns": {},
        "vpc": {},
    }
    trees = {name: i.tree for name, i in stack.modules["app"].inputs.items() if isinstance(i, Literal)}
    assert trees == {
        "subnet_id": "{{ modules.vpc.subnet_ids[0] }}",
        "url": "postgres://{{ modules.db.address }}:5432/app",
    }
    vpc = stack.modules["vpc"]
    assert vpc.source == live.parent / "modules" / "vpc"
    assert (vpc.state.settings["bucket"], vpc.state.settings["key"]) == ("acme-state", "dev/vpc/terraform.tfstate")
    assert "use_lockfile" not in vpc.state.settings  # the table locks
    assert (vpc.protected, vpc.retry.attempts, vpc.retry.on) == (True, 4, ("(?s).*Throttling.*",))
    assert vpc.env == {"AWS_PROFILE": "dev"}
    assert vpc.var_files == (live / "dev/vpc/common.tfvars",)
    assert stack.ledger.bucket == "acme-state"


def test_hooks_around_an_apply_and_sources_in_a_registry_are_taken_over(live: Path) -> None:
    text = text_of(live)
    assert 'hooks: {after: [["./dev/app/smoke.sh","app"]]}' in text
    assert "source: terraform-aws-modules/route53/aws\n    version: 4.1.0\n" in text
    unit(live, "x", {"terraform": {"source": "tfr://registry.acme.io/acme/q/aws//modules/y?version=1.0"}})
    assert "source: registry.acme.io/acme/q/aws//modules/y\n" in text_of(live)


def test_no_secret_gets_into_the_manifest(live: Path) -> None:
    stack, _ = loaded(live)
    secrets = {name: stack.modules[name].inputs[i] for name, i in (("db", "password"), ("app", "api_token"))}
    assert {n: s.name for n, s in secrets.items() if isinstance(s, FromEnv)} == {
        "db": "DB_PASSWORD",
        "app": "APP_TOKEN",
    }
    text = (live / "hybridwrap.yaml").read_text()
    assert "hunter2" not in text
    assert "t0ken" not in text
    unit(live, "far", {"terraform": {"source": "git::https://x.example/y.git"}, "inputs": {"db_password": "hush"}})
    assert "db_password: {from_env: FAR_DB_PASSWORD}" in text_of(live)


def test_what_has_no_counterpart_is_named_once_with_what_to_do(live: Path) -> None:
    told = losses(live)
    assert told[0] == (
        'app, db, vpc: generate "provider" (provider.tf): commit provider.tf beside the code of the module; '
        "its contents are in the rendered file"
    )
    assert (
        "app, db, dns, vpc: remote_state: skip_bucket_root_access: `hybridwrap bootstrap` looks after the bucket"
        in told
    )
    for part in (
        'before_hook "lint"',
        "-lock-timeout=20m",
        "exclude for destroy",
        'mock_outputs of "vpc"',
        "remote one",
    ):
        assert any(part in line for line in told), part
    text = text_of(live)
    assert all(f"# - {line}" in text for line in told)


def test_without_the_files_values_tell_which_output_they_are(tmp_path: Path) -> None:
    unit(tmp_path, "net", {"terraform": {"source": "git::https://x.example/net.git"}})
    mocks = {"id": "net-mock", "zones": ["a"], "on": True}
    inputs = {"net": "net-mock", "zones": ["a"], "other": "x", "on": True}
    dependency = {"net": {"config_path": "../net", "mock_outputs": mocks, "outputs": None}}
    source = {"source": "git::https://x.example/vm.git"}
    unit(tmp_path, "vm", {"terraform": source, "dependency": dependency, "inputs": inputs})
    text = text_of(tmp_path)
    assert 'net: "{{ modules.net.id }}"' in text
    assert 'zones: "{{ modules.net.zones }}"' in text
    assert '"on": true' in text  # it may be so by chance
    assert "depends_on" not in text


def test_units_can_be_named_by_what_find_prints(live: Path) -> None:
    found = live / "units.json"
    found.write_text(json.dumps([{"type": "unit", "path": "dev/vpc"}, {"type": "stack", "path": "stacks/x"}]))
    assert "  vpc:\n    source: ../modules/vpc" in text_of(live, found)
    found.write_text(json.dumps([{"type": "unit", "path": "dev/nowhere"}]))
    with pytest.raises(UsageError, match=r"nowhere/terragrunt.rendered.json can't be read") as caught:
        read_units(found)
    assert caught.value.hint == "terragrunt render --all --json --write"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is no JSON"),
        ("[1]", "is neither a rendered unit nor"),
        ("7", "no "),
        ('{"dependencies": {"paths": 5}}', "unit: dependencies.paths must be a list of texts"),
        ('{"dependencies": 5}', "dependencies must be an object"),
        ('{"terraform": {"extra_arguments": {"x": {"commands": [[]]}}}}', r"extra_arguments.*commands must be a list"),
        ('{"terraform": {"extra_arguments": {"x": {"env_vars": 1}}}}', r"env_vars must be an object"),
    ],
)
def test_what_is_not_of_terragrunt_is_wrong_usage(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=why):
        read_units(file)
    with pytest.raises(UsageError, match=r"no terragrunt.rendered.json in"):
        read_units(tmp_path)


@pytest.mark.parametrize(
    ("state", "written"),
    [
        ({"backend": "local", "config": {"path": "/far/x.tfstate"}}, "state: {local: {path: "),
        (
            {"backend": "local", "config": {"path": "x.tfstate"}},
            "# TODO: its state is of the backend local: its state x",
        ),
        ({}, "# TODO: its state is of the backend local: without remote_state it lies in .terragrunt-cache"),
        (
            {"backend": "gcs", "config": {"bucket": "b", "prefix": "p"}},
            "# TODO: its state is of the backend gcs: write ",
        ),
        ({"backend": "s3", "config": {"bucket": "b", "key": "k", "secret_key": "hush"}}, "state: {s3: {key: k}}"),
    ],
)
def test_states_of_every_kind_stay_where_they_are_or_are_a_todo(
    tmp_path: Path, state: Mapping[str, Any], written: str
) -> None:
    unit(tmp_path, "a", {"terraform": {"source": "../m"}, "remote_state": state})
    text = text_of(tmp_path)
    assert written in text
    assert "hush" not in text


def test_a_unit_that_terragrunt_passes_by_is_left_out_and_older_retries_are_kept(tmp_path: Path) -> None:
    older = {"retryable_errors": ["(?i)timeout"], "retry_max_attempts": 2, "retry_sleep_interval_sec": 5}
    unit(tmp_path, "a", {"skip": True, **older}, main_tf='output "x" { value = 1 }\n')
    unit(tmp_path, "b", {"exclude": {"if": True, "actions": ["all"]}}, main_tf='output "x" { value = 1 }\n')
    text = text_of(tmp_path)
    assert text.count("enabled: false    # Terragrunt passes it by") == 2
    assert 'retry: {on: ["(?i)timeout"], attempts: 2, wait: 5}' in text
    assert loaded(tmp_path)[1] == []


def test_a_state_beside_the_code_and_a_block_of_its_own_are_left_alone(tmp_path: Path) -> None:
    code = {"main_tf": 'output "x" { value = 1 }\n'}
    unit(tmp_path, "a", {}, **code, terraform_tfstate="{}")
    unit(tmp_path, "b", {}, main_tf='terraform {\n  backend "local" { path = "b.tfstate" }\n}\n')
    unit(tmp_path, "c", {}, **code)
    text = text_of(tmp_path)
    assert "state: {local: {path: a/terraform.tfstate}}" in text
    assert text.count("state:") == 1
    assert loaded(tmp_path)[1] == []
