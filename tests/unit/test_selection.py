"""Which modules a command is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.domain.stack import LedgerSettings, Module, Stack
from hybridwrap.domain.status import Status
from hybridwrap.errors import UsageError
from hybridwrap.run.selection import Selection, select

ROOT = Path("/stack")


def module(name: str, *needs: str, tags: tuple[str, ...] = ()) -> Module:
    return Module(name, ROOT / "live" / name, depends_on=needs, tags=tags)


MODULES = (
    module("net", tags=("base",)),
    module("vm", "net", tags=("web",)),
    module("conf", "vm", tags=("web", "slow")),
    module("dns"),
)
STACK = Stack("shop", "dev", ROOT / "hybridwrap.yaml", {m.name: m for m in MODULES}, LedgerSettings())
STATUSES = {"net": Status.OK, "vm": Status.ERROR, "conf": Status.PENDING, "dns": Status.OK}


def chosen(selection: Selection, stack: Stack = STACK) -> tuple[str, ...]:
    return select(stack, selection, STATUSES.__getitem__)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), ("dns", "net", "vm", "conf")),
        (Selection(names=("conf", "net")), ("net", "conf")),
        (Selection(names=("conf",), with_dependencies=True), ("net", "vm", "conf")),
        (Selection(names=("net",), with_dependents=True), ("net", "vm", "conf")),
        (Selection(names=("vm",), with_dependencies=True, with_dependents=True), ("net", "vm", "conf")),
        (Selection(exclude=("dns", "vm")), ("net", "conf")),
        (Selection(names=("conf",), with_dependencies=True, exclude=("net",)), ("vm", "conf")),
        (Selection(tags=("web",)), ("vm", "conf")),
        (Selection(tags=("slow", "base")), ("net", "conf")),
        (Selection(names=("vm", "net"), tags=("web",)), ("vm",)),
        (Selection(statuses=(Status.ERROR, Status.PENDING)), ("vm", "conf")),
        (Selection(tags=("web",), statuses=(Status.ERROR,)), ("vm",)),
        (Selection(statuses=(Status.ERROR,), with_dependents=True), ("vm", "conf")),
        (Selection(folder=ROOT), ("dns", "net", "vm", "conf")),
        (Selection(folder=ROOT.parent), ("dns", "net", "vm", "conf")),
        (Selection(folder=ROOT / "live"), ("dns", "net", "vm", "conf")),
        (Selection(folder=ROOT / "live/vm"), ("vm",)),
        (Selection(folder=ROOT / "live/vm/templates"), ("vm",)),
        (Selection(folder=ROOT / "live/vm", with_dependencies=True), ("net", "vm")),
        (Selection(names=("net",), folder=ROOT / "live/vm"), ("net",)),
    ],
)
def test_a_selection_is_in_graph_order(selection: Selection, expected: tuple[str, ...]) -> None:
    assert chosen(selection) == expected


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(names=("vmm",)), "stack shop has no module vmm; did you mean vm?"),
        (Selection(names=("zzz",)), "stack shop has no module zzz; it has: conf, dns, net, vm"),
        (Selection(exclude=("dnss",)), "stack shop has no module dnss; did you mean dns?"),
        (Selection(tags=("nope",)), "no module of stack shop is selected by tag nope"),
        (Selection(names=("dns",), tags=("web",)), "no module of stack shop is selected by dns, tag web"),
        (Selection(statuses=(Status.UNKNOWN,)), "no module of stack shop is selected by status unknown"),
        (Selection(names=("vm",), exclude=("vm",)), "no module of stack shop is selected by vm, without vm"),
        (Selection(folder=ROOT / "docs"), "no module of stack shop is selected below /stack/docs"),
    ],
)
def test_a_selection_that_matches_nothing_is_wrong_usage(selection: Selection, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        chosen(selection)
    assert (caught.value.message, caught.value.exit_code) == (message, 64)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(only=frozenset({"conf", "net"})), ("net", "conf")),
        (Selection(only=frozenset({"vm"}), with_dependents=True), ("vm", "conf")),
        (Selection(only=frozenset({"conf"}), with_dependencies=True), ("net", "vm", "conf")),
        (Selection(names=("vm",), only=frozenset({"net"})), ()),
        (Selection(tags=("web",), only=frozenset({"vm", "net"})), ("vm",)),
        (Selection(only=frozenset()), ()),
        (Selection(only=frozenset({"vm"}), exclude=("vm",)), ()),
    ],
)
def test_a_comparison_narrows_and_may_leave_nothing(selection: Selection, expected: tuple[str, ...]) -> None:
    assert chosen(selection) == expected


def test_a_tag_that_nothing_has_is_wrong_usage_also_beside_a_comparison() -> None:
    with pytest.raises(UsageError):
        chosen(Selection(tags=("nope",), only=frozenset()))


def test_a_stack_without_modules_selects_nothing_and_that_is_no_error() -> None:
    empty = Stack("shop", "dev", ROOT / "hybridwrap.yaml", {}, LedgerSettings())
    assert chosen(Selection(), empty) == ()
