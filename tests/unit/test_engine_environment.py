"""What of the caller's environment an engine gets to see."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest

from hybridwrap.adapters.engine.collector import collector_settings
from hybridwrap.adapters.engine.environment import constant_variables, engine_environment, refuse_misleading
from hybridwrap.adapters.engine.file_locks import plugin_cache
from hybridwrap.domain.entry import EngineIdentity
from hybridwrap.domain.stack import Interface, Module, Variable
from hybridwrap.errors import PreflightRefused

MODULE = Module("net", Path("/srv/net"))
TERRAFORM = EngineIdentity("terraform", "1.11.4")
OPENTOFU = EngineIdentity("opentofu", "1.12.6")
GIB = 1 << 30


@pytest.mark.parametrize(
    "name",
    [
        "TF_CLI_ARGS",
        "TF_CLI_ARGS_plan",
        "TF_CLI_ARGS_state_pull",
        "TF_DATA_DIR",
        "TF_INPUT",
        "TF_STATE_PERSIST_INTERVAL",
    ],
)
def test_what_would_steer_the_engine_from_outside_is_removed_and_said_by_name(name: str) -> None:
    env, warnings = engine_environment({name: "x"}, MODULE)
    assert name not in env
    assert [warning.split()[0] for warning in warnings] == [name]


KEPT = ("TF_LOG", "TF_LOG_PATH", "TF_PLUGIN_CACHE_DIR", "TF_REATTACH_PROVIDERS", "TF_VAR_size", "TF_TOKEN_a_b")
ALSO_KEPT = ("TF_ENCRYPTION", "NETRC", "HTTPS_PROXY", "SSH_AUTH_SOCK", "AWS_PROFILE", "HOME", "PATH", "odd-name")


@pytest.mark.parametrize("name", [*KEPT, *ALSO_KEPT])
def test_everything_else_is_passed_on(name: str) -> None:
    env, warnings = engine_environment({name: "x"}, MODULE)
    assert env[name] == "x"
    assert not warnings


def test_the_engine_never_calls_home_and_knows_that_nobody_reads_its_hints() -> None:
    env, _ = engine_environment({"CHECKPOINT_DISABLE": ""}, MODULE)
    assert env == {"CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1"}


def test_the_modules_own_variables_come_last_and_under_the_same_rules() -> None:
    module = Module("net", Path("/srv/net"), env={"AWS_PROFILE": "prod", "TF_CLI_ARGS": "-lock=false"})
    env, warnings = engine_environment({"AWS_PROFILE": "dev"}, module)
    assert env["AWS_PROFILE"] == "prod"
    assert "TF_CLI_ARGS" not in env
    assert warnings


def test_a_configuration_file_that_is_missing_is_replaced_by_an_empty_one(tmp_path: Path) -> None:
    there = tmp_path / "there.tfrc"
    there.touch()
    assert engine_environment({"TF_CLI_CONFIG_FILE": str(there)}, MODULE)[0]["TF_CLI_CONFIG_FILE"] == str(there)
    env, warnings = engine_environment({"TF_CLI_CONFIG_FILE": str(tmp_path / "gone")}, MODULE)
    assert env["TF_CLI_CONFIG_FILE"] == os.devnull
    assert str(tmp_path / "gone") in warnings[0]


@pytest.mark.parametrize(("workspace", "found"), [("", "blue"), ("blue", "green"), ("blue", "default")])
def test_another_workspace_than_the_manifests_is_refused(workspace: str, found: str) -> None:
    module = Module("net", Path("/srv/net"), workspace=workspace)
    with pytest.raises(PreflightRefused, match=f"TF_WORKSPACE is '{found}'"):
        refuse_misleading({"TF_WORKSPACE": found}, module, TERRAFORM)


@pytest.mark.parametrize(("workspace", "found"), [("", "default"), ("", ""), ("blue", "blue")])
def test_the_same_workspace_is_fine(workspace: str, found: str) -> None:
    refuse_misleading({"TF_WORKSPACE": found}, Module("net", Path("/srv/net"), workspace=workspace), TERRAFORM)


def test_encryption_is_refused_for_the_engine_that_would_ignore_it() -> None:
    with pytest.raises(PreflightRefused, match="would store the state in plain text"):
        refuse_misleading({"TF_ENCRYPTION": "key_provider …"}, MODULE, TERRAFORM)
    refuse_misleading({"TF_ENCRYPTION": "key_provider …"}, MODULE, OPENTOFU)


def test_only_variables_that_every_command_needs_go_into_the_environment() -> None:
    variables = {
        name: Variable(name, const=const) for name, const in [("a", True), ("b", True), ("c", False), ("d", True)]
    }
    module = Module("net", Path("/srv/net"), interface=Interface(variables))
    inputs = {"a": "text ${x}", "b": {"n": Decimal("0.10"), "l": [1, None, True]}, "c": "later"}
    assert constant_variables(module, inputs) == {"TF_VAR_a": "text ${x}", "TF_VAR_b": '{"l":[1,null,true],"n":0.10}'}


@pytest.mark.parametrize(
    ("free", "parallelism", "limit"),
    [(16 * GIB, 4, 2 * GIB), (8 * GIB, 4, GIB), (8 * GIB, 16, 256 << 20), (2 * GIB, 16, None), (0, 1, None)],
)
def test_the_collector_rests_only_where_memory_is_free(free: int, parallelism: int, limit: int | None) -> None:
    expected = {"GOGC": "off", "GOMEMLIMIT": str(limit)} if limit else {}
    assert collector_settings({}, free=free, parallelism=parallelism) == expected


@pytest.mark.parametrize("env", [{"GOGC": "100"}, {"GOMEMLIMIT": "1GiB"}, {"HYBRIDWRAP_ENGINE_GC": "off"}])
def test_the_users_own_setting_of_the_collector_is_left_alone(env: dict[str, str]) -> None:
    assert collector_settings(env, free=64 * GIB, parallelism=1) == {}


def test_the_plugin_cache_is_found_in_the_environment_or_the_configuration_file(tmp_path: Path) -> None:
    configuration = tmp_path / "terraformrc"
    configuration.write_text(
        '# plugin_cache_dir = "/no"\nplugin_cache_dir   = "$HOME/.cache/${WHO}"\ndisable_checkpoint = true\n'
    )
    env = {"HOME": "/home/ana", "WHO": "plugins"}
    assert plugin_cache(env, configuration) == Path("/home/ana/.cache/plugins")
    assert plugin_cache({**env, "TF_PLUGIN_CACHE_DIR": "/cache"}, configuration) == Path("/cache")
    assert plugin_cache(env, None) is None
