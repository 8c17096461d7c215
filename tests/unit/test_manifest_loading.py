"""From a file to a stack: environments, defaults, placeholders, state and ledger settings."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest

from hybridwrap.adapters.manifest import environments_of, find_manifest
from hybridwrap.domain.hooks import Hooks
from hybridwrap.domain.stack import (
    Credentials,
    FromEnv,
    FromFile,
    Guard,
    LedgerSettings,
    Literal,
    Reference,
    Retry,
    StateSettings,
    Verify,
)
from hybridwrap.errors import UsageError
from tests.support.manifests import EMPTY, NETWORK, VM, load, problems, write_stack

SHOP = """
    version: 1
    stack: shop
    state: {s3: {bucket: acme, region: eu-1, endpoints: {s3: "http://localhost:1"}, use_path_style: true}}
    defaults:
      inputs: {tags: {team: shop}, cidr: 10.9.0.0/16}
      env: {AWS_PROFILE: dev}
      tags: [all]
    environments:
      dev: {}
      prod:
        defaults: {env: {AWS_PROFILE: prod}}
        modules:
          vm: {inputs: {size: 20, password: {from_file: "secrets/{environment}.txt"}}}
          extra: {source: network}
          network: {enabled: false}
    modules:
      network: {source: network, inputs: {cidr: 10.0.0.0/16, tags: {name: n}}}
      vm:
        source: vm
        tags: [web]
        inputs: {subnet_id: fixed, size: 2.5, password: {from_env: VM_PASSWORD}}
"""


def shop(tmp_path: Path) -> Path:
    return write_stack(tmp_path, SHOP, {"network": NETWORK, "vm": VM})


def test_a_stack_holds_what_its_manifest_says(tmp_path: Path) -> None:
    stack = load(shop(tmp_path), "dev")
    assert (stack.name, stack.environment, stack.environments) == ("shop", "dev", ("dev", "prod"))
    assert (stack.file, stack.root) == (tmp_path / "hybridwrap.yaml", tmp_path)
    vm = stack.modules["vm"]
    assert vm.source == tmp_path / "vm"
    assert vm.inputs == {
        "subnet_id": Literal("fixed"),
        "size": Literal(Decimal("2.5")),
        "password": FromEnv("VM_PASSWORD"),
    }
    assert vm.env == {"AWS_PROFILE": "dev"}
    assert set(vm.interface.variables) == {"subnet_id", "password", "size"}


def test_an_input_knows_where_it_stands(tmp_path: Path) -> None:
    vm = load(shop(tmp_path), "dev").modules["vm"]
    assert vm.inputs["subnet_id"].place.endswith("hybridwrap.yaml:21:25")


def test_defaults_lie_below_a_modules_own_fields_and_reach_declared_variables_only(tmp_path: Path) -> None:
    stack = load(shop(tmp_path), "dev")
    assert stack.modules["network"].inputs == {
        "cidr": Literal("10.0.0.0/16"),
        "tags": Literal({"team": "shop", "name": "n"}),
    }
    assert "tags" not in stack.modules["vm"].inputs
    assert (stack.modules["network"].tags, stack.modules["vm"].tags) == (("all",), ("web",))


def test_an_environment_lies_over_the_manifest(tmp_path: Path) -> None:
    stack = load(shop(tmp_path), "prod")
    assert list(stack.modules) == ["vm", "extra"]
    assert stack.modules["vm"].env == {"AWS_PROFILE": "prod"}
    assert stack.modules["vm"].inputs["size"] == Literal(20)
    assert stack.modules["vm"].inputs["subnet_id"] == Literal("fixed")
    assert stack.modules["vm"].inputs["password"] == FromFile(tmp_path / "secrets/prod.txt", "secrets/prod.txt")


WHO = """
    version: 1
    stack: shop
    account: "111122223333"
    credentials: {command: [./token, "{stack}-{environment}-{module}", "${HOME} {}"]}
    environments:
      dev: {account: any}
      prod: {defaults: {credentials: {command: [./prod-token], timeout: 2m}}}
    modules:
      vm: {source: vm}
      dns: {source: vm, account: "444455556666", credentials: {command: [./dns-token]}}
