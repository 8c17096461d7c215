"""What repairs do with the real engines and stores: states put back, objects imported, names told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hybridwrap.domain.entry import CloudObject, StateMark
from hybridwrap.domain.ports import ModuleEngine
from hybridwrap.domain.stack import Module, StateSettings
from hybridwrap.errors import OutcomeUnknown
from tests.support import s3_servers
from tests.support.fakecloud.cloud import Cloud
from tests.support.project import FAKECLOUD
from tests.support.s3_servers import Fault, Server
from tests.support.workshop import Operation, Workshop

pytestmark = pytest.mark.e2e

TWO = FAKECLOUD + 'resource "fakecloud_server" "web" {\n  count = 2\n  name = "web-${count.index}"\n}\n'
ENVELOPE: Mapping[str, Any] = {
    "serial": 7,
    "lineage": "l",
    "meta": {},
    "encrypted_data": "AAAA",
    "encryption_version": "v0",
}
_buckets = count()


@pytest.fixture
def workshop(tmp_path: Path, engine_program: str) -> Workshop:
    return Workshop(tmp_path, engine_program)


@pytest.fixture
def s3(moto: Server, workshop: Workshop) -> StateSettings:
    workshop.environ |= s3_servers.environment()
    bucket = moto.make_bucket(f"repair-{next(_buckets)}")
    return StateSettings("s3", moto.backend(bucket, key="net.tfstate", use_lockfile=True))


def stored(moto: Server, s3: StateSettings) -> Any:
    return moto.client().get_object(Bucket=s3.settings["bucket"], Key="net.tfstate")


def document(serial: int, lineage: str = "0f000000-0000-4000-8000-000000000032", **outputs: str) -> bytes:
    told = {name: {"value": value, "type": "string"} for name, value in outputs.items()}
    return json.dumps({"version": 4, "serial": serial, "lineage": lineage, "outputs": told, "resources": []}).encode()


def kept(folder: Path, data: bytes) -> Path:
    file = folder / "kept.tfstate"
    file.write_bytes(data)
    return file


def module_in(place: str, workshop: Workshop, s3: StateSettings) -> Module:
    return workshop.module("net", state=s3) if place == "s3" else workshop.module("net")


def mark(engine: ModuleEngine) -> StateMark:
    state = engine.state()
    return StateMark(engine.place, state.lineage, state.serial) if state else StateMark(engine.place)


@pytest.mark.parametrize("place", ["local", "s3"])
def test_where_there_was_no_state_the_bytes_themselves_are_put(
    place: str, workshop: Workshop, s3: StateSettings, tmp_path: Path
) -> None:
    """A push would make a lineage of its own."""
    module = module_in(place, workshop, s3)
    operation = Operation(workshop, module, {"value": "blue"})
    operation.plan()
    data = document(4, v="blue")

    operation.engine.repair.put_back(kept(tmp_path, data), StateMark(operation.engine.place))

    assert operation.engine.state_bytes() == data


@pytest.mark.parametrize("place", ["local", "s3"])
def test_a_state_that_has_come_there_meanwhile_is_not_written_over(
    place: str, workshop: Workshop, s3: StateSettings, tmp_path: Path
) -> None:
    module = module_in(place, workshop, s3)
    operation = Operation(workshop, module, {"value": "blue"})
    operation.apply()
    theirs = operation.engine.state_bytes()

    with pytest.raises(OutcomeUnknown, match="another one than a moment ago"):
        operation.engine.repair.put_back(kept(tmp_path, document(4)), StateMark(operation.engine.place))

    assert operation.engine.state_bytes() == theirs


@pytest.mark.parametrize("place", ["local", "s3"])
def test_over_an_older_state_it_is_pushed_and_the_engine_counts_on(
    place: str, workshop: Workshop, s3: StateSettings, tmp_path: Path
) -> None:
    module = module_in(place, workshop, s3)
    operation = Operation(workshop, module, {"value": "blue"})
    operation.apply()
    before = operation.engine.state()
    assert before
    newer = json.loads(operation.engine.state_bytes() or b"") | {"serial": before.serial + 1, "outputs": {}}

    operation.engine.repair.put_back(kept(tmp_path, json.dumps(newer).encode()), mark(operation.engine))

    after = operation.engine.state()
    assert after
    assert (after.lineage, after.outputs) == (before.lineage, {})
    assert after.serial > before.serial


def test_what_the_engine_refuses_to_push_is_not_put_there(workshop: Workshop, tmp_path: Path) -> None:
    operation = Operation(workshop, workshop.module("net"), {"value": "blue"})
    operation.apply()
    with pytest.raises(OutcomeUnknown, match="could not be pushed"):
        operation.engine.repair.put_back(kept(tmp_path, document(9)), mark(operation.engine))


def test_a_lost_answer_is_no_refusal(workshop: Workshop, s3: StateSettings, moto: Server, tmp_path: Path) -> None:
    """The first try was stored, the second one is told that something is there."""
    operation = Operation(workshop, workshop.module("net", state=s3), {"value": 1})
    operation.plan()
    assert moto.app
    moto.app.faults.append(Fault("PUT", r"net\.tfstate$", status=500, times=1, store=True))
    data = document(1)

    operation.engine.repair.put_back(kept(tmp_path, data), StateMark(operation.engine.place))

    moto.app.faults.clear()
    assert operation.engine.state_bytes() == data


def test_it_is_stored_as_the_backend_would(workshop: Workshop, s3: StateSettings, moto: Server, tmp_path: Path) -> None:
    encrypted = StateSettings("s3", {**s3.settings, "encrypt": True})
    operation = Operation(workshop, workshop.module("net", state=encrypted), {"value": 1})
    operation.plan()
    operation.engine.repair.put_back(kept(tmp_path, document(1)), StateMark(operation.engine.place))
    found = stored(moto, s3)
    assert (found["ServerSideEncryption"], found["ContentType"]) == ("AES256", "application/json")


@pytest.mark.parametrize("there", [True, False])
def test_an_encrypted_state_goes_back_byte_for_byte(tmp_path: Path, there: bool) -> None:
    """The engine refuses to push one."""
    engine = tmp_path / "tofu"
    engine.write_text(
        f"#!/bin/sh\n[ $1 = version ] && echo OpenTofu v1.12.6 && exit\necho '{document(7, 'l').decode()}'\n"
    )
    engine.chmod(0o755)
    workshop = Workshop(tmp_path, str(engine))
    operation = Operation(workshop, workshop.module("net"))
    file = workshop.home / "state/default/net.tfstate"
    file.parent.mkdir(parents=True)
    if there:
        file.write_bytes(json.dumps(ENVELOPE).encode())
    newer = json.dumps({**ENVELOPE, "serial": 8, "encrypted_data": "BBBB"}).encode()

    over = StateMark(operation.engine.place, "l", 7) if there else StateMark(operation.engine.place)
    operation.engine.repair.put_back(kept(tmp_path, newer), over)

    assert file.read_bytes() == newer
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_state_left_in_the_modules_folder_is_made_private_and_only_that_one_is_removed(workshop: Workshop) -> None:
    module = workshop.module("net")
    repair = Operation(workshop, module).engine.repair
    assert repair.unsaved_state() is None
    left = module.source / "errored.tfstate"
    left.write_bytes(document(1))
    left.chmod(0o644)

    assert repair.unsaved_state() == document(1)
    assert left.stat().st_mode & 0o777 == 0o600
    repair.forget_unsaved_state(document(2))
    assert left.exists()
    repair.forget_unsaved_state(document(1))
    assert not left.exists()


# --- Imports


@pytest.fixture
def importing(workshop: Workshop, fakecloud_env: Mapping[str, str]) -> Operation:
    workshop.environ |= fakecloud_env
    operation = Operation(workshop, workshop.module("web", TWO))
    operation.engine.init(operation.folder)
    operation.folder.lock()
    return operation


def made(cloud: Cloud, number: int) -> CloudObject:
    thing = cloud.add("server", f"web-{number}")
    return CloudObject(f"fakecloud_server.web[{number}]", "fakecloud_server", "id", thing.id, open=True)


def test_objects_are_imported_one_by_one_and_each_failure_is_its_own(importing: Operation, cloud: Cloud) -> None:
    objects = [made(cloud, 0), CloudObject("fakecloud_server.web[1]", "fakecloud_server", "id", "srv-nope", open=True)]

    tried = importing.engine.repair.import_objects(importing.folder, objects, {})

    assert [one.ended.exit_code for one in tried] == [0, 1]
    assert tried[0].told == ""
    assert "there is no server srv-nope" in tried[1].told
    state = importing.engine.state()
    assert state
    assert [i.id for i in state.instances] == [objects[0].id]
    assert "Importing from ID" in importing.folder.events.read_text()


def test_an_id_that_looks_like_an_option_is_an_id(importing: Operation) -> None:
    odd = CloudObject("fakecloud_server.web[0]", "fakecloud_server", "id", "-allow-missing-config", open=True)
    (tried,) = importing.engine.repair.import_objects(importing.folder, [odd], {})
    assert "there is no server -allow-missing-config" in tried.told


def test_nothing_is_imported_in_a_folder_that_is_not_locked(workshop: Workshop) -> None:
    operation = Operation(workshop, workshop.module("net"))
    with pytest.raises(ValueError, match="must be locked"):
        operation.engine.repair.import_objects(operation.folder, [], {})


def test_names_come_out_of_the_plan_as_long_as_it_is_there(
    workshop: Workshop, fakecloud_env: Mapping[str, str]
) -> None:
    workshop.environ |= fakecloud_env
    operation = Operation(workshop, workshop.module("web", TWO))
    operation.plan()
    assert operation.engine.repair.planned_names(operation.folder) == {
        "fakecloud_server.web[0]": "name web-0",
        "fakecloud_server.web[1]": "name web-1",
    }
    operation.folder.drop_secrets()
    assert operation.engine.repair.planned_names(operation.folder) == {}
