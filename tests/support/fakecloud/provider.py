"""The Terraform provider of the fake cloud, on the `tf` package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tf.iface import (
    CreateContext,
    DataSource,
    DeleteContext,
    ImportContext,
    Provider,
    ReadContext,
    ReadDataContext,
    Resource,
    UpdateContext,
)
from tf.schema import Attribute, Schema
from tf.types import Map, Number, String, Unknown
from tf.utils import Diagnostics

from tests.support.fakecloud import SOURCE, api
from tests.support.fakecloud.api import Answer, Request
from tests.support.fakecloud.cloud import Cloud, CloudThing
from tests.support.fakecloud.faults import Operation

State = dict[str, Any]  # what the framework hands over: attribute names and plain values


class FakeCloudProvider(Provider):
    """Serve one cloud: the file given at the start, else the one that the provider block names.

    `cloud` resolves a symbolic link afresh, so that a long-lived provider can be pointed to another file.
    """

    def __init__(self, database: Path | None) -> None:
        self.database = database

    @property
    def cloud(self) -> Cloud:
        assert self.database is not None, "the provider is used before it was configured"
        return Cloud(self.database.resolve())

    def get_model_prefix(self) -> str:
        return "fakecloud_"

    def full_name(self) -> str:
        return SOURCE

    def get_provider_schema(self, diags: Diagnostics) -> Schema:
        return Schema(attributes=[Attribute("database", String(), optional=True)])

    def validate_config(self, diags: Diagnostics, config: State) -> None: ...

    def configure_provider(self, diags: Diagnostics, config: State) -> None:
        named = config.get("database")
        wanted = Path(named) if named else self.database
        if wanted is None:
            diags.add_error("No cloud", "Set `database` in the provider block, or FAKECLOUD_DB.")
        elif self.database is not None and wanted.resolve() != self.database.resolve():
            diags.add_error("Another cloud", f"This provider serves {self.database}, not {wanted}.")
        elif (expired := _expired(wanted)) is not None:
            diags.add_error("ExpiredToken", f"The token was good until minute {expired}.")
        else:
            self.database = wanted

    def stop(self) -> None:
        """Take note that an engine was interrupted; calls in flight go on."""
        if self.database is not None:
            api.stop(self.cloud)

    def get_resources(self) -> list[type[Resource]]:
        return [Server, Network, Disk]

    def get_data_sources(self) -> list[type[DataSource]]:
        return [ServerByName]


def _expired(database: Path) -> int | None:
    """The last minute of a token that is too old, None for one that is good: where a clock lies beside the cloud."""
    clock = database.resolve().with_name("clock")
    if not clock.exists():
        return None
    until = int(os.environ.get("FAKECLOUD_TOKEN", "none-0").rpartition("-")[2])
    return until if until <= int(clock.read_text()) else None


class CloudResource(Resource):
    """What the three resource types share; the framework wants a class for each."""

    kind: str
    parent: str | None = None  # the attribute that names the object whose end takes this one with it
    own: tuple[Attribute, ...] = ()

    def __init__(self, provider: FakeCloudProvider) -> None:
        self.provider = provider

    @classmethod
    def get_name(cls) -> str:
        return cls.kind

    @classmethod
    def get_schema(cls) -> Schema:
        common = (Attribute("id", String(), computed=True), Attribute("name", String(), required=True))
        return Schema(version=1, attributes=[*common, *cls.own])

    def create(self, ctx: CreateContext, planned: State) -> State | None:
        request = Request(Operation.CREATE, self.kind, planned["name"])
        given = {k: v for k, v in planned.items() if v is not Unknown and k not in {"id", "name", self.parent}}
        answer = api.create(self.provider.cloud, request, given, planned[self.parent] if self.parent else None)
        return self._said(ctx.diagnostics, answer)

    def read(self, ctx: ReadContext, current: State) -> State | None:
        return self._said(ctx.diagnostics, api.read(self.provider.cloud, self._request(Operation.READ, current)))

    def update(self, ctx: UpdateContext, current: State, planned: State) -> State | None:
        changed = {k: v for k, v in planned.items() if k not in {"id", "name", self.parent}}
        answer = api.update(self.provider.cloud, self._request(Operation.UPDATE, current), changed)
        return self._said(ctx.diagnostics, answer) or current

    def delete(self, ctx: DeleteContext, current: State) -> State | None:
        answer = api.delete(self.provider.cloud, self._request(Operation.DELETE, current))
        self._said(ctx.diagnostics, answer)
        return current if answer.error else None

    def import_(self, ctx: ImportContext, id: str) -> State | None:  # noqa: A002  the framework's name
        thing = self.provider.cloud.find(id)
        if thing is None or thing.kind != self.kind:
            ctx.diagnostics.add_error(f"there is no {self.kind} {id}")
            return None
        return self._state(thing)

    def _request(self, operation: Operation, current: State) -> Request:
        return Request(operation, self.kind, current["name"], current["id"])

    def _said(self, diagnostics: Diagnostics, answer: Answer) -> State | None:
        if answer.error:
            diagnostics.add_error(answer.error, "fakecloud injected this", path=["name"])
        return self._state(answer.thing) if answer.thing else None

    def _state(self, thing: CloudThing) -> State:
        own = {attribute.name: thing.attributes.get(attribute.name) for attribute in self.own}
        return {**own, **({self.parent: thing.parent} if self.parent else {}), "id": thing.id, "name": thing.name}


def _optional(name: str, *, requires_replace: bool = False) -> Attribute:
    return Attribute(name, String(), optional=True, requires_replace=requires_replace)


class Server(CloudResource):
    kind = "server"
    own = (
        _optional("size", requires_replace=True),
        _optional("network_id"),
        Attribute("tags", Map(String()), optional=True),
        Attribute("ip", String(), computed=True),
        Attribute("admin_password", String(), computed=True, sensitive=True),
    )


class Network(CloudResource):
    kind = "network"
    own = (_optional("cidr"),)


class Disk(CloudResource):
    kind = "disk"
    parent = "server_id"
    own = (
        Attribute("server_id", String(), required=True, requires_replace=True),
        Attribute("size_gb", Number(), optional=True),
    )


class ServerByName(DataSource):
    """`data "fakecloud_server"`: the one server of a name."""

    _shown = ("size", "network_id", "ip")

    def __init__(self, provider: FakeCloudProvider) -> None:
        self.provider = provider

    @classmethod
    def get_name(cls) -> str:
        return "server"

    @classmethod
    def get_schema(cls) -> Schema:
        computed = [Attribute(name, String(), computed=True) for name in ("id", *cls._shown)]
        return Schema(attributes=[Attribute("name", String(), required=True), *computed])

    def read(self, ctx: ReadDataContext, config: Mapping[str, Any]) -> State | None:
        found = self.provider.cloud.objects("server", name=config["name"])
        if len(found) != 1:
            ctx.diagnostics.add_error(f"{len(found)} servers are named {config['name']}", path=["name"])
            return None
        request = Request(Operation.READ, "server", found[0].name, found[0].id)
        answer = api.read(self.provider.cloud, request)
        if answer.error or answer.thing is None:
            ctx.diagnostics.add_error(answer.error or f"there is no server {request.name}", path=["name"])
            return None
        shown = {name: answer.thing.attributes.get(name) for name in self._shown}
        return {"id": answer.thing.id, "name": answer.thing.name, **shown}
