"""Which backend a module gets, and what is refused there."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.adapters.engine.backend import place_of, settle_backend
from hybridwrap.adapters.engine.layout import Layout
from hybridwrap.adapters.engine.s3_state import understood
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import BackendBlock, Interface, Module, StateSettings
from hybridwrap.errors import PreflightRefused

ROOT = Path("/srv/shop")
LAYOUT = Layout(ROOT, ROOT / ".hybridwrap", "prod")
BUCKET = {"bucket": "states", "key": "prod/net.tfstate"}


def module(block: BackendBlock | None = None, state: StateSettings | None = None, **wishes: object) -> Module:
    interface = Interface(backend=block, cloud=bool(wishes.pop("cloud", False)))
    return Module("net", ROOT / "modules/net", interface=interface, state=state or StateSettings("local"), **wishes)  # type: ignore[arg-type]


def s3(**settings: Json) -> StateSettings:
    return StateSettings("s3", {**BUCKET, **settings})


def test_without_a_block_and_a_wish_the_state_is_a_local_file_relative_to_the_module() -> None:
    backend = settle_backend(module(), LAYOUT)
    assert backend.arguments == {
        "path": "../../.hybridwrap/state/prod/net.tfstate",
        "workspace_dir": "../../.hybridwrap/state/prod/net.tfstate.d",
    }
    assert backend.generated == b'{"terraform":{"backend":{"local":{}}}}\n'


def test_a_state_that_lies_where_the_engine_puts_it_needs_no_block() -> None:
    in_place = StateSettings("local", {"path": "modules/net/terraform.tfstate"})
    backend = settle_backend(module(state=in_place), LAYOUT)
    assert (backend.type, backend.arguments, backend.generated) == ("local", {}, None)
    assert backend.settings == {"path": "terraform.tfstate", "workspace_dir": "terraform.tfstate.d"}
    elsewhere = StateSettings("local", {"path": "modules/net/terraform.tfstate", "workspace_dir": "ws"})
    assert settle_backend(module(state=elsewhere), LAYOUT).generated


def test_the_generated_file_is_the_same_whatever_the_settings_are() -> None:
    first, second = (settle_backend(module(state=s3(key=key)), LAYOUT) for key in ("dev/net", "prod/net"))
    assert first.generated == second.generated == b'{"terraform":{"backend":{"s3":{}}}}\n'
    assert first.arguments != second.arguments


def test_settings_of_every_type_become_what_the_engine_reads() -> None:
    state = s3(use_lockfile=True, encrypt=False, max_retries=3, endpoints={"s3": "http://127.0.0.1:1/${a}"})
    assert settle_backend(module(state=state), LAYOUT).arguments == {
        "bucket": "states",
        "encrypt": "false",
        "endpoints": '{"s3":"http://127.0.0.1:1/$${a}"}',
        "key": "prod/net.tfstate",
        "max_retries": "3",
        "use_lockfile": "true",
    }


@pytest.mark.parametrize("name", ["access_key", "secret_key", "token", "sse_customer_key"])
def test_credentials_never_get_into_a_command_line(name: str) -> None:
    with pytest.raises(PreflightRefused, match=f"holds {name}: every process") as refused:
        settle_backend(module(state=s3(**{name: "hush"})), LAYOUT)
    assert "hush" not in refused.value.message


def test_a_complete_block_is_kept_as_it_is() -> None:
    block = BackendBlock("s3", {**BUCKET, "region": "..."}, "main.tf", 2)
    backend = settle_backend(module(block, s3(key="other")), LAYOUT)
    assert (backend.arguments, backend.generated) == ({}, None)
    assert backend.settings is None  # only the engine knows the region


def test_a_partial_block_gets_only_what_it_lacks() -> None:
    backend = settle_backend(module(BackendBlock("s3", {"bucket": "mine"}), s3(region="eu-west-1")), LAYOUT)
    assert backend.arguments == {"key": "prod/net.tfstate", "region": "eu-west-1"}
    assert backend.settings == {"bucket": "mine", "key": "prod/net.tfstate", "region": "eu-west-1"}


def test_a_partial_block_that_nothing_completes_is_refused_with_its_place() -> None:
    with pytest.raises(PreflightRefused, match=r'main\.tf:3  backend "s3" of module "net" lacks bucket, key'):
        settle_backend(module(BackendBlock("s3", {}, "main.tf", 3)), LAYOUT)


def test_settings_in_files_beat_all_others(tmp_path: Path) -> None:
    file = tmp_path / "prod.hcl"
    file.write_text('key    = "from/file"\nregion = "eu-west-1"\n')
    backend = settle_backend(module(BackendBlock("s3", {}), s3(), backend_config=(file,)), LAYOUT)
    assert backend.files == (file,)
    assert backend.settings == {**BUCKET, "key": "from/file", "region": "eu-west-1"}


def test_a_cloud_block_is_refused_with_the_way_out() -> None:
    with pytest.raises(PreflightRefused, match="`cloud` block") as refused:
        settle_backend(module(cloud=True), LAYOUT)
    assert 'backend "remote"' in refused.value.hint


@pytest.mark.parametrize(
    ("kind", "settings", "workspace", "place"),
    [
        ("local", {"path": "../../states/a"}, "default", "states/a (local)"),
        ("local", {}, "default", "modules/net/terraform.tfstate (local)"),
        ("local", {}, "b", "modules/net/terraform.tfstate.d/b/terraform.tfstate (local) (workspace b)"),
        ("s3", BUCKET, "default", "s3://states/prod/net.tfstate"),
        ("s3", BUCKET, "b", "s3://states/env:/b/prod/net.tfstate (workspace b)"),
        ("s3", {**BUCKET, "workspace_key_prefix": "w"}, "b", "s3://states/w/b/prod/net.tfstate (workspace b)"),
        ("gcs", {"bucket": "states", "prefix": "net"}, "default", "net (gcs)"),
        ("azurerm", {"storage_account_name": "acme", "container_name": "c", "key": "net"}, "default", "net (azurerm)"),
        ("http", {"address": "https://git.example/state/net"}, "default", "https://git.example/state/net (http)"),
    ],
)
def test_a_place_is_named_in_the_engines_own_terms(
    kind: str, settings: dict[str, Json], workspace: str, place: str
) -> None:
    assert str(place_of(kind, settings, workspace, ROOT / "modules/net", ROOT)) == place


@pytest.mark.parametrize(
    ("more", "ours"),
    [
        ({}, True),
        ({"profile": "ops", "use_lockfile": True, "skip_region_validation": True, "kms_key_id": "alias/x"}, True),
        ({"assume_role": None, "role_arn": ""}, True),
        ({"assume_role": {"role_arn": "arn:…"}}, False),
        ({"sse_customer_key": "…"}, False),
        ({"custom_ca_bundle": "/ca.pem"}, False),
        ({"shared_credentials_files": ["/c"]}, False),
    ],
)
def test_only_settings_that_we_understand_are_read_by_ourselves(more: dict[str, Json], ours: bool) -> None:
    import os

    assert understood({**BUCKET, **more}, dict(os.environ)) is ours


@pytest.mark.parametrize(
    ("change", "ours"),
    [
        ({"AWS_PROFILE": "prod"}, True),
        ({"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}, True),
        ({"AWS_ROLE_ARN": "arn:…"}, False),
        ({"AWS_CONFIG_FILE": "/other"}, False),
        ({"HTTPS_PROXY": "http://127.0.0.1:1"}, False),
        ({"HOME": "/elsewhere"}, False),
    ],
)
def test_an_identity_that_we_cannot_take_on_leaves_the_reading_to_the_engine(
    change: dict[str, str], ours: bool
) -> None:
    import os

    assert understood(BUCKET, {**os.environ, **change}) is ours
