"""What has to be written into a manifest so that a renamed module keeps its state's place."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from msgspec.structs import replace

from hybridwrap.adapters.clock import SystemClock
from hybridwrap.adapters.engine.engines import StackEngines
from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.entry import Adopt, Moved
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import LedgerSettings, Module, Stack, StateSettings
from hybridwrap.domain.state import StatePlace
from hybridwrap.domain.status import Status
from hybridwrap.run.apply import apply
from hybridwrap.run.rename import Rename, _adoption, rename, setting_for
from tests.support.imaginary import STACK, Machine, World, begin_command
from tests.support.ledgers import state
from tests.support.manifests import EMPTY, load, write_stack

PLACES = pytest.mark.parametrize(
    "place",
    [
        StatePlace("local", ".hybridwrap/state/prod/net.tfstate"),
        StatePlace("local", 'states/with "quotes" and spaces.tfstate'),
        StatePlace("local", "../elsewhere/blue/terraform.tfstate", workspace="blue"),
        StatePlace("s3", "shop/prod/net.tfstate", "acme-state"),
        StatePlace("s3", "env:/blue/shop/net.tfstate", "acme-state", "blue"),
    ],
    ids=str,
)


@PLACES
def test_the_setting_that_is_named_means_the_place_that_it_is_named_for(place: StatePlace, tmp_path: Path) -> None:
    ((backend, settings),) = yaml.safe_load(setting_for(place))["state"].items()
    workspace = "" if place.workspace == "default" else place.workspace
    module = Module("network", tmp_path / "net", state=StateSettings(backend, settings), workspace=workspace)
    stack = Stack("shop", "prod", tmp_path / "hybridwrap.yaml", {"network": module}, LedgerSettings())
    engines = StackEngines(stack, tmp_path / ".hybridwrap", SystemClock(), {}, parallelism=1)
    assert engines.place(module) == place


def test_another_backend_is_named_by_its_place() -> None:
    said = setting_for(StatePlace("azurerm", "shop/net", "container"))
    assert said == "the settings of the azurerm backend that mean shop/net"


@PLACES
def test_in_an_included_file_it_is_said_as_that_file_means_it(place: StatePlace, tmp_path: Path) -> None:
    state = f"{setting_for(place, '../..')[len('state: ') :]}"
    workspace = "" if place.workspace == "default" else f", workspace: {place.workspace}"
    team = f"modules:\n  network: {{source: net, state: {state}{workspace}}}\n"
    file = write_stack(tmp_path, 'version: 1\nstack: shop\ninclude: ["live/*/team.yaml"]\n', {"live/net/net": EMPTY})
    (tmp_path / "live/net/team.yaml").write_text(team)
    stack = load(file)
    engines = StackEngines(stack, tmp_path / ".hybridwrap", SystemClock(), {}, parallelism=1)
    assert engines.place(stack.modules["network"]) == place


ELSEWHERE = """
    version: 1
    stack: shop
    include: ["live/*/team.yaml"]
    environments: {dev: {}, prod: {modules: {here: {source: net}}}}
    modules:
      vm: {source: net}
"""
TEAM = """
    modules:
      network: {source: ../../net}
      cache: {source: ../../net}
    environments:
      prod:
        modules:
          cache: {tags: [slow]}
"""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("vm", "hybridwrap.yaml:6"),
        ("here", "hybridwrap.yaml:4"),
        ("network", "live/net/team.yaml:2"),
        ("cache", "live/net/team.yaml:7"),
    ],
)
def test_what_to_write_is_said_with_the_file_and_the_line_of_the_nearest_layer(
    tmp_path: Path, name: str, told: str
) -> None:
    file = write_stack(tmp_path, ELSEWHERE, {"net": EMPTY, "live/net/x": EMPTY})
    (tmp_path / "live/net/team.yaml").write_text(dedent(TEAM.lstrip("\n")))
    declared = load(file, environment="prod").modules[name].declared_at
    assert declared
    assert declared.shown(tmp_path) == told
    assert declared.shown(tmp_path / "live/net").endswith(told.removeprefix("live/net/"))


def test_of_two_that_rename_at_once_each_ends_its_run() -> None:
    context = begin_command(MemoryStore(), World(), Machine(), "01-mv", step=lambda: None)
    ledger = context.tools.ledger
    old = ledger.adopt(ledger.record("server"), Adopt("R1", "it is there", state(1)))
    adopt = Adopt(context.run, "", state(1), origin={"module": "server", "seq": old.seq, "hash": old.tail})
    todo = Rename(old, ledger.record("vm"), adopt)
    ledger.adopt(ledger.record("vm"), replace(adopt, run="R2"))
    end = rename(context, todo, "")
    assert (end.exit_code, end.modules["vm"].result) == (20, "refused")
    assert ledger.run(context.run).end == end


def test_an_apply_by_the_old_name_that_was_planned_before_the_rename_does_not_take_the_state_back() -> None:
    store, world = MemoryStore(), World()
    bare = replace(STACK, modules={"vm": STACK.modules["vm"]})
    assert apply(begin_command(store, world, Machine(bare), "10", step=lambda: None), ["vm"], None).exit_code == 0
    world.alive.clear()  # so that there is something to do

    def renamed_meanwhile() -> None:
        ledger = begin_command(store, world, Machine(bare), "12-mv", step=lambda: None).tools.ledger
        old = ledger.record("vm")
        if old.settled is Status.OK:
            adopt = _adoption(
                begin_command(store, world, Machine(bare), "13", step=lambda: None), old, Record("server"), ""
            )
            assert adopt
            ledger.adopt(ledger.record("server"), adopt)
            ledger.moved(old, Moved("server", ""))

    context = begin_command(store, world, Machine(bare), "11", step=renamed_meanwhile)
    end = apply(context, ["vm"], None).modules["vm"]
    assert (end.exit_code, end.reason) == (
        10,
        "vm: its state is recorded as that of server, which the manifest has no more",
    )
    assert context.tools.ledger.record("vm").status is Status.NONE
    assert world.ids("vm") == []