"""


def test_who_an_engine_is_comes_from_the_module_its_defaults_or_the_stack(tmp_path: Path) -> None:
    (tmp_path / "vm").mkdir()
    (tmp_path / "vm" / "main.tf").write_text("")
    file = write_stack(tmp_path, WHO)
    dev, prod = load(file, "dev"), load(file, "prod")
    assert dev.modules["vm"].credentials == Credentials(("./token", "shop-dev-vm", "${HOME} {}"))
    assert (dev.modules["vm"].account, dev.modules["dns"].account) == ("", "444455556666")
    assert prod.modules["vm"].credentials == Credentials(("./prod-token",), 120.0)
    assert prod.modules["dns"].credentials == Credentials(("./dns-token",), 120.0)
    assert (prod.modules["vm"].account, prod.credentials.of("gone").command) == ("111122223333", ("./prod-token",))
    assert dev.credentials.of("gone").command[1] == "shop-dev-gone"


HOOKS = """
    version: 1
    stack: shop
    hooks: {before: [[./open, "{{.Id}}", "${X} {environment}"]], after: [[./close]], timeout: 1m}
    defaults: {hooks: {before: [[./check]], error: [[./page]]}}
    environments:
      prod: {hooks: {after: []}}
    modules:
      vm: {source: vm}
      dns: {source: vm, hooks: {before: [], timeout: 5}}
