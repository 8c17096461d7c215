"""Where the engine's state lies, and that none is ever lost sight of, on every engine that is found."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hybridwrap.adapters.source import GENERATED
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.stack import StateSettings
from hybridwrap.errors import OutcomeUnknown, PreflightRefused
from tests.support import s3_servers
from tests.support.s3_servers import Fault, Server
from tests.support.workshop import ONE, Operation, Workshop

pytestmark = pytest.mark.e2e


@pytest.fixture
def workshop(tmp_path: Path, engine_program: str) -> Workshop:
    return Workshop(tmp_path, engine_program)


def type_in(command: str, **environ: str) -> None:
    """Do what a hint says, and answer yes."""
    subprocess.run(["/bin/sh", "-c", command], check=True, env={**os.environ, **environ}, input="yes\n", text=True)


def test_a_state_from_before_is_not_forgotten_and_the_command_that_is_named_moves_it(workshop: Workshop) -> None:
    module = workshop.module("net")
    workshop.apply(module, value="old")
    before = module.source / "terraform.tfstate"
    shutil.move(workshop.home / "state/default/net.tfstate", before)
    shutil.rmtree(workshop.home / "data")

    with pytest.raises(
        PreflightRefused, match=r"modules/net/terraform\.tfstate.*\.hybridwrap/state/default"
    ) as refused:
        workshop.plan(module, value="old")
    type_in(refused.value.hint)

    assert not before.exists()
    assert not workshop.plan(module, value="old").changes


def test_an_empty_state_from_before_is_in_nobodys_way(workshop: Workshop) -> None:
    module = workshop.module("net")
    (module.source / "terraform.tfstate").write_text('{"version": 4, "serial": 3, "lineage": "x", "outputs": {}}')
    assert workshop.plan(module, value=1).changes


def test_another_place_is_taken_as_long_as_nothing_lies_at_the_first_one(workshop: Workshop) -> None:
    first = workshop.module("net", state=StateSettings("local", {"path": "states/a.tfstate"}))
    workshop.plan(first, value=1)
    second = workshop.module("net", state=StateSettings("local", {"path": "states/b.tfstate"}))

    workshop.apply(second, value=1)

    assert (workshop.root / "states/b.tfstate").exists()
    with pytest.raises(PreflightRefused, match=r"lies at states/b\.tfstate .* now says states/a\.tfstate") as refused:
        workshop.plan(first, value=1)
    assert "-migrate-state" in refused.value.hint
    assert not (workshop.root / "states/a.tfstate").exists()


def test_an_own_complete_block_is_kept_and_a_file_generated_before_is_removed(workshop: Workshop) -> None:
    module = workshop.module("net")
    workshop.plan(module, value=1)
    assert (module.source / GENERATED).exists()
    own = workshop.module("net", 'terraform {\n  backend "local" { path = "own.tfstate" }\n}\n' + ONE)

    operation = Operation(workshop, own, {"value": 1})
    operation.apply()

    assert not (own.source / GENERATED).exists()
    assert (own.source / "own.tfstate").exists()
    assert operation.engine.place.path == "modules/net/own.tfstate"


def test_a_partial_block_is_completed_by_the_manifest_or_by_files(workshop: Workshop) -> None:
    (workshop.root / "net.hcl").write_text('path = "from-file.tfstate"\n')
    text = 'terraform {\n  backend "local" {}\n}\n' + ONE
    operation = Operation(workshop, workshop.module("net", text), {"value": 1})
    operation.apply()
    assert operation.engine.place.path == ".hybridwrap/state/default/net.tfstate"

    module = workshop.module("other", text, backend_config=(workshop.root / "net.hcl",))
    operation = Operation(workshop, module, {"value": 1})
    operation.apply()
    assert operation.engine.place.path == "modules/other/from-file.tfstate"
    assert (module.source / "from-file.tfstate").exists()


def test_a_source_that_cannot_be_written_is_refused_with_the_text_to_commit(workshop: Workshop) -> None:
    module = workshop.module("net")
    (module.source / GENERATED).mkdir()
    with pytest.raises(PreflightRefused, match="can't be written") as refused:
        workshop.plan(module, value=1)
    assert '{"terraform":{"backend":{"local":{}}}}' in refused.value.hint


def test_an_errored_state_blocks_every_further_plan(workshop: Workshop) -> None:
    module = workshop.module("net")
    (module.source / "errored.tfstate").write_text("{}")
    with pytest.raises(PreflightRefused, match=r"modules/net/errored\.tfstate lies there"):
        workshop.plan(module, value=1)


def test_an_encrypted_state_is_read_by_the_engine_that_can(tmp_path: Path) -> None:
    plain = '{"version":4,"serial":7,"lineage":"l","outputs":{"x":{"value":1,"type":"number"}},"resources":[]}'
    script = f"#!/bin/sh\n[ $1 = version ] && echo OpenTofu v1.12.6 && exit\necho '{plain}'\n"
    engine = tmp_path / "tofu"
    engine.write_text(script)
    engine.chmod(0o755)
    workshop = Workshop(tmp_path, str(engine))
    operation = Operation(workshop, workshop.module("net"))
    stored = workshop.home / "state/default/net.tfstate"
    stored.parent.mkdir(parents=True)
    envelope = b'{"serial":7,"lineage":"l","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}'
    stored.write_bytes(envelope)

    state = operation.engine.state()

    assert state
    assert (state.readable, state.serial, state.outputs["x"].value) == (True, 7, 1)
    assert operation.engine.state_bytes() == envelope


def test_a_state_of_no_bytes_is_not_no_state(workshop: Workshop) -> None:
    operation = Operation(workshop, workshop.module("net"))
    stored = workshop.home / "state/default/net.tfstate"
    stored.parent.mkdir(parents=True)
    stored.touch()
    state = operation.engine.state()
    assert state
    assert state.zero_bytes


# --- S3 -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with s3_servers.moto() as server:
        server.make_bucket("states")
        yield server


@pytest.fixture
def s3(server: Server, tmp_path: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Iterator[StateSettings]:
    for name, value in s3_servers.environment().items():
        monkeypatch.setenv(name, value)
        workshop.environ[name] = value
    settings = server.backend("states", key=f"{tmp_path.name}/net.tfstate", use_lockfile=True)
    yield StateSettings("s3", settings)
    assert server.app
    server.app.faults.clear()


def test_a_state_in_s3_is_read_without_a_process_and_with_the_engines_credentials(
    workshop: Workshop, s3: StateSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "engine.log"
    workshop.environ |= {"TF_LOG": "INFO", "TF_LOG_PATH": str(log)}
    keys = {name: workshop.environ[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIASOMEBODYELSE")
    operation = Operation(workshop, workshop.module("net", state=s3, env=keys), {"value": "blue"})
    assert operation.apply().ended.exit_code == 0

    state = operation.engine.state()

    assert state
    assert state.outputs["value"].value == "blue"
    assert operation.engine.place.bucket == "states"
    assert "state pull" not in log.read_text()
    assert '"state", "pull"' not in log.read_text()


def test_a_module_in_s3_has_no_state_before_its_first_apply(workshop: Workshop, s3: StateSettings) -> None:
    operation = Operation(workshop, workshop.module("net", state=s3), {"value": 1})
    assert operation.engine.state() is None
    operation.plan()
    assert operation.engine.state() is None


def test_unusual_settings_leave_the_reading_to_the_engine(workshop: Workshop, s3: StateSettings) -> None:
    s3 = StateSettings("s3", {**s3.settings, "use_dualstack_endpoint": False, "retry_mode": "standard"})
    operation = Operation(workshop, workshop.module("net", state=s3), {"value": "blue"})
    operation.plan()
    assert operation.engine.state() is None
    operation.apply()
    state = operation.engine.state()
    assert state
    assert state.outputs["value"].value == "blue"


def test_workspaces_in_s3_have_keys_of_their_own(workshop: Workshop, s3: StateSettings) -> None:
    module = workshop.module("net", state=s3, workspace="blue")
    operation = Operation(workshop, module, {"value": "blue"})
    with pytest.raises(PreflightRefused, match="workspace 'blue'"):
        operation.plan()
    assert operation.engine.run(operation.folder, ("workspace", "new", "blue")).exit_code == 0
    operation.apply()
    assert operation.engine.place.path == f"env:/blue/{s3.settings['key']}"
    state = operation.engine.state()
    assert state
    assert state.outputs["value"].value == "blue"


def test_a_state_that_could_not_be_stored_is_brought_along_and_made_private(
    workshop: Workshop, s3: StateSettings, server: Server
) -> None:
    module = workshop.module("net", state=s3)
    operation = Operation(workshop, module, {"value": "blue"})
    operation.plan()
    assert server.app
    server.app.faults.append(Fault("PUT", r"net\.tfstate$", status=403, code="AccessDenied"))
    operation.folder.lock()

    applied = operation.engine.apply(operation.folder, lambda _: None)

    assert applied.ended.exit_code == 1
    assert applied.errored_state
    assert parse_state(applied.errored_state).outputs["value"].value == "blue"
    assert (module.source / "errored.tfstate").stat().st_mode & 0o777 == 0o600
    with pytest.raises(PreflightRefused, match="could not store its state"):
        workshop.plan(module, value="blue")


def test_a_refused_read_is_never_taken_for_no_state(workshop: Workshop, s3: StateSettings, server: Server) -> None:
    operation = Operation(workshop, workshop.module("net", state=s3), {"value": 1})
    assert server.app
    server.app.faults.append(Fault("GET", r"net\.tfstate$", status=403, code="AccessDenied"))
    with pytest.raises(OutcomeUnknown, match=r"s3://states/.*AccessDenied"):
        operation.engine.state()


def test_a_local_state_from_before_is_migrated_to_s3_by_the_named_command(
    workshop: Workshop, s3: StateSettings
) -> None:
    module = workshop.module("net")
    workshop.apply(module, value="old")
    shutil.move(workshop.home / "state/default/net.tfstate", module.source / "terraform.tfstate")
    shutil.rmtree(workshop.home / "data")
    module = workshop.module("net", state=s3)

    with pytest.raises(PreflightRefused, match=r"terraform\.tfstate.*s3://states/") as refused:
        workshop.plan(module, value="old")
    type_in(refused.value.hint, **workshop.environ)

    assert not workshop.plan(module, value="old").changes
