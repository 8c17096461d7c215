"""The manifest that `new` writes: which folders are modules, their names, what is certain, what is a TODO."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hybridwrap.adapters.manifest.loading import load_stack
from hybridwrap.adapters.manifest.reading import parse
from hybridwrap.adapters.scaffold.draft import Draft
from hybridwrap.adapters.scaffold.drafting import draft_stack
from hybridwrap.adapters.scaffold.naming import module_names, usable
from hybridwrap.adapters.scaffold.writing import manifest_text
from hybridwrap.adapters.scaffold.yaml_text import yaml as written
from hybridwrap.domain.stack import FromEnv, Stack
from hybridwrap.errors import InvalidManifest, UsageError
from tests.support.engine_states import STATE

EMPTY = 'output "id" { value = 1 }\n'


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text))
    return root


def draft(root: Path, files: Mapping[str, str]) -> Draft:
    return draft_stack(tree(root / "shop", files), "")


def text_of(root: Path, files: Mapping[str, str]) -> str:
    return manifest_text(draft(root, files))


def loaded(root: Path, files: Mapping[str, str]) -> Stack:
    """The stack that the written manifest is."""
    file = root / "shop" / "hybridwrap.yaml"
    file.write_text(text_of(root, files))
    return load_stack(file, environment=None, environ={})


def problems(root: Path, files: Mapping[str, str]) -> list[str]:
    try:
        loaded(root, files)
    except InvalidManifest as error:
        return [problem.message for problem in error.problems]
    return []


def s3(key: str, bucket: str = "acme", **more: str) -> str:
    settings = "".join(f'{name} = "{value}"\n' for name, value in {"bucket": bucket, "key": key, **more}.items())
    return f'terraform {{\n  backend "s3" {{\n{settings}}}\n}}\n{EMPTY}'


def test_what_another_module_calls_is_no_root_module_and_hidden_folders_are_not_looked_into(tmp_path: Path) -> None:
    found = draft(
        tmp_path,
        {
            "live/app/main.tf": 'module "lib" { source = "../../lib/one" }\n',
            "lib/one/main.tf": 'module "two" { source = "../two" }\n',
            "lib/two/main.tf": EMPTY,
            "live/app/.terraform/modules/x/main.tf": EMPTY,
            ".git/hooks/main.tf": EMPTY,
            "examples/simple/main.tf": EMPTY,
            "live/app/tests/setup/main.tf": EMPTY,
            "notes/readme.md": "",
        },
    )
    assert list(found.modules) == ["app"]
    assert [found.shown(path) for path in found.left_out] == ["examples", "live/app/tests"]


def test_a_folder_without_any_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no root module in"):
        draft(tmp_path, {"readme.md": ""})


def test_links_are_not_followed(tmp_path: Path) -> None:
    root = tree(tmp_path / "shop", {"app/main.tf": EMPTY})
    (root / "app" / "loop").symlink_to(root)
    assert list(draft_stack(root, "").modules) == ["app"]


def test_a_module_in_the_folder_itself_has_its_name(tmp_path: Path) -> None:
    stack = loaded(tmp_path, {"main.tf": EMPTY, "app/main.tf": EMPTY})
    assert {name: os.path.relpath(module.source, stack.root) for name, module in stack.modules.items()} == {
        "shop": ".",
        "app": "app",
    }


@pytest.mark.parametrize(
    ("folders", "names"),
    [
        (["dev/vpc", "prod/vpc", "prod/app"], ["dev-vpc", "prod-vpc", "app"]),
        (["a/x/vpc", "b/x/vpc"], ["a-x-vpc", "b-x-vpc"]),
        (["VPC", "live/vpc"], ["VPC", "live-vpc"]),
        (["my module", "my.module"], ["my-module", "my-module-2"]),
        (["-", "_"], ["module", "_"]),
        (["x" * 70, "y/" + "x" * 70], ["x" * 64, "y-" + "x" * 62]),
    ],
)
def test_names_are_as_short_as_they_can_be_and_each_one_is_there_once(
    tmp_path: Path, folders: list[str], names: list[str]
) -> None:
    paths = [tmp_path / folder for folder in folders]
    assert list(module_names(paths, tmp_path).values()) == names


@given(st.lists(st.lists(st.text("aA-._ é/", min_size=1, max_size=3), min_size=1, max_size=3), max_size=6))
def test_any_folders_get_names_that_a_manifest_may_have(parts: list[list[str]]) -> None:
    paths = list({Path("/r").joinpath(*(part.replace("/", "") or "x" for part in found)) for found in parts})
    names = list(module_names([path for path in paths if ".." not in path.parts], Path("/r")).values())
    assert len({name.lower() for name in names}) == len(names)
    assert all(name == usable(name, "") and len(name) <= 64 for name in names)


@given(
    st.text(min_size=1, max_size=12) | st.sampled_from(["on", "1.10", "0755", "null", "a: b", "-", "#x", "2026-01-01"])
)
def test_a_text_is_read_as_it_was_written(text: str) -> None:
    root = parse(f"value: {written(text)}\n".encode("utf-8", "backslashreplace"), "m")
    node = root.get("value")
    assert node is not None
    assert node.value == text


def test_values_that_only_their_user_knows_are_named_by_validate(tmp_path: Path) -> None:
    files = {
        "vm/main.tf": """
            variable "size" {
              type        = string
              description = "How large.\\nNot too large."
            }
            variable "subnet_id" { type = string }
            variable "given" { type = string }
            variable "count_of" { default = 1 }
            """,
        "vm/terraform.tfvars": 'given = "x"\n',
        "network/main.tf": 'output "subnet_id" { value = 1 }\n',
    }
    assert problems(tmp_path, files) == [
        'vm needs a value for "size", which has no default',
        'vm needs a value for "subnet_id", which has no default',
    ]
    text = text_of(tmp_path, files)
    assert "TODO size: …    # string: How large. Not too large." in text
    assert 'TODO subnet_id: …    # string    # perhaps "{{ modules.network.subnet_id }}"' in text
    assert "TODO given" not in text


def test_a_secret_without_a_default_comes_from_the_environment(tmp_path: Path) -> None:
    secret = 'variable "password" {\n  sensitive = true\n}\n'
    stack = loaded(tmp_path, {"my-db/main.tf": secret, "2nd/main.tf": secret})
    sources = {name: module.inputs["password"] for name, module in stack.modules.items()}
    assert {name: source.name for name, source in sources.items() if isinstance(source, FromEnv)} == {
        "2nd": "_2ND_PASSWORD",
        "my-db": "MY_DB_PASSWORD",
    }


REMOTE = """
data "terraform_remote_state" "network" {
  backend = "s3"
  config = {
    bucket = "acme"
    key    = "net.tfstate"
    region = var.region
  }
}
variable "region" { default = "eu-central-1" }
"""


def test_a_module_that_reads_anothers_state_comes_after_it(tmp_path: Path) -> None:
    files = {"vm/main.tf": s3("vm.tfstate") + REMOTE, "network/main.tf": s3("net.tfstate")}
    stack = loaded(tmp_path, files)
    assert stack.modules["vm"].needs == ("network",)
    assert "data.terraform_remote_state.network (vm/main.tf:" in text_of(tmp_path, files)


def test_a_state_that_no_module_keeps_is_said(tmp_path: Path) -> None:
    text = text_of(tmp_path, {"vm/main.tf": s3("vm.tfstate") + REMOTE})
    assert "# reads a state that no module here is known to keep, s3://acme/net.tfstate" in text
    assert "depends_on" not in text


def test_states_of_local_files_stay_where_they_are_when_they_exist_or_others_read_them(tmp_path: Path) -> None:
    reads = """
        data "terraform_remote_state" "it" {
          backend = "local"
          config  = { path = "../read/terraform.tfstate" }
        }
        """
    files = {
        "read/main.tf": EMPTY,
        "reader/main.tf": reads,
        "old/main.tf": EMPTY,
        "old/terraform.tfstate": STATE,
        "fresh/main.tf": EMPTY,
    }
    stack = loaded(tmp_path, files)
    states = {name: module.state.settings.get("path") for name, module in stack.modules.items()}
    assert states == {
        "read": "read/terraform.tfstate",
        "old": "old/terraform.tfstate",
        "reader": None,
        "fresh": None,
    }
    assert stack.modules["reader"].needs == ("read",)


def test_one_bucket_for_all_states_becomes_the_ledgers_too(tmp_path: Path) -> None:
    files = {"a/main.tf": s3("a", region="eu-central-1"), "b/main.tf": s3("b", region="eu-central-1")}
    stack = loaded(tmp_path, files)
    assert (stack.ledger.bucket, stack.ledger.prefix) == ("acme", "hybridwrap/")
    assert stack.ledger.settings == {"region": "eu-central-1"}


def test_the_ledger_goes_to_the_server_that_has_the_states(tmp_path: Path) -> None:
    here = s3("a").replace("key ", 'endpoints = { s3 = "http://s3:9000" }\n    key ', 1)
    stack = loaded(tmp_path, {"a/main.tf": here})
    assert stack.ledger.settings == {"endpoint": "http://s3:9000"}


def test_several_buckets_are_named_and_none_is_chosen(tmp_path: Path) -> None:
    files = {"a/main.tf": s3("a"), "b/main.tf": s3("b", "other")}
    assert loaded(tmp_path, files).ledger.bucket == ""
    assert "# The states lie in acme, other." in text_of(tmp_path, files)


def test_a_backend_block_that_is_not_complete_is_never_completed_by_a_guess(tmp_path: Path) -> None:
    files = {
        "a/main.tf": s3("a"),
        "b/main.tf": 'terraform {\n  backend "s3" { bucket = "acme" }\n}\n' + EMPTY,
        "b/one.tfbackend": 'key = "b"\n',
        "b/two.tfbackend": 'key = "c"\n',
    }
    (problem,) = problems(tmp_path, files)
    assert 'backend "s3" of module "b" lacks key' in problem
    assert "# backend_config: [b/one.tfbackend, b/two.tfbackend]" in text_of(tmp_path, files)


def test_libraries_that_nobody_calls_are_only_a_comment_unless_there_is_nothing_else(tmp_path: Path) -> None:
    library = {"modules/library/main.tf": EMPTY}
    found = draft(tmp_path / "with", {**library, "live/main.tf": s3("live"), "modules/ran/main.tf": s3("ran")})
    assert found.doubtful == {"library"}
    assert "  # library: {source: modules/library}" in manifest_text(found)
    assert not draft(tmp_path / "alone", library).doubtful


def test_what_cannot_be_read_is_a_module_with_a_todo(tmp_path: Path) -> None:
    text = text_of(tmp_path, {"a/main.tf": "resource {{{\n"})
    assert "# TODO: it could not be read: a/main.tf:1" in text


def test_opentofus_own_files_make_it_the_engine(tmp_path: Path) -> None:
    assert yaml.safe_load(text_of(tmp_path, {"a/main.tofu": EMPTY}))["engine"] == {"program": "tofu"}


def test_texts_of_others_cannot_break_out_of_a_comment(tmp_path: Path) -> None:
    files = {"a/main.tf": 'variable "x" {\n  description = "one\\nevil: true\\u2028evil: true"\n}\n'}
    assert set(yaml.safe_load(text_of(tmp_path, files))) == {"version", "stack", "modules"}
