"""`--changed`: which modules a change concerns, by which file, compared with which commit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from hybridwrap.adapters.stack_changes import changed_since
from hybridwrap.domain.changes import Changed
from hybridwrap.errors import UsageError
from tests.support.manifests import load, write_stack
from tests.support.repository import Checkout, repository

MANIFEST = """
    version: 1
    stack: shop
    state: {local: {path: "states/{environment}/{module}.tfstate"}}
    defaults:
      inputs: {tags: a, size: 1}
    environments:
      dev: {}
      prod: {modules: {net: {inputs: {cidr: 10.9.0.0/16}}}}
    modules:
      net:
        source: modules/net
        inputs: {cidr: 10.0.0.0/16}
        var_files: ["env/{environment}.tfvars"]
      vm: {source: modules/vm, inputs: {id: "{{ modules.net.id }}"}}
      job: {source: modules/job, watch: ["../policies/**/*.rego"]}
"""
NET = """
    variable "cidr" {}
    variable "tags" {}
    variable "zone" { default = "" }
    output "id" { value = var.cidr }
"""
VM = """
    variable "id" {}
    module "disk" { source = "../shared/disk" }
    locals {
      user_data = file("cloud-init.yaml")
      names     = fileset("${path.module}/keys", "*.pub")
      policy    = "../../../policies/a.json"
      boot      = "scripts"
      described = [jsondecode(file(local.policy)), file("${local.boot}/boot.sh")]
    }
"""
DISK = 'locals { settings = jsondecode(file("${path.module}/disk.json")) }'
JOB = """
    variable "tags" { default = "" }
    locals {
      text   = templatefile("${path.module}/templates/${terraform.workspace}.tpl", {})
      script = "${path.root}/run.sh"
    }
"""
SOURCES = {"modules/net": NET, "modules/vm": VM, "modules/shared/disk": DISK, "modules/job": JOB}
OTHERS = {
    "infra/env/dev.tfvars": "", "infra/env/prod.tfvars": "", "infra/modules/shared/disk/disk.json": "{}",
    "infra/modules/vm/cloud-init.yaml": "", "infra/modules/vm/keys/ana.pub": "", "infra/modules/job/run.sh": "",
    "infra/modules/job/templates/default.tpl": "", "policies/deep/a.rego": "", "policies/a.txt": "",
    "infra/modules/net/README.md": "", "infra/modules/net/.terraform.lock.hcl": "", "README.md": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a stack in `infra`, one commit on main."""
    work = repository(tmp_path_factory.mktemp("pristine") / "work")
    write_stack(work.root / "infra", MANIFEST, SOURCES)
    for name, text in OTHERS.items():
        work.write(name, text)
    work.commit("first")
    return work.root


@pytest.fixture
def work(pristine: Path, tmp_path: Path) -> Checkout:
    """A copy of it."""
    return Checkout(Path(shutil.copytree(pristine, tmp_path / "work", symlinks=True)))


def changed(work: Checkout, ref: str = "HEAD", environment: str = "dev", **environ: str) -> Changed:
    return changed_since(load(work.root / "infra/hybridwrap.yaml", environment), ref, environ)


def names(work: Checkout, ref: str = "HEAD", environment: str = "dev") -> Mapping[str, tuple[str, ...]]:
    return changed(work, ref, environment).modules


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("infra/modules/net/main.tf", "net"),
        ("infra/modules/net/new.tf", "net"),
        ("infra/modules/net/new.tofu", "net"),
        ("infra/modules/net/x.auto.tfvars", "net"),
        ("infra/modules/net/.terraform.lock.hcl", "net"),
        ("infra/env/dev.tfvars", "net"),
        ("infra/modules/shared/disk/main.tf", "vm"),
        ("infra/modules/shared/disk/disk.json", "vm"),
        ("infra/modules/vm/cloud-init.yaml", "vm"),
        ("infra/modules/vm/keys/bob.pub", "vm"),
        ("policies/a.json", "vm"),
        ("infra/modules/vm/scripts/boot.sh", "vm"),
        ("infra/modules/job/run.sh", "job"),
        ("infra/modules/job/templates/prod.tpl", "job"),
        ("policies/deep/a.rego", "job"),
        ("policies/b.rego", "job"),
    ],
)
def test_a_module_counts_when_anything_that_makes_it_has_changed(work: Checkout, path: str, module: str) -> None:
    work.write(path, "# changed\n" + ((work.root / path).read_text() if (work.root / path).exists() else ""))
    reason = path.removeprefix("infra/") if path.startswith("infra/") else f"../{path}"
    assert names(work) == {module: (reason,)}


