"""One stack out of many files: paths, layers, names, and errors that name the right file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from hybridwrap.adapters.manifest import find_manifest
from hybridwrap.domain.stack import FromFile, Literal, StateSettings
from hybridwrap.errors import InvalidManifest, UsageError
from tests.support.manifests import EMPTY, NETWORK, VM, load, problems, write_stack

MAIN = """
    version: 1
    stack: shop
    include: ["live/*/hybridwrap.yaml"]
    defaults:
      inputs: {size: 1, tags: {owner: main, tier: base}}
      env: {AWS_PROFILE: dev, TEAM: none}
      var_files: ["{environment}.tfvars"]
    environments:
      dev: {}
      prod:
        defaults: {env: {AWS_PROFILE: prod}}
        modules:
          vm: {inputs: {size: 30}}
          network: {source: network-v2}
          extra: {source: live/web/vm, inputs: {subnet_id: e}}
"""
NET = """
    version: 1
    defaults: {inputs: {tags: {owner: net}}}
    modules:
      network: {source: ../../network, inputs: {cidr: 10.0.0.0/16}}
"""
WEB = """
    defaults:
      inputs: {size: 2}
      env: {TEAM: web}
      var_files: [web.tfvars]
    environments:
      prod:
        defaults: {env: {TEAM: web-prod}}
        modules: {old: {enabled: false}, new: {source: vm, inputs: {subnet_id: n}}}
    modules:
      vm:
        source: vm
        inputs: {subnet_id: "{{ modules.network.subnet_id }}", password: {from_file: "secret.txt"}}
        state: {local: {path: "states/{environment}/{module}"}}
      old: {source: vm, inputs: {subnet_id: o, size: 5}}
"""


def build(root: Path, **files: str) -> Path:
    """A stack in three files; `net`, `web` or others of `files` say what a team's file holds instead."""
    sources = {"network": NETWORK, "network-v2": NETWORK, "live/web/vm": VM, "live/net/x": EMPTY}
    file = write_stack(root, MAIN, sources)
    for name in ("dev", "prod", "live/web/web"):
        (root / f"{name}.tfvars").write_text("", encoding="utf-8")
    for team, text in {"net": NET, "web": WEB, **files}.items():
        (root / "live" / team).mkdir(exist_ok=True)
        (root / "live" / team / "hybridwrap.yaml").write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return file


def test_paths_in_each_file_are_relative_to_that_file(tmp_path: Path) -> None:
    stack = load(build(tmp_path), "dev")
    vm = stack.modules["vm"]
    assert (stack.modules["network"].source, vm.source) == (tmp_path / "network", tmp_path / "live/web/vm")
    assert vm.var_files == (tmp_path / "live/web/web.tfvars",)
    assert stack.modules["network"].var_files == (tmp_path / "dev.tfvars",)
    assert vm.inputs["password"] == FromFile(tmp_path / "live/web/secret.txt", "live/web/secret.txt")
    assert vm.state == StateSettings("local", {"path": "live/web/states/dev/vm"})


def test_the_nearer_layer_wins(tmp_path: Path) -> None:
    dev, prod = (load(build(tmp_path), environment).modules for environment in ("dev", "prod"))
    assert dev["network"].inputs["tags"] == Literal({"owner": "net", "tier": "base"})
    assert [dev[name].inputs["size"] for name in ("vm", "old")] == [Literal(2), Literal(5)]
    assert prod["vm"].inputs["size"] == Literal(30)
    assert dict(dev["vm"].env) == {"AWS_PROFILE": "dev", "TEAM": "web"}
    assert dict(prod["vm"].env) == {"AWS_PROFILE": "prod", "TEAM": "web-prod"}
    assert dict(prod["network"].env) == {"AWS_PROFILE": "prod", "TEAM": "none"}


