"""Which environments `new` finds, what tells their states apart, and what it can't know and says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from hybridwrap.adapters.manifest.loading import environments_of, read_stack
from hybridwrap.adapters.scaffold.drafting import draft_stack
from hybridwrap.adapters.scaffold.evidence import Patterns
from hybridwrap.adapters.scaffold.writing import manifest_text
from hybridwrap.domain.stack import Stack
from hybridwrap.errors import UsageError
from tests.support.engine_states import STATE
from tests.unit.test_scaffold import EMPTY, s3, tree

SIZE = 'variable "size" {}\n' + EMPTY
PARTIAL = 'terraform {\n  backend "s3" {}\n}\n' + SIZE
WHOLE = 'bucket = "acme"\nkey = "x"\n'


def text_of(root: Path, files: Mapping[str, str], patterns: Patterns) -> str:
    return manifest_text(draft_stack(tree(root, files), "", patterns))


def stacks(root: Path, files: Mapping[str, str], patterns: Patterns | None = None) -> dict[str, Stack]:
    """The stack in each of its environments, all of them without a problem."""
    file = tree(root, files) / "hybridwrap.yaml"
    file.write_text(text_of(root, {}, patterns or Patterns()))
    found = {name: read_stack(file, environment=name, environ={}) for name in environments_of(file)}
    assert [problem for _, problems in found.values() for problem in problems] == []
    return {name: stack for name, (stack, _) in found.items()}


def where(found: Mapping[str, Stack]) -> dict[str, list[str]]:
    return {name: sorted(stack.modules) for name, stack in found.items()}


@pytest.mark.parametrize(
    ("file", "written"),
    [
        ("vm/env/{}.tfvars", "vm/env/{}.tfvars"),
        ("vm/environments/{}/terraform.tfvars", "vm/environments/{}/terraform.tfvars"),
        ("vm/{}.tfvars", "vm/{}.tfvars"),
        ("vm/terraform.{}.tfvars", "vm/terraform.{}.tfvars"),
        ("vars/{}.tfvars.json", "vars/{}.tfvars.json"),
        ("env/{}/vm.tfvars", "env/{}/vm.tfvars"),
    ],
)
def test_variable_files_of_the_usual_names_are_found(tmp_path: Path, file: str, written: str) -> None:
    value = '{"size": 1}' if file.endswith("json") else "size = 1\n"
    files = {"vm/main.tf": SIZE, **{file.format(name): value for name in ("dev", "prod")}}
    found = stacks(tmp_path, files)
    assert where(found) == {"dev": ["vm"], "prod": ["vm"]}
    assert found["prod"].modules["vm"].var_files == (tmp_path / written.format("prod"),)


def test_files_that_no_environment_is_called_by_are_left_as_a_comment(tmp_path: Path) -> None:
    files = {"vm/main.tf": EMPTY, "vm/common.tfvars": "size = 1\n", "vm/blue.tfvars": "size = 1\n"}
    assert where(stacks(tmp_path, files)) == {"default": ["vm"]}
    assert "# var_files: [vm/blue.tfvars, vm/common.tfvars]" in text_of(tmp_path, {}, Patterns())


def test_a_file_for_all_modules_is_only_for_those_that_declare_what_it_sets(tmp_path: Path) -> None:
    files = {"vm/main.tf": SIZE, "net/main.tf": EMPTY, "env/dev.tfvars": "size = 1\n"}
    found = stacks(tmp_path, files)
    assert [len(found["dev"].modules[name].var_files) for name in ("net", "vm")] == [0, 1]


@pytest.mark.parametrize("file", ["live/{}/terraform.tfvars", "vars/{}.tfvars"])
def test_a_folder_for_each_environment_is_one_environment_and_takes_its_own_files(tmp_path: Path, file: str) -> None:
    files = {f"live/{name}/vm/main.tf": s3(name) + SIZE for name in ("dev", "prod")}
    files |= {file.format(name): "size = 1\n" for name in ("dev", "prod")}
    stack = stacks(tmp_path, files)["default"]
    assert {name: module.var_files for name, module in stack.modules.items()} == {
        f"{name}-vm": (tmp_path / file.format(name),) for name in ("dev", "prod")
    }


def test_a_pattern_of_ones_own_is_taken_at_its_word(tmp_path: Path) -> None:
    files = {"vm/main.tf": PARTIAL, "cfg/vm-blue.vars": "size = 1\n", "cfg/blue.be": WHOLE, "cfg/green.be": WHOLE + "#"}
    files |= {"cfg/vm-green.vars": "size = 1\n", "cfg/green.be": 'bucket = "acme"\nkey = "y"\n'}
    found = stacks(tmp_path, files, Patterns(["cfg/{module}-{environment}.vars"], ["../cfg/{environment}.be"]))
    vm = found["green"].modules["vm"]
    assert vm.var_files == (tmp_path / "cfg/vm-green.vars",)
    assert vm.backend_config == (tmp_path / "cfg/green.be",)


@pytest.mark.parametrize("patterns", [Patterns(["cfg/{enviroment}.vars"]), Patterns([], ["{environment}.be"])])
def test_a_pattern_that_fits_no_file_is_an_error_and_no_manifest_without_it(tmp_path: Path, patterns: Patterns) -> None:
    with pytest.raises(UsageError, match=r"no file matches --(var-file cfg/|backend-config \{environment)"):
        stacks(tmp_path, {"vm/main.tf": PARTIAL, "cfg/blue.vars": "size = 1\n", "cfg/blue.be": WHOLE}, patterns)


def test_modules_with_one_state_get_an_environment_of_their_own(tmp_path: Path) -> None:
    files = {
        "vm/main.tf": PARTIAL,
        "dns/main.tf": s3("dns"),
        "lab/main.tf": PARTIAL,
        "lab/backend/dev.tfbackend": 'bucket = "acme"\nkey = "lab"\n',
        "lab/terraform.tfvars": "size = 1\n",
        **{f"vm/env/{name}.tfvars": "size = 1\n" for name in ("dev", "prod")},
        **{f"vm/{name}.tfbackend": f'bucket = "acme"\nkey = "{name}"\n' for name in ("dev", "prod")},
    }
    found = stacks(tmp_path, files)
    assert where(found) == {"dev": ["lab", "vm"], "prod": ["vm"], "shared": ["dns"]}


def test_an_environment_without_a_variable_file_gets_none(tmp_path: Path) -> None:
    files = {
        "vm/main.tf": 'terraform {\n  backend "s3" {}\n}\nvariable "size" { default = 1 }\n',
        "vm/env/dev.tfvars": "size = 2\n",
        **{f"vm/{name}.tfbackend": f'bucket = "acme"\nkey = "{name}"\n' for name in ("dev", "prod")},
    }
    found = stacks(tmp_path, files)
    assert [len(found[name].modules["vm"].var_files) for name in ("dev", "prod")] == [1, 0]


def test_local_workspaces_are_environments_and_so_is_the_default_one_that_holds_something(tmp_path: Path) -> None:
    files = {
        "cdn/main.tf": EMPTY,
        "cdn/terraform.tfstate": STATE,
        "cdn/terraform.tfstate.d/dev/terraform.tfstate": STATE,
    }
    found = stacks(tmp_path, files)
    assert {name: stack.modules["cdn"].workspace for name, stack in found.items()} == {
        "default": "default",
        "dev": "dev",
    }


def test_workspaces_in_a_bucket_can_only_be_guessed_and_that_is_said(tmp_path: Path) -> None:
    files = {"queue/main.tf": s3("q") + SIZE, **{f"queue/env/{n}.tfvars": "size = 1\n" for n in ("dev", "prod")}}
    found = stacks(tmp_path / "guess", files)
    assert found["dev"].modules["queue"].workspace == "dev"
    assert "is a guess: they can't be seen here; `terraform workspace list`" in text_of(
        tmp_path / "guess", {}, Patterns()
    )

    seen = {"queue/main.tf": s3("q"), "queue/.terraform/environment": "qa"}
    assert where(stacks(tmp_path / "seen", seen)) == {"qa": ["queue"]}
    assert "workspaces seen on this machine: qa; others can't be seen" in text_of(tmp_path / "seen", {}, Patterns())


def test_one_state_and_several_variable_files_is_a_question(tmp_path: Path) -> None:
    files = {"vm/main.tf": 'variable "size" { default = 1 }\n', "vm/terraform.tfstate": STATE}
    files |= {f"vm/env/{name}.tfvars": "size = 1\n" for name in ("dev", "prod")}
    assert where(stacks(tmp_path, files)) == {"default": ["vm"]}
    assert "one state, and variable files for dev, prod: name the one" in text_of(tmp_path, {}, Patterns())


def test_a_lone_file_above_completes_the_blocks_that_name_their_keys(tmp_path: Path) -> None:
    files = {
        "live/vm/main.tf": 'terraform {\n  backend "s3" { key = "vm" }\n}\n' + EMPTY,
        "backend.hcl": 'bucket = "acme"\n',
    }
    assert stacks(tmp_path, files)["default"].modules["vm"].backend_config == (tmp_path / "backend.hcl",)


def test_a_block_that_nothing_completes_is_told_what_its_last_init_knew(tmp_path: Path) -> None:
    record = '{"backend": {"type": "s3", "config": {"bucket": "acme", "key": "vm", "secret_key": "hush"}}}'
    text = text_of(tmp_path, {"vm/main.tf": PARTIAL, "vm/.terraform/terraform.tfstate": record}, Patterns())
    assert "# at its last init on this machine it was {bucket: acme, key: vm}" in text
    assert "hush" not in text
