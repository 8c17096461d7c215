"""The engine's lock on a state, looked at and released without an engine where that can be done."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from hybridwrap.adapters.engine.module_engine import EngineOfModule
from hybridwrap.domain.engine_run import LockInfo
from hybridwrap.domain.stack import StateSettings
from hybridwrap.domain.state import Unreadable
from hybridwrap.domain.state_lock import StateLock
from hybridwrap.errors import OutcomeUnknown, PreflightRefused
from tests.support import s3_servers
from tests.support.s3_servers import Fault, Server
from tests.support.workshop import Operation, Workshop

pytestmark = pytest.mark.e2e
_buckets = count()
NOTE = {"ID": "9f2d", "Operation": "OperationTypeApply", "Who": "ana@laptop", "Created": "2026-01-02T03:04:05Z"}


@pytest.fixture
def workshop(tmp_path: Path, engine_program: str) -> Workshop:
    return Workshop(tmp_path, engine_program)


@pytest.fixture
def local(workshop: Workshop) -> tuple[EngineOfModule, Path]:
    """An engine whose state is a file, and that file."""
    state = workshop.home / "state/default/net.tfstate"
    state.parent.mkdir(parents=True)
    state.write_text("{}")
    return Operation(workshop, workshop.module("net")).engine, state


@contextmanager
def locked(state: Path) -> Iterator[None]:
    """Let another process hold the lock that an engine takes on a local state."""
    program = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        holder.stdout.readline()
        yield
        holder.communicate(b"\n")


def test_a_note_beside_a_local_state_keeps_nobody_out_once_its_process_is_gone(
    local: tuple[EngineOfModule, Path],
) -> None:
    engine, state = local
    assert engine.state_lock() is None
    note = state.with_name(".net.tfstate.lock.info")
    note.write_text(json.dumps(NOTE))
    with locked(state):
        held = engine.state_lock()
        assert isinstance(held, StateLock)
        assert (held.id, held.info.who, held.holds) == ("9f2d", "ana@laptop", True)
        with pytest.raises(PreflightRefused, match="locked by a process that is alive"):
            engine.release_state_lock(held)
    left = engine.state_lock()
    assert isinstance(left, StateLock)
    assert not left.holds
    engine.release_state_lock(left)
    assert not note.exists()
    engine.release_state_lock(left)  # gone already


@pytest.mark.parametrize("content", ["", "{", "[]", '{"ID": 7}', "\x00"])
def test_what_is_no_lock_has_an_id_made_of_its_content(local: tuple[EngineOfModule, Path], content: str) -> None:
    engine, state = local
    state.with_name(".net.tfstate.lock.info").write_text(content)
    found = engine.state_lock()
    assert isinstance(found, StateLock)
    assert found.id.startswith("sha256:")
    assert not found.readable
    with pytest.raises(PreflightRefused, match="is another one by now"):
        engine.release_state_lock(StateLock(LockInfo("sha256:0"), found.place))
    engine.release_state_lock(found)
    assert engine.state_lock() is None


@pytest.fixture
def in_s3(workshop: Workshop, moto: Server, request: pytest.FixtureRequest) -> tuple[EngineOfModule, Server, str]:
    """An engine whose state is an object; its lock is switched on by the test's parameter."""
    bucket = moto.make_bucket(f"locks-{next(_buckets)}")
    settings = moto.backend(bucket, key="net.tfstate", **getattr(request, "param", {"use_lockfile": True}))
    workshop.environ |= s3_servers.environment()
    engine = Operation(workshop, workshop.module("net", state=StateSettings("s3", settings))).engine
    return engine, moto, bucket


def test_a_lock_object_is_read_and_deleted_and_a_refusal_is_said(in_s3: tuple[EngineOfModule, Server, str]) -> None:
    engine, server, bucket = in_s3
    assert engine.state_lock() is None
    server.client().put_object(Bucket=bucket, Key="net.tfstate.tflock", Body=json.dumps(NOTE).encode())
    found = engine.state_lock()
    assert isinstance(found, StateLock)
    assert (found.id, found.holds, found.place) == ("9f2d", True, f"s3://{bucket}/net.tfstate.tflock")
    assert server.app
    server.app.faults.append(Fault("DELETE", ".tflock", 403, "AccessDenied", times=1))
    with pytest.raises(OutcomeUnknown, match="can't be deleted") as refused:
        engine.release_state_lock(found)
    assert "s3:DeleteObject" in refused.value.hint
    engine.release_state_lock(found)
    assert engine.state_lock() is None


@pytest.mark.parametrize("in_s3", [{}], indirect=True, ids=["no locking"])
def test_without_locking_there_is_no_lock(in_s3: tuple[EngineOfModule, Server, str]) -> None:
    assert in_s3[0].state_lock() is None


@pytest.mark.parametrize("in_s3", [{"dynamodb_table": "locks"}], indirect=True, ids=["DynamoDB"])
def test_a_lock_in_a_table_can_be_seen_by_the_engine_alone(in_s3: tuple[EngineOfModule, Server, str]) -> None:
    found = in_s3[0].state_lock()
    assert isinstance(found, Unreadable)
    assert "DynamoDB table locks" in found.reason


@pytest.mark.parametrize(
    "in_s3", [{"use_lockfile": True, "sts_region": "us-east-1"}], indirect=True, ids=["unusual settings"]
)
def test_what_only_the_engine_can_see_the_engine_releases_by_its_id(
    in_s3: tuple[EngineOfModule, Server, str], workshop: Workshop
) -> None:
    engine, server, bucket = in_s3
    engine.init(workshop.make_folder())
    server.client().put_object(Bucket=bucket, Key="net.tfstate.tflock", Body=json.dumps(NOTE).encode())
    assert isinstance(engine.state_lock(), Unreadable)
    with pytest.raises(OutcomeUnknown, match="was not released"):
        engine.release_state_lock(StateLock(LockInfo("another"), "s3"))
    engine.release_state_lock(StateLock(LockInfo("9f2d"), "s3"))
    assert "Contents" not in server.client().list_objects_v2(Bucket=bucket)