def test_an_environment_adds_drops_and_re_sources_modules_of_any_file(tmp_path: Path) -> None:
    dev, prod = (load(build(tmp_path), environment).modules for environment in ("dev", "prod"))
    assert set(dev) == {"network", "vm", "old"}
    assert set(prod) == {"network", "vm", "new", "extra"}
    assert prod["network"].source == tmp_path / "network-v2"
    assert prod["extra"].source == prod["new"].source == tmp_path / "live/web/vm"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "modules:\n  vm: {source: x}\n",
            "live/z/hybridwrap.yaml:2:3  modules.vm: a module of this name is in live/web/hybridwrap.yaml:10 already",
        ),
        (
            "ledger: {folder: x}\nmodules: {}\n",
            "live/z/hybridwrap.yaml:1:1  ledger: `ledger` can only be said in the manifest that includes this file",
        ),
        ("modules:\n  a: {sauce: x}\n", 'live/z/hybridwrap.yaml:2:7  modules.a.sauce: unknown field "sauce"'),
        ("module: {}\n", 'live/z/hybridwrap.yaml:1:1  module: unknown field "module"; did you mean "modules"?'),
        ("modules: {a: {source: x}\n", "live/z/hybridwrap.yaml:2:1  not YAML"),
        ("- a\n", "live/z/hybridwrap.yaml:1:1  must be a mapping, this is a list"),
        ("", "live/z/hybridwrap.yaml  is empty"),
        (
            "environments: {prd: {}}\n",
            'live/z/hybridwrap.yaml:1:16  environments.prd: the manifest has no environment "prd"; did you mean',
        ),
        ("modules:\n  a: {source: gone}\n", "live/z/hybridwrap.yaml:2:15  modules.a.source: no folder gone"),
        (
            "modules:\n  a:\n    source: ../../network\n    inputs: {cidr: '{{ modules.nett.id }}'}\n",
            'live/z/hybridwrap.yaml:4:20  modules.a.inputs.cidr: no module "nett"; there is',
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_name_and_line(tmp_path: Path, text: str, complaint: str) -> None:
    found = problems(build(tmp_path, z=text), "dev")
    assert any(problem.startswith(complaint) for problem in found), found


def test_what_is_wrong_in_several_files_is_said_at_once(tmp_path: Path) -> None:
    found = problems(build(tmp_path, y="modules: [\n", z="a: b: c\n"), "dev")
    assert [problem.partition(":")[0] for problem in found] == ["live/y/hybridwrap.yaml", "live/z/hybridwrap.yaml"]


@pytest.mark.parametrize("pattern", ["teams/*.yaml", "hybridwrap.yaml", "live"])
def test_a_pattern_that_matches_nothing_is_an_error(tmp_path: Path, pattern: str) -> None:
    file = write_stack(tmp_path, f"version: 1\nstack: s\ninclude: [{pattern}]\n")
    (tmp_path / "live").mkdir()
    assert problems(file) == [f"hybridwrap.yaml:3:11  include[0]: no file matches {pattern}"]


def test_a_file_that_two_patterns_match_is_read_once_and_a_hidden_one_is_not(tmp_path: Path) -> None:
    main = "version: 1\nstack: s\ninclude: ['**/hybridwrap.yaml', 'a/*']\n"
    file = write_stack(tmp_path, main, {"m": EMPTY})
    for folder, text in {
        "a": "modules: {x: {source: ../m}}",
        ".terraform/b": "modules: {y: {source: ../../m}}",
    }.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "hybridwrap.yaml").write_text(text, encoding="utf-8")
    assert set(load(file).modules) == {"x"}


def test_a_manifest_without_modules_of_its_own_needs_no_modules(tmp_path: Path) -> None:
    assert problems(write_stack(tmp_path, "version: 1\nstack: s\n")) == ['hybridwrap.yaml:1:1  "modules" is missing']


def test_a_default_that_no_module_of_its_file_takes_is_said(tmp_path: Path) -> None:
    web = WEB.replace("inputs: {size: 2}", "inputs: {size: 2, cidr: c}")
    warnings = load(build(tmp_path, web=web), "dev").warnings
    assert [warning.replace(f"{tmp_path}/", "") for warning in warnings] == [
        'live/web/hybridwrap.yaml:2:21  defaults.inputs.cidr: no module of this file declares the variable "cidr"'
    ]


def _remove(root: Path) -> None:
    (root / "live/net/hybridwrap.yaml").unlink()


def _add(root: Path) -> None:
    (root / "live/new").mkdir()
    (root / "live/new/hybridwrap.yaml").write_text("modules: {vm: {source: x}}\n", encoding="utf-8")


def _change(root: Path) -> None:
    (root / "live/net/hybridwrap.yaml").write_text("modules: {}\n", encoding="utf-8")


def _swap(root: Path) -> None:
    """The same texts, in each other's places."""
    (root / "live/net/hybridwrap.yaml").rename(root / "live/kept")
    (root / "live/web/hybridwrap.yaml").rename(root / "live/net/hybridwrap.yaml")
    (root / "live/kept").rename(root / "live/web/hybridwrap.yaml")


@pytest.mark.parametrize("change", [_remove, _add, _change, _swap])
def test_an_included_file_that_comes_changes_or_goes_is_noticed(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    file = build(tmp_path)
    load(file, "dev")
    change(tmp_path)
    with pytest.raises(InvalidManifest):
        load(file, "dev")


def test_a_remembered_stack_of_many_files_is_the_same_stack(tmp_path: Path) -> None:
    file = build(tmp_path)
    assert load(file, "prod") == load(file, "prod")


def test_below_an_included_file_its_manifest_is_found(tmp_path: Path) -> None:
    file = build(tmp_path, lone="modules: {}\n")
    assert find_manifest(tmp_path / "live/web/vm") == file
    assert find_manifest(tmp_path / "live/web") == file
    (tmp_path / "live/far/deep").mkdir(parents=True)
    (tmp_path / "live/far/deep/hybridwrap.yaml").write_text("modules: {}\n", encoding="utf-8")
    assert find_manifest(tmp_path / "live/far/deep") == tmp_path / "live/far/deep/hybridwrap.yaml"  # nobody includes it


def test_a_broken_manifest_is_found_all_the_same(tmp_path: Path) -> None:
    write_stack(tmp_path, "version: 1\nstack: s\nmodules: {}\n")
    file = write_stack(tmp_path / "inner", "modules: [\n")
    assert find_manifest(tmp_path / "inner") == file


def test_an_included_file_alone_is_no_manifest(tmp_path: Path) -> None:
    build(tmp_path)
    with pytest.raises(
        UsageError, match=r"live/net/hybridwrap\.yaml is a part of .*/hybridwrap\.yaml, which includes it"
    ):
        load(tmp_path / "live/net/hybridwrap.yaml")


def test_a_missing_manifest_is_said_as_before(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        load(tmp_path / "hybridwrap.yaml")