def test_what_is_committed_staged_or_untracked_counts_alike(work: Checkout) -> None:
    before = work.git("rev-parse", "HEAD")
    work.write("infra/modules/net/main.tf", NET.replace('default = ""', "default = 1"))
    work.commit()
    work.write("infra/modules/vm/keys/ana.pub", "staged")
    work.git("add", ".")
    work.write("infra/modules/job/new.tf", "locals {}")
    assert set(names(work, before)) == {"net", "vm", "job"}


@pytest.mark.parametrize(
    "path",
    [
        "README.md", "infra/modules/net/README.md", "infra/modules/net/other.tfvars", "infra/env/prod.tfvars",
        "policies/a.txt", "infra/modules/net/hybridwrap_override.tf.json", "infra/modules/net/.terraform/modules/x.tf",
        "infra/.hybridwrap/cache/x.tf", "infra/modules/shared/disk/README.md",
    ],
)  # fmt: skip
def test_what_makes_no_module_is_no_change(work: Checkout, path: str) -> None:
    work.write(path, '{"terraform": {}}')
    assert names(work) == {}


@pytest.mark.parametrize("path", ["infra/modules/job/templates/default.tpl", "policies/deep/a.rego"])
def test_a_file_that_is_gone_counts(work: Checkout, path: str) -> None:
    (work.root / path).unlink()
    assert list(names(work)) == ["job"]


def test_a_renamed_file_counts_where_it_was_and_where_it_is(work: Checkout) -> None:
    work.git("mv", "infra/modules/shared/disk/disk.json", "infra/modules/job/templates/disk.json")
    assert set(names(work)) == {"vm", "job"}


def test_a_linked_file_counts_when_what_it_leads_to_has_changed(work: Checkout) -> None:
    work.write("common/provider.tf", "locals {}")
    (work.root / "infra/modules/net/provider.tf").symlink_to("../../../common/provider.tf")
    before = work.commit()
    work.write("common/provider.tf", "locals { a = 1 }")
    assert names(work, before) == {"net": ("../common/provider.tf",)}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("cidr: 10.0.0.0/16", 'cidr:   "10.0.0.0/16"', {}),
        ("cidr: 10.0.0.0/16", "cidr: 10.1.0.0/16", {"net": "inputs.cidr"}),
        ("tags: a", "tags: b", {"net": "inputs.tags", "job": "inputs.tags"}),
        ("size: 1", "size: 2", {}),
        ("cidr: 10.9.0.0/16", "cidr: 10.8.0.0/16", {}),
        ("states/{env", "state/{env", {"net": "state", "vm": "state", "job": "state"}),
        ("vm: {source", "vm: {tags: [web], source", {"vm": "tags"}),
    ],
    ids=["form", "input", "default", "default nobody takes", "other environment", "state", "tags"],
)
def test_an_entry_counts_by_what_it_says_not_by_its_text(
    work: Checkout, old: str, new: str, expected: Mapping[str, str]
) -> None:
    manifest = work.root / "infra/hybridwrap.yaml"
    assert old in manifest.read_text()
    manifest.write_text(manifest.read_text().replace(old, new))
    assert names(work) == {name: (f"hybridwrap.yaml: {field}",) for name, field in expected.items()}


def test_the_overlay_of_the_environment_counts_in_that_environment(work: Checkout) -> None:
    manifest = work.root / "infra/hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("10.9.0.0", "10.8.0.0"))
    assert names(work, environment="prod") == {"net": ("hybridwrap.yaml: inputs.cidr",)}


