"""Saved runs: what a plan is compared with, what an approval covers, and where plans lie."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from hybridwrap.adapters.blob_cipher import BlobCipher, OwnKey
from hybridwrap.adapters.clock import Ulids
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.adapters.saved_plan import names_folder
from hybridwrap.adapters.schemas import load_schema
from hybridwrap.domain.codec import encode
from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.entry import EngineIdentity, Source
from hybridwrap.domain.json import Json
from hybridwrap.domain.keys import Keys
from hybridwrap.domain.ports import PlanOptions
from hybridwrap.domain.record import Record
from hybridwrap.domain.saved import Basis, Now, SavedInputs, SavedPart, SavedPlan, Seal, joined, moved, not_covered
from hybridwrap.domain.saved_runs import SavedRuns
from hybridwrap.domain.state import StatePlace
from hybridwrap.errors import ApprovalOutdated, LedgerDamaged, PreflightRefused
from tests.support.ledgers import ENGINE, FakeClock, state, writer

SOURCE = Source("d1", lock="l1")
BASIS = Basis("p", "s", "plan-digest", 3, "tail-3", state(7), SOURCE, ENGINE, "/a/vm")
INPUTS = SavedInputs({"size": "small", "subnet": "s-1"}, {"region": "eu"}, {"network.subnet": "s-1"})
NOW = Now(Record("vm", 3, "tail-3"), state(7), SOURCE, ENGINE, INPUTS)
PLAN = SavedPlan("planned", planned=(PlannedChange("x.a", Action.UPDATE),), basis=BASIS)
CREATE, UPDATE = PlannedChange("x.a", Action.CREATE), PlannedChange("x.a", Action.UPDATE)


def test_a_plan_on_which_nothing_has_moved_may_be_applied() -> None:
    assert list(moved(BASIS, INPUTS, NOW)) == []


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (replace(NOW, record=Record("vm", 4, "t", command="apply", operation="O2", by="bo@pc")), "apply O2 of bo@pc"),
        (replace(NOW, state=replace(state(7), place=StatePlace("s3", "x", "b"))), "its state is at s3://b/x"),
        (replace(NOW, state=state(8)), "serial 8, was at serial 7"),
        (replace(NOW, state=state(7, "other")), "its state"),
        (replace(NOW, state=state(0)), "not there"),
        (replace(NOW, source=Source("d2", lock="l1")), "its files"),
        (replace(NOW, source=Source("d1", lock="l2")), "lock file"),
        (replace(NOW, engine=EngineIdentity("terraform", "1.12.0")), "terraform 1.12.0, the plan was made by"),
        (replace(NOW, inputs=replace(INPUTS, values={**INPUTS.values, "size": "large"})), "inputs have changed: size"),
        (replace(NOW, inputs=replace(INPUTS, outside={})), "inputs have changed: region"),
        (replace(NOW, inputs=replace(INPUTS, upstream={"network.subnet": "s-2"})), "have changed: network.subnet"),
    ],
)
def test_whatever_moves_is_named_and_no_value_of_it(now: Now, told: str) -> None:
    (reason,) = moved(BASIS, INPUTS, now)
    assert told in reason
    assert "large" not in reason


@pytest.mark.parametrize(
    ("was", "now", "differs"),
    [
        ({"x": None}, {}, True),
        ({"x": 1}, {"x": "1"}, True),
        ({"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}, False),
    ],
)
def test_values_are_compared_as_they_are_written(
    was: Mapping[str, Json], now: Mapping[str, Json], differs: bool
) -> None:
    there = replace(NOW, inputs=SavedInputs(now))
    assert any(moved(BASIS, SavedInputs(was), there)) is differs


@pytest.mark.parametrize(
    ("approved", "made", "beyond"),
    [
        ([CREATE], [CREATE], ()),
        ([CREATE, PlannedChange("x.b", Action.DELETE)], [CREATE], ()),
        ([UPDATE], [replace(UPDATE, reason="tainted")], ()),
        ([UPDATE], [PlannedChange("x.a", Action.REPLACE)], ("replace x.a (approved was: update)",)),
        ([CREATE], [CREATE, PlannedChange("x.b", Action.DELETE)], ("delete x.b (not in the approved plan)",)),
        ([], [CREATE], ("create x.a (not in the approved plan)",)),
    ],
)
def test_an_approval_covers_the_same_actions_or_fewer(
    approved: list[PlannedChange], made: list[PlannedChange], beyond: tuple[str, ...]
) -> None:
    assert not_covered(approved, made) == beyond


def part(run: str, time: str, **modules: SavedPlan) -> SavedPart:
    return SavedPart(run, time, writer(), PlanOptions(), modules)


def test_parts_of_several_processes_make_one_run_and_the_later_plan_counts() -> None:
    first = part("R", "2026-01-01T00:00:00.000Z", a=PLAN, b=SavedPlan("unchanged"))
    later = part("R", "2026-01-01T00:05:00.000Z", b=PLAN, c=SavedPlan("deferred"))
    whole = joined("R", [later, first])
    assert whole.plans == ("a", "b")
    assert whole.time == first.time
    with pytest.raises(ApprovalOutdated, match="different options"):
        joined("R", [first, replace(later, options=PlanOptions(destroy=True))])


@pytest.mark.parametrize(
    ("run", "module", "plan"),
    [
        ("other", "vm", PLAN),
        ("R", "db", PLAN),
        ("R", "vm", replace(PLAN, planned=())),
        ("R", "vm", replace(PLAN, basis=replace(BASIS, digest="another plan"))),
        ("R", "vm", replace(PLAN, basis=replace(BASIS, tail="another tail"))),
        ("R", "vm", replace(PLAN, basis=None)),
    ],
)
def test_a_seal_fits_the_plan_that_it_was_made_for_and_no_other(run: str, module: str, plan: SavedPlan) -> None:
    seal = Seal("R", "vm", BASIS.digest, BASIS.tail, PLAN.planned, INPUTS)
    assert seal.fits("R", "vm", PLAN)
    assert not seal.fits(run, module, plan)


def saved_runs(store: MemoryStore, clock: FakeClock, key: bytes | None = b"k" * 32) -> SavedRuns:
    return SavedRuns(store, Keys("shop", "prod"), clock, BlobCipher(OwnKey(key)) if key else None)


def test_nothing_secret_is_stored_in_clear_and_nothing_without_a_key() -> None:
    store, clock = MemoryStore(), FakeClock()
    digest = saved_runs(store, clock).put("R", b"very secret")
    (key,) = (item.key for item in store.list(""))
    assert b"very secret" not in (store.read(key) or b"")
    assert saved_runs(store, clock).get("R", digest) == b"very secret"
    with pytest.raises(PreflightRefused, match="no key"):
        saved_runs(store, clock, None).put("R", b"very secret")


def test_what_is_gone_or_altered_is_no_plan() -> None:
    store, clock = MemoryStore(), FakeClock()
    runs = saved_runs(store, clock)
    digest = runs.put("R", b"plan")
    store.replace(Keys("shop", "prod").saved_secret("R", digest), b"another")
    with pytest.raises(ApprovalOutdated, match="not what was stored"):
        runs.get("R", digest)
    runs.forget("R", digest)
    with pytest.raises(ApprovalOutdated, match="not stored any more"):
        runs.get("R", digest)


def test_a_damaged_part_is_no_plan_and_a_new_one_helps() -> None:
    store = MemoryStore()
    store.create(Keys("shop", "prod").saved_part("R1", "P1"), b'{"v": 1, "run"')
    with pytest.raises(LedgerDamaged, match="not JSON") as damaged:
        saved_runs(store, FakeClock()).read("R1")
    assert damaged.value.hint == "hybridwrap plan --save"


def test_plans_expire_and_are_removed_by_whoever_saves_later() -> None:
    store, clock = MemoryStore(), FakeClock()
    runs = saved_runs(store, clock)
    run = Ulids(clock).new()
    runs.put(run, b"plan")
    runs.add(part(run, "2026-01-01T00:00:00.000Z", vm=PLAN), "01P")
    clock.sleep(timedelta(days=29).total_seconds())
    runs.prune()
    assert runs.read(run).plans == ("vm",)
    clock.sleep(timedelta(days=2).total_seconds())
    with pytest.raises(ApprovalOutdated, match="kept for 30d"):
        runs.read(run)
    runs.prune()
    assert list(store.list("")) == []
    with pytest.raises(ApprovalOutdated, match="no plan of run"):
        runs.read(run)


def test_a_part_fits_its_schema() -> None:
    document = json.loads(
        encode(part("R", "2026-01-01T00:00:00.000Z", vm=PLAN, db=SavedPlan("deferred", "needs vm.id")))
    )
    schema: Any = load_schema("saved.v1")
    Draft202012Validator(schema).validate(document)
    for kind in (Basis, SavedPlan, PlanOptions):
        assert set(schema["$defs"][kind.__name__]["properties"]) == set(kind.__match_args__)


def plan_file(*values: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tfplan", "\x00".join(values))
    return content.getvalue()


@pytest.mark.parametrize(
    ("plan", "applied_in", "tells"),
    [
        (plan_file("/home/a/shop/live/vm"), "/home/a/shop/live/vm", False),
        (plan_file("/home/a/shop/live/vm"), "/builds/7/live/vm", True),
        (plan_file("/home/a/shop"), "/builds/7/live/vm", True),
        (plan_file("./live/vm", "10.0.0.0"), "/builds/7/live/vm", False),
        (b"encrypted by OpenTofu", "/builds/7/live/vm", True),
    ],
)
def test_a_plan_with_a_path_of_its_checkout_in_it_is_for_that_folder_alone(
    plan: bytes, applied_in: str, tells: bool
) -> None:
    assert names_folder(plan, PurePosixPath("/home/a/shop/live/vm"), PurePosixPath(applied_in)) is tells