"""


def test_hooks_of_a_module_lie_over_the_defaults_and_their_words_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "vm").mkdir()
    (tmp_path / "vm" / "main.tf").write_text("")
    stack = load(write_stack(tmp_path, HOOKS))
    assert stack.hooks == Hooks((("./open", "{{.Id}}", "${X} {environment}"),), timeout_seconds=60.0)
    assert stack.modules["vm"].hooks == Hooks((("./check",),), error=(("./page",),))
    assert stack.modules["dns"].hooks == Hooks(error=(("./page",),), timeout_seconds=5.0)


def test_the_environment_can_come_from_the_environment_variable(tmp_path: Path) -> None:
    assert load(shop(tmp_path), HYBRIDWRAP_ENVIRONMENT="prod").environment == "prod"
    assert load(shop(tmp_path), "dev", HYBRIDWRAP_ENVIRONMENT="prod").environment == "dev"


@pytest.mark.parametrize(
    ("environment", "environ", "message"),
    [
        (None, {}, "which environment? there are: dev, prod"),
        ("prdo", {}, 'no environment "prdo"; did you mean "prod"?'),
        ("x", {}, 'no environment "x"; there are: dev, prod'),
        (None, {"HYBRIDWRAP_ENVIRONMENT": "x"}, 'no environment "x", which HYBRIDWRAP_ENVIRONMENT says; there are'),
    ],
)
def test_an_environment_that_is_not_clear_is_wrong_usage(
    tmp_path: Path, environment: str | None, environ: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load(shop(tmp_path), environment, **environ)
    assert message in caught.value.message
    assert caught.value.exit_code == 64


def test_without_declared_environments_there_is_one_called_default(tmp_path: Path) -> None:
    file = write_stack(tmp_path, "version: 1\nstack: s\nmodules: {}\n")
    assert (load(file).environment, environments_of(file)) == ("default", ("default",))
    with pytest.raises(UsageError, match="there are: default"):
        load(file, "prod")


def test_one_declared_environment_needs_no_choice(tmp_path: Path) -> None:
    file = write_stack(tmp_path, "version: 1\nstack: s\nenvironments: {prod: {}}\nmodules: {}\n")
    assert load(file).environment == "prod"
    assert environments_of(file) == ("prod",)


def test_an_environment_may_say_nothing(tmp_path: Path) -> None:
    file = write_stack(
        tmp_path, "version: 1\nstack: s\nenvironments:\n  dev:\n  prod:\nmodules: {a: {source: a}}\n", {"a": EMPTY}
    )
    assert list(load(file, "prod").modules) == ["a"]


def test_a_broken_manifest_is_said_before_the_choice_of_an_environment(tmp_path: Path) -> None:
    file = write_stack(tmp_path, "version: 1\nstack: s\nenvironments: {a: {}, b: {}}\nmodule: {}\n")
    assert len(problems(file)) == 2


def test_an_empty_stack_is_a_stack(tmp_path: Path) -> None:
    assert load(write_stack(tmp_path, "version: 1\nstack: s\nmodules: {}\n")).modules == {}


def test_the_manifest_is_found_here_or_above(tmp_path: Path) -> None:
    file = shop(tmp_path)
    assert find_manifest(tmp_path / "vm") == file
    assert find_manifest(tmp_path) == file


def test_a_folder_without_a_manifest_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "hybridwrap.yml").touch()
    with pytest.raises(UsageError) as caught:
        find_manifest(tmp_path)
    assert caught.value.hint == "rename hybridwrap.yml to hybridwrap.yaml"


def test_every_field_of_a_module_reaches_it(tmp_path: Path) -> None:
    file = write_stack(
        tmp_path,
        """
        version: 1
        stack: s
        engine: {version: ">= 1.10", program: terraform}
        environments: {dev: {}}
        modules:
          a: {source: a}
          b:
            source: ./a/../a
            engine: {program: tofu}
            depends_on: [a]
            owner: a
            var_files: ["vars/{environment}.tfvars", "{module}.tfvars.json"]
            workspace: "{stack}-{environment}-{module}"
            protected: true
            on_destroy: retain
            retry: {on: [timeout, "50[0-9]"], wait: 1m}
            timeout: 1h2m3s
            verify: {absent: [./gone.sh, x], aws: {tags: {team: shop, part: "{module}-{environment}"}, region: r1}}
            guard: {max_destroys: 3, protected_types: [aws_db_instance]}
        """,
        {"a": EMPTY},
    )
    (tmp_path / "vars").mkdir()
    (tmp_path / "vars/dev.tfvars").touch()
    (tmp_path / "b.tfvars.json").write_text("{}", encoding="utf-8")
    b = load(file).modules["b"]
    assert (b.source, b.needs, b.owner) == (tmp_path / "a", ("a",), "a")
    assert (b.engine.program, b.engine.version) == ("tofu", ">= 1.10")
    assert b.var_files == (tmp_path / "vars/dev.tfvars", tmp_path / "b.tfvars.json")
    assert (b.workspace, b.protected, b.on_destroy, b.timeout_seconds) == ("s-dev-b", True, "retain", 3723)
    assert b.retry == Retry(("timeout", "50[0-9]"), 3, 60)
    assert b.verify == Verify(("./gone.sh", "x"), 60, {"team": "shop", "part": "b-dev"}, "r1")
    assert b.guard == Guard(3, ("aws_db_instance",))


def test_a_reference_is_a_dependency_wherever_it_stands_in_an_input(tmp_path: Path) -> None:
    file = write_stack(
        tmp_path,
        """
        version: 1
        stack: s
        modules:
          my-net: {source: net}
          b:
            source: b
            inputs:
              x:
                - deep: {down: ["{{ modules['my-net'].id }}", "a{{ modules['my-net']['id'] | upper }}"]}
        """,
        {"net": EMPTY, "b": 'variable "x" {}'},
    )
    b = load(file).modules["b"]
    assert (b.references, b.needs) == ((Reference("my-net", "id"),), ("my-net",))


def test_an_s3_state_gets_key_and_lock_file_and_passes_the_rest_on(tmp_path: Path) -> None:
    assert load(shop(tmp_path), "dev").modules["vm"].state == StateSettings(
        "s3",
        {
            "bucket": "acme",
            "region": "eu-1",
            "endpoints": {"s3": "http://localhost:1"},
            "use_path_style": True,
            "use_lockfile": True,
            "key": "shop/dev/vm.tfstate",
        },
    )


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("s3: {key: k}", StateSettings("s3", {"key": "k", "use_lockfile": True, "bucket": "b-dev"})),
        (
            "s3: {dynamodb_table: t, key: k}",
            StateSettings("s3", {"key": "k", "dynamodb_table": "t", "bucket": "b-dev"}),
        ),
        ('local: {path: "x/{module}.tfstate"}', StateSettings("local", {"path": "x/a.tfstate"})),
    ],
)
def test_a_modules_own_state_completes_or_replaces_the_stacks(
    tmp_path: Path, own: str, expected: StateSettings
) -> None:
    manifest = f"""
        version: 1
        stack: s
        environments: {{dev: {{}}}}
        state: {{s3: {{bucket: "b-{{environment}}"}}}}
        modules: {{a: {{source: a, state: {{{own}}}}}}}
    """
    assert load(write_stack(tmp_path, manifest, {"a": EMPTY})).modules["a"].state == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "state: {s3: {bucket: b, profile: p, kms_key_id: k}}",
            LedgerSettings(bucket="b", prefix="hybridwrap/", settings={"profile": "p"}),
        ),
        (
            'state: {s3: {bucket: b, endpoints: {s3: "http://e"}, use_path_style: true}}',
            LedgerSettings(bucket="b", prefix="hybridwrap/", settings={"endpoint": "http://e", "use_path_style": True}),
        ),
        (
            'ledger: {s3: {bucket: b, prefix: "{stack}/{environment}", kms_key_id: k}, keep_source: false}',
            LedgerSettings(bucket="b", prefix="s/default/", settings={"kms_key_id": "k"}, keep_source=False),
        ),
        (
            "ledger: {s3: {bucket: b}, encryption: {key_from_env: KEY}}",
            LedgerSettings(bucket="b", prefix="hybridwrap/", encryption={"key_from_env": "KEY"}),
        ),
        (
            'state: {s3: {bucket: "b-{environment}", profile: "{stack}", role_arn: "{module}"}}',
            LedgerSettings(bucket="b-default", prefix="hybridwrap/", settings={"profile": "s"}),
        ),
        ('ledger: {s3: {bucket: b, prefix: ""}}', LedgerSettings(bucket="b", prefix="")),
        (
            "state: {s3: {bucket: b}}\nledger: {encryption: {kms_key_id: k}}",
            LedgerSettings(bucket="b", prefix="hybridwrap/", encryption={"kms_key_id": "k"}),
        ),
    ],
)
def test_the_ledger_lies_where_it_is_said_or_beside_an_s3_state(
    tmp_path: Path, said: str, expected: LedgerSettings
) -> None:
    assert load(write_stack(tmp_path, f"version: 1\nstack: s\nmodules: {{}}\n{said}\n")).ledger == expected


def test_without_an_s3_state_the_ledger_is_a_folder(tmp_path: Path) -> None:
    plain = write_stack(tmp_path, "version: 1\nstack: s\nmodules: {}\n")
    assert load(plain).ledger == LedgerSettings(folder=tmp_path / ".hybridwrap/ledger", in_home=True)
    assert load(plain, HYBRIDWRAP_HOME=str(tmp_path / "h")).ledger.folder == tmp_path / "h/ledger"
    said = write_stack(tmp_path, 'version: 1\nstack: s\nmodules: {}\nledger: {folder: "led/{stack}"}\n')
    assert load(said).ledger == LedgerSettings(folder=tmp_path / "led/s")


def test_folders_with_spaces_quotes_and_dashes_are_sources_like_any_other(tmp_path: Path) -> None:
    file = write_stack(
        tmp_path / "my stack",
        """
        version: 1
        stack: s
        modules:
          net: {source: net (1)}
          app: {source: "app's ü", inputs: {id: "{{ modules.net.id }}"}}
          dash: {source: -dash}
        """,
        {"net (1)": EMPTY, "app's ü": 'variable "id" { type = string }', "-dash": EMPTY},
    )
    stack = load(file)
    assert [module.source.name for module in stack.modules.values()] == ["net (1)", "app's ü", "-dash"]


def test_messages_name_the_manifest_as_it_is_seen_from_here(tmp_path: Path) -> None:
    file = write_stack(tmp_path, "version: 1\nstack: s\nmodules: {a: {source: gone}}\n")
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert problems(file) == ["hybridwrap.yaml:3:23  modules.a.source: no folder gone"]
    finally:
        os.chdir(here)


@pytest.mark.parametrize(
    ("programs", "engine", "expected"),
    [
        (["tofu"], "", {"tofu"}),
        (["terraform", "tofu"], "", {"tf"}),
        ([], "", {"tf"}),
        (["terraform"], "engine: {program: tofu}", {"tofu"}),
        (["tofu"], "engine: {program: /opt/terraform}", {"tf"}),
    ],
)
def test_tofu_files_count_where_opentofu_will_run(
    tmp_path: Path, programs: list[str], engine: str, expected: set[str]
) -> None:
    (tmp_path / "bin").mkdir()
    for program in programs:
        (tmp_path / "bin" / program).touch(mode=0o755)
    manifest = f"version: 1\nstack: s\nmodules: {{a: {{source: a}}}}\n{engine}\n"
    file = write_stack(tmp_path, manifest, {"a": 'variable "tf" { default = 1 }'})
    (tmp_path / "a/main.tofu").write_text('variable "tofu" { default = 1 }', encoding="utf-8")
    assert set(load(file, PATH=str(tmp_path / "bin")).modules["a"].interface.variables) == expected