def test_a_new_module_counts_and_one_that_is_gone_is_named(work: Checkout) -> None:
    manifest = work.root / "infra/hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("job: {source", "task: {source"))
    found = changed(work)
    assert found.modules == {"task": ("hybridwrap.yaml: new",)}
    assert found.gone == ("job",)


def test_with_a_manifest_that_was_not_there_or_broken_then_every_module_counts(work: Checkout) -> None:
    text = (work.root / "infra/hybridwrap.yaml").read_text()
    work.write("infra/hybridwrap.yaml", "modules: [")
    broken = work.commit()
    work.git("rm", "-q", "infra/hybridwrap.yaml")
    absent = work.commit()
    work.write("infra/hybridwrap.yaml", text)
    assert set(names(work, absent).values()) == {("hybridwrap.yaml: new",)}
    assert set(names(work, broken).values()) == {("hybridwrap.yaml: what was said of it then could not be read",)}


def test_entries_in_included_files_count_by_their_own_file(work: Checkout) -> None:
    manifest, team = work.root / "infra/hybridwrap.yaml", "infra/teams/a/hybridwrap.yaml"
    manifest.write_text(
        manifest.read_text().replace("modules:\n", 'include: ["teams/*/hybridwrap.yaml"]\nmodules:\n', 1)
    )
    work.write(
        team, "defaults: {inputs: {zone: a}}\nmodules: {own: {source: ../../modules/net, inputs: {cidr: x, tags: y}}}"
    )
    before = work.commit()
    work.write(team, (work.root / team).read_text().replace("zone: a", "zone: b"))
    assert names(work, before) == {"own": ("teams/a/hybridwrap.yaml: inputs.zone",)}


def test_what_lies_in_no_repository_counts_as_nobody_can_tell(work: Checkout, tmp_path: Path) -> None:
    write_stack(tmp_path / "elsewhere", "", {"lib": "locals {}"})
    manifest = work.root / "infra/hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("modules/job,", "../../elsewhere/lib,"))
    before = work.commit()
    assert list(names(work, before)) == ["job"]
    assert "is not in this repository" in names(work, before)["job"][0]


def test_a_submodule_that_moved_on_counts_for_what_is_in_it(work: Checkout, tmp_path: Path) -> None:
    library = repository(tmp_path / "library")
    library.write("queue/main.tf", "locals {}")
    library.commit()
    work.git("submodule", "--quiet", "add", f"file://{library.root}", "infra/modules/lib")
    manifest = work.root / "infra/hybridwrap.yaml"
    manifest.write_text(manifest.read_text().replace("modules/job,", "modules/lib/queue,"))
    before = work.commit()
    assert names(work, before) == {}
    inside = Checkout(work.root / "infra/modules/lib")
    inside.write("queue/main.tf", "locals { a = 1 }")
    inside.commit()
    work.commit()
    assert names(work, before) == {"job": ("modules/lib",)}


def branched(work: Checkout) -> str:
    """A branch with one change of `job`, while main has moved on with one of `net`; where they parted."""
    parted = work.git("rev-parse", "HEAD")
    work.write("infra/modules/net/more.tf", "locals {}")
    work.commit("main moves on")
    work.git("checkout", "--quiet", "-b", "topic", parted)
    work.write("infra/modules/job/more.tf", "locals {}")
    work.commit("topic")
    return parted


def test_without_a_commit_a_branch_is_compared_with_where_it_left_the_default_one(work: Checkout) -> None:
    parted = branched(work)
    found = changed(work, "")
    assert (found.base.commit, str(found.base)) == (parted, f"{parted[:12]} (the merge base with main)")
    assert list(found.modules) == ["job"]
    assert list(names(work, "main")) == ["job"], "so it is with a branch that is named"


@pytest.mark.parametrize("variable", ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_DEFAULT_BRANCH"])
def test_a_pull_request_is_compared_with_the_branch_that_it_goes_to(
    work: Checkout, tmp_path: Path, variable: str
) -> None:
    parted = branched(work)
    work.git("branch", "release", parted)
    clone = work.clone(tmp_path / "clone")
    found = changed(clone, "", **{variable: "release"})
    assert found.base.told == "origin/release"
    assert list(found.modules) == ["job"]


def test_a_commit_of_the_default_branch_is_compared_with_the_one_before_it(work: Checkout) -> None:
    work.write("infra/modules/net/more.tf", "locals {}")
    work.commit()
    work.write("infra/modules/job/more.tf", "locals {}")
    found = changed(work, "")
    assert set(found.modules) == {"net", "job"}, "with what is not committed"
    assert found.base.told == "the commit before HEAD, which is on main"


def test_the_first_commit_is_compared_with_nothing(tmp_path: Path) -> None:
    work = repository(tmp_path / "work")
    write_stack(work.root / "infra", MANIFEST, SOURCES)
    work.write("infra/env/dev.tfvars", "")
    assert set(names(work, "")) == {"net", "vm", "job"}, "nor is it without any commit"
    work.commit()
    assert changed(work, "").base.told == "HEAD is the first commit"
    assert set(names(work, "")) == {"net", "vm", "job"}


def test_a_push_of_several_commits_is_compared_with_what_it_replaced(work: Checkout, tmp_path: Path) -> None:
    before = work.git("rev-parse", "HEAD")
    for module in ("net", "job"):
        work.write(f"infra/modules/{module}/more.tf", "locals {}")
        work.commit()
    event = {"before": before, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    github = {"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}
    branch = {"CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}
    gitlab = {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BEFORE_SHA": before, **branch}
    for environ in (github, gitlab):
        found = changed(work, "", **environ)
        assert (found.base.commit, set(found.modules)) == (before, {"net", "job"})


@pytest.mark.parametrize(
    ("ref", "environ", "message"),
    [
        ("", {}, "this clone has nothing from before HEAD: it is shallow"),
        ("", {"GITHUB_BASE_REF": "develop"}, 'this clone has no commit "origin/develop": it is shallow'),
        ("v1", {}, 'this clone has no commit "v1": it is shallow'),
        ("--output=x", {}, 'this clone has no commit "--output=x": it is shallow'),
    ],
)
def test_a_shallow_clone_says_so_and_what_to_ask_for(
    work: Checkout, tmp_path: Path, ref: str, environ: dict[str, str], message: str
) -> None:
    work.commit("second")
    clone = work.clone(tmp_path / "clone", "--depth=1")
    with pytest.raises(UsageError) as caught:
        changed(clone, ref, **environ)
    assert caught.value.message.startswith(message)
    assert "fetch-depth: 0" in caught.value.hint


def test_outside_of_git_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    if any((parent / ".git").exists() for parent in tmp_path.parents):
        pytest.skip("the temporary folder is in a repository")
    file = write_stack(tmp_path, MANIFEST, SOURCES)
    (tmp_path / "env").mkdir()
    (tmp_path / "env/dev.tfvars").touch()
    with pytest.raises(UsageError, match="git can't say what has changed"):
        changed_since(load(file, "dev"), "", {})


def test_of_a_family_the_instance_counts_whose_value_has_changed(work: Checkout) -> None:
    manifest = work.root / "infra/hybridwrap.yaml"
    each = "  vm: {for_each: {a: 1, b: BBB}, source: modules/vm, inputs: {id: '{{ each.value }}'}}\n"
    text = manifest.read_text().replace("  vm: {", "  old: {enabled: false, ").rstrip() + "\n"
    manifest.write_text(text + each.replace("BBB", "2"))
    before = work.commit()
    manifest.write_text(text + each.replace("BBB", "3, c: 4"))
    found = {name: why for name, why in names(work, before).items() if name.startswith("vm")}
    assert found == {"vm.b": ("hybridwrap.yaml: inputs.id",), "vm.c": ("hybridwrap.yaml: new",)}


def test_another_place_of_another_stack_counts_for_those_who_use_it(work: Checkout) -> None:
    manifest = work.root / "infra/hybridwrap.yaml"
    used = manifest.read_text().replace("{{ modules.net.id }}", "{{ stacks.DNS.modules.zone.id }}")
    manifest.write_text(f"{used}stacks: {{DNS: {{ledger: {{folder: a}}}}}}\n")
    before = work.commit()
    manifest.write_text(f"{used}stacks: {{DNS: {{ledger: {{folder: b}}}}, NET: {{ledger: {{folder: c}}}}}}\n")
    assert names(work, before) == {"vm": ("hybridwrap.yaml: stacks",)}
