"""What has to be written into a manifest so that a renamed module keeps its state's place."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from hybridwrap.adapters.clock import SystemClock
from hybridwrap.adapters.engine.engines import StackEngines
from hybridwrap.domain.stack import LedgerSettings, Module, Stack, StateSettings
from hybridwrap.domain.state import StatePlace
from hybridwrap.run.rename import setting_for


@pytest.mark.parametrize(
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
