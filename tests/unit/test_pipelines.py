"""Pipelines: jobs in the order of the graph, text that CI systems take, and the same text for the same graph."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hybridwrap.adapters.pipelines.request import Request, Wishes, remembered
from hybridwrap.adapters.pipelines.writing import pipeline_text
from hybridwrap.cli.main import COMMANDS, main
from hybridwrap.domain.graph import reach
from hybridwrap.domain.pipeline import Shape, Spread, apply_jobs, read_shape, unique_ids, waves
from hybridwrap.domain.stack import EngineWish, FromEnv, LedgerSettings, Module, Stack
from hybridwrap.errors import UsageError
from tests.support.ci_tools import actionlint, read, read_all, unknown_to_argo
from tests.support.stories import many_needs

SHAPES = ("modules", "waves", "workers", "workers=3")
SYSTEMS = ("github", "gitlab", "argo")
HOSTILE = "a'b\"c: #d {e} \\ ${{ 1 }} %"
Needs = Mapping[str, Sequence[str]]


def stack_of(needs: Needs, **more: Any) -> Stack:
    modules = {name: Module(name, Path("/repo/m"), depends_on=tuple(above)) for name, above in needs.items()}
    said: dict[str, Any] = {"environment": "prod", "environments": ("dev", "prod"), "modules": modules, **more}
    return Stack(name="shop", file=Path("/repo/hybridwrap.yaml"), ledger=LedgerSettings(bucket="b"), **said)


STACKS = {
    "empty": stack_of({}),
    "one": stack_of({"vm": ()}, environments=("prod",)),
    "names": stack_of({"Vm": (), "vm": (), "v_m": ("vm", "Vm"), "v-m": ("v_m",), "on": (), "1e3": ("on",)}),
    "many": stack_of(many_needs(110)),
}


def text_of(stack: Stack, system: str, shape: str = "workers", **wishes: str) -> str:
    said = Wishes(shape=shape, repository="https://git.example/shop.git", **wishes)
    return pipeline_text(Request(system, stack, "hybridwrap.yaml", read_shape(shape), said))


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    names = draw(st.lists(st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,3}", fullmatch=True), unique=True, max_size=9))
    return {
        name: tuple(draw(st.lists(st.sampled_from(names[:index]), unique=True))) if index else ()
        for index, name in enumerate(names)
    }


# Jobs


@given(graphs(), st.sampled_from([Spread.MODULES, Spread.WAVES]))
def test_every_module_has_one_job_after_the_jobs_of_all_that_it_needs(needs: Needs, spread: Spread) -> None:
    jobs = {job.id: job for job in apply_jobs(needs, Shape(spread))}
    job_of = {name: job.id for job in jobs.values() for name in job.modules}
    before = {id_: job.needs for id_, job in jobs.items()}
    assert sorted(name for job in jobs.values() for name in job.modules) == sorted(needs)
    assert len({id_.lower() for id_ in jobs}) == len(jobs)
    for name, above in needs.items():
        assert {job_of[need] for need in above} <= reach(before, [job_of[name]])


@given(graphs())
def test_no_job_waits_for_what_those_it_waits_for_wait_for_anyway(needs: Needs) -> None:
    jobs = {job.id: job.needs for job in apply_jobs(needs, Shape(Spread.MODULES))}
    for above in jobs.values():
        assert not set(above) & reach(jobs, above)


def test_a_module_comes_one_wave_after_the_last_that_it_needs() -> None:
    needs = {"a": (), "b": ("a",), "c": ("a", "b"), "d": ("a",), "e": ()}
    assert waves({name: frozenset(above) for name, above in needs.items()}) == (("a", "e"), ("b", "d"), ("c",))


def test_ids_that_differ_only_in_capitals_or_underscores_are_told_apart() -> None:
    assert unique_ids(("Vm", "vm", "v_m", "v-m")) == {
        "Vm": "apply-Vm",
        "vm": "apply-vm-2",
        "v_m": "apply-v-m",
        "v-m": "apply-v-m-2",
    }


@pytest.mark.parametrize(("count", "workers"), [(0, 1), (1, 1), (25, 1), (26, 2), (110, 5), (5000, 20)])
def test_workers_are_as_many_as_the_modules_want(count: int, workers: int) -> None:
    assert len(apply_jobs({f"m{number}": () for number in range(count)}, Shape())) == workers


@pytest.mark.parametrize("text", ["", "rows", "workers=0", "workers=-1", "workers=x", "waves=2", "modules="])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no shape: modules, waves"):
        read_shape(text)


# Text


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", STACKS)
def test_the_same_graph_gives_the_same_bytes_in_whatever_order_it_is_written(
    name: str, shape: str, system: str
) -> None:
    stack = STACKS[name]
    turned = stack_of(
        {each: module.needs[::-1] for each, module in reversed(list(stack.modules.items()))},
        environments=stack.environments,
    )
    assert text_of(stack, system, shape) == text_of(turned, system, shape)


@pytest.mark.parametrize("wishes", [{}, {"setup": "./.github/actions/credentials", "image": "ghcr.io/acme/tools:1"}])
@pytest.mark.parametrize("shape", SHAPES)
def test_actionlint_finds_nothing_in_githubs_pipelines(shape: str, wishes: dict[str, str], tmp_path: Path) -> None:
    program, files = actionlint(), []
    for name, stack in STACKS.items():
        files.append(tmp_path / f"{name}.yml")
        files[-1].write_text(text_of(stack, "github", shape, **wishes))
    ran = subprocess.run([program, "-no-color", *map(str, files)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", STACKS)
def test_argos_pipelines_fit_its_schema(name: str, shape: str) -> None:
    assert unknown_to_argo(text_of(STACKS[name], "argo", shape)) == []


def test_what_argo_does_not_know_is_found() -> None:
    text = text_of(STACKS["one"], "argo").replace("failFast", "failfast")
    assert unknown_to_argo(text) == ["WorkflowTemplate.spec.templates.2.dag.failfast"]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_command_in_a_pipeline_is_one_that_there_is(shape: str, system: str) -> None:
    found = list(commands_in(text_of(STACKS["names"], system, shape)))
    assert {words[0] for words in found} >= {"plan", "apply", "report", "drift", "destroy"}
    for words in found:
        name, *rest = words
        group = click.Context(main, **main.context_settings)  # commands keep the help options that they first see
        command = main.get_command(group, name)
        assert command is not None, words
        assert command.make_parser(click.Context(command, parent=group)).parse_args(rest), words


def commands_in(text: str) -> Iterator[list[str]]:
    """The words of each line that calls hybridwrap."""
    documents = list(read_all(text))
    lines = [line for each in strings_of(documents) for line in each.splitlines()]
    for line in lines:
        words = shlex.split(re.split(r"\|\||>", line)[0])
        start = next((index for index, word in enumerate(words[:2]) if word == "hybridwrap"), None)
        if start is not None and words[start + 1 : start + 2] and words[start + 1] in COMMANDS:
            yield words[start + 1 :]


def strings_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from strings_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings_of(each)


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_people_choose_stays_text(system: str) -> None:
    text = text_of(STACKS["one"], system, branch=HOSTILE, image=HOSTILE, install=f"echo {HOSTILE!r}", setup=HOSTILE)
    found = set(strings_of(list(read_all(text))))
    assert HOSTILE in found
    wishes = remembered(text)
    assert wishes is not None
    assert (wishes.branch, wishes.image, wishes.setup) == (HOSTILE, HOSTILE, HOSTILE)


def test_github_gives_a_job_no_more_than_it_needs() -> None:
    workflow = read(text_of(STACKS["many"], "github"))
    assert workflow["permissions"] == {}
    allowed = {name: job.get("permissions") for name, job in workflow["jobs"].items()}
    comments = {"contents": "read", "pull-requests": "write"}
    assert allowed.pop("plan") == allowed.pop("report") == comments
    assert allowed.pop("apply") == allowed.pop("destroy") == {"contents": "read", "actions": "read"}
    assert allowed == {"approve": {}, "approve-destroy": {}, "drift": {"contents": "read"}}


def test_nothing_that_is_at_work_is_cancelled() -> None:
    github = read(text_of(STACKS["many"], "github"))
    assert github["concurrency"]["cancel-in-progress"] is False
    assert github["jobs"]["apply"]["strategy"]["fail-fast"] is False
    assert read(text_of(STACKS["many"], "gitlab"))[".shop prod"]["interruptible"] is False
    for system in ("github", "gitlab"):
        lines = text_of(STACKS["many"], system, "modules").splitlines()
        applies = [line for line in lines if "hybridwrap apply" in line]
        assert len(applies) == 110
        assert all("exec hybridwrap apply" in line for line in applies)


def test_variables_that_the_manifest_reads_reach_the_jobs() -> None:
    module = Module("vm", Path("/repo/m"), inputs={"password": FromEnv("VM_PASSWORD")})
    stack = stack_of({}, modules={"vm": module})
    workflow = read(text_of(stack, "github"))
    given = {name for name, job in workflow["jobs"].items() if "VM_PASSWORD" in job.get("env", {})}
    assert given == {"plan", "apply", "report", "drift", "destroy"}  # and not whoever approves
    assert workflow["env"].keys() == {"HYBRIDWRAP_RUN"}
    assert "VM_PASSWORD" in text_of(stack, "gitlab")
    assert "key: VM_PASSWORD" in text_of(stack, "argo")


# What an approval is for

WITH_KEY = LedgerSettings(bucket="b", encryption={"key_from_env": "HYBRIDWRAP_KEY"})
SEALED = replace(STACKS["one"], ledger=WITH_KEY)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_with_a_key_of_the_ledger_exactly_the_plans_that_were_shown_are_applied(shape: str, system: str) -> None:
    commands = {words[0]: words for words in commands_in(text_of(SEALED, system, shape))}
    assert commands["apply"][1:3] == ["--run", "$HYBRIDWRAP_RUN"]
    assert "--auto-approve" not in commands["apply"]
    assert "--save" in text_of(SEALED, system, shape)
    assert "HYBRIDWRAP_KEY" in text_of(SEALED, system, shape)


@pytest.mark.parametrize("system", SYSTEMS)
def test_without_a_key_or_on_request_all_that_the_graph_wants_is_applied(system: str) -> None:
    for text in (text_of(STACKS["one"], system), text_of(SEALED, system, approves="graph")):
        assert "--save" not in text
        assert "apply --auto-approve --join" in text


def test_plans_are_not_to_be_saved_without_a_key() -> None:
    with pytest.raises(UsageError, match="plans can't be saved without a key"):
        text_of(STACKS["one"], "github", approves="plans")


@pytest.mark.parametrize("system", ["github", "gitlab"])
def test_a_pull_request_is_planned_without_writing_anything(system: str) -> None:
    assert text_of(SEALED, system).count("--read-only") == 1


# Limits


def test_gitlab_takes_no_job_that_waits_for_more_than_fifty() -> None:
    above = tuple(f"m{number}" for number in range(50))
    stack = stack_of({**dict.fromkeys(above, ()), "last": above})
    with pytest.raises(UsageError, match="last waits for 51 jobs: gitlab takes 50") as refused:
        text_of(stack, "gitlab", "modules")
    assert refused.value.hint == "hybridwrap pipeline gitlab --shape waves"
    assert text_of(stack, "gitlab", "waves")


@pytest.mark.parametrize(("system", "most"), [("github", 256), ("gitlab", 200)])
def test_there_are_no_more_workers_than_the_system_takes(system: str, most: int) -> None:
    assert text_of(STACKS["many"], system, f"workers={most}")
    with pytest.raises(UsageError, match=f"{most + 1} workers: {system} takes {most}"):
        text_of(STACKS["many"], system, f"workers={most + 1}")


def test_a_workflow_that_github_would_not_start_is_not_written() -> None:
    stack = stack_of(many_needs(700))
    with pytest.raises(UsageError, match="github takes 500000") as refused:
        text_of(stack, "github", "modules")
    assert "--shape workers=20" in refused.value.hint
    assert text_of(stack, "github", "waves")


# Engines


def with_engine(program: str, version: str = "") -> Stack:
    return stack_of({}, modules={"vm": Module("vm", Path("/repo/m"), engine=EngineWish(program, version))})


@pytest.mark.parametrize(
    ("program", "version", "settings"),
    [
        ("terraform", "1.11.4", {"terraform_version": "1.11.4", "terraform_wrapper": "false"}),
        ("tofu", "~> 1.11", {"tofu_version": "^1.11", "tofu_wrapper": "false"}),
        ("tofu", "~> 1.11.0, != 1.11.3", {"tofu_version": "~1.11.0 !=1.11.3", "tofu_wrapper": "false"}),
        ("tofu", ">= 1.10, < 2.0", {"tofu_version": ">=1.10 <2.0", "tofu_wrapper": "false"}),
        ("tofu", "", {"tofu_wrapper": "false"}),
    ],
)
def test_github_gets_an_engine_that_is_asked_for_by_name(program: str, version: str, settings: dict[str, str]) -> None:
    steps = read(text_of(with_engine(program, version), "github"))["jobs"]["plan"]["steps"]
    assert [step["with"] for step in steps if f"setup-{program}" in step.get("uses", "").replace("open", "")] == [
        settings
    ]
    assert "[embedded]" not in text_of(with_engine(program, version), "github")


@pytest.mark.parametrize("system", ["gitlab", "argo"])
def test_elsewhere_somebody_has_to_say_where_such_an_engine_comes_from(system: str) -> None:
    with pytest.raises(UsageError, match="modules ask for tofu"):
        text_of(with_engine("tofu"), system)
    assert "pip install" not in text_of(with_engine("tofu"), system, image="ghcr.io/acme/tools:1")
    assert "brew install" in text_of(with_engine("tofu"), system, install="brew install opentofu")
