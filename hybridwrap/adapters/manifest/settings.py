"""The settings of a stack and of a module, from nodes to their types; the schema has checked the form."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hybridwrap.adapters.home import home_of
from hybridwrap.adapters.manifest.node import Node, empty, overlay, plain
from hybridwrap.adapters.manifest.scope import Scope, Where
from hybridwrap.domain.duration import seconds_in
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import EngineWish, Guard, LedgerSettings, Retry, StateSettings, Verify
from hybridwrap.domain.version import parse_constraint

STATE_KEY = "{stack}/{environment}/{module}.tfstate"
REACH = ("bucket", "region", "profile", "endpoints", "endpoint", "use_path_style", "force_path_style")
LEDGER_PREFIX = "hybridwrap/"


def text(node: Node | None, default: str = "") -> str:
    return str(node.value) if node else default


def texts(node: Node | None) -> tuple[str, ...]:
    return tuple(str(item.value) for item in node.items) if node else ()


def seconds(node: Node | None) -> float | None:
    """Read a duration: a number of seconds, or hours, minutes and seconds such as 1h30m."""
    if node is None:
        return None
    return seconds_in(node.value) if isinstance(node.value, str) else float(plain(node))


def read_engine(root: Node, module: Node, scope: Scope) -> EngineWish:
    node = overlay(root.get("engine"), module.get("engine"))
    version = node.get("version") if node else None
    if version:
        check_constraint(version, ("engine", "version"), scope)
    return EngineWish(text(node.get("program") if node else None, "auto"), text(version))


def check_constraint(node: Node, where: Where, scope: Scope) -> None:
    try:
        parse_constraint(text(node))
    except ValueError as error:
        scope.error(node, where, f"not a version constraint: {error}")


def read_state(root: Node, module: Node, scope: Scope, name: str) -> StateSettings:
    """Read where a module's state lies; a module's own `state` completes the stack's when it is of the same type."""
    common, own = root.get("state"), module.get("state")
    if common and own and common.fields.keys() != own.fields.keys():
        common = None
    node = overlay(common, own)
    if node is None:
        return StateSettings("local")
    where: Where = ("modules", name, "state") if own else ("state",)
    backend = next(iter(node.fields))
    settings = scope.fill_tree(node.fields[backend], (*where, backend), name)
    if backend == "local":
        settings = {key: scope.from_root(node.fields[backend].fields[key], value) for key, value in settings.items()}
    return StateSettings(backend, _with_s3_defaults(settings, scope, name) if backend == "s3" else settings)


def _with_s3_defaults(settings: Mapping[str, Json], scope: Scope, name: str) -> Mapping[str, Json]:
    names = {"stack": scope.stack, "environment": scope.environment, "module": name}
    locking = {} if "dynamodb_table" in settings else {"use_lockfile": True}
    return {"key": STATE_KEY.format(**names), **locking, **settings}


def read_ledger(root: Node, scope: Scope) -> LedgerSettings:
    """Read where the ledger lies; none said: beside an S3 state, else in a folder."""
    node = root.get("ledger") or empty(root.mark)
    common = {
        "encryption": plain(node.get("encryption") or empty(root.mark)),
        "keep_source": bool(plain(kept)) if (kept := node.get("keep_source")) else True,
    }
    s3, folder, state = node.get("s3"), node.get("folder"), root.get("state", "s3")
    if s3 and folder:
        scope.error(s3, ("ledger",), "says s3 and folder; a ledger lies in one place")
    if s3:
        settings = scope.fill_tree(s3, ("ledger", "s3"))
        return _s3_ledger(settings.pop("bucket"), settings.pop("prefix", LEDGER_PREFIX), settings, common)
    if folder:
        return LedgerSettings(scope.beside(folder, scope.fill(folder, ("ledger", "folder"))), **common)
    if state and state.get("bucket"):
        shared = {name: child for name, child in state.fields.items() if name in REACH}
        settings = {name: scope.fill_tree(child, ("state", "s3", name)) for name, child in shared.items()}
        return _s3_ledger(settings["bucket"], LEDGER_PREFIX, _beside(settings), common)
    return LedgerSettings(home_of(scope.root, scope.environ) / "ledger", in_home=True, **common)


def _s3_ledger(bucket: Json, prefix: Json, settings: Mapping[str, Json], common: Mapping[str, Json]) -> LedgerSettings:
    prefix = f"{prefix.rstrip('/')}/" if prefix else ""
    return LedgerSettings(bucket=bucket, prefix=prefix, settings=settings, **common)


def _beside(state: Mapping[str, Json]) -> dict[str, Json]:
    """The settings of an S3 state that reach the same bucket, under the ledger's own names."""
    endpoints = state.get("endpoints") or {}
    found = {
        "region": state.get("region"),
        "profile": state.get("profile"),
        "endpoint": endpoints.get("s3") or state.get("endpoint"),
        "use_path_style": state.get("use_path_style", state.get("force_path_style")),
    }
    return {name: value for name, value in found.items() if value is not None}


def read_retry(node: Node | None, where: Where, scope: Scope) -> Retry:
    if node is None:
        return Retry()
    patterns = node.get("on")
    for at, pattern in enumerate(patterns.items if patterns else ()):
        try:
            re.compile(text(pattern))
        except re.error as error:
            scope.error(pattern, (*where, "on", at), f"not a regular expression: {error}")
    attempts, wait = node.get("attempts"), seconds(node.get("wait"))
    return Retry(texts(patterns), int(plain(attempts)) if attempts else 3, 30.0 if wait is None else wait)


def read_verify(node: Node | None, where: Where, scope: Scope, name: str) -> Verify:
    if node is None:
        return Verify()
    absent, aws, timeout = node.get("absent"), node.get("aws"), seconds(node.get("timeout"))
    if not absent and not aws:
        scope.error(node, where, "says how long, but not whom to ask: give it `absent` or `aws`")
    tags = aws.get("tags") if aws else None
    return Verify(
        absent=texts(absent),
        timeout_seconds=60.0 if timeout is None else timeout,
        aws_tags=scope.fill_tree(tags, (*where, "aws", "tags"), name) if tags else {},
        aws_region=text(aws.get("region")) if aws else "",
    )


def read_guard(node: Node | None) -> Guard:
    if node is None:
        return Guard()
    limit = node.get("max_destroys")
    return Guard(plain(limit) if limit else None, texts(node.get("protected_types")))
