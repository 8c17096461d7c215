"""A bucket in which records lie is not torn down while they are needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridwrap.domain.entry import CloudObject, StateMark
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import LedgerSettings, Module, Stack
from hybridwrap.domain.state import StatePlace
from hybridwrap.domain.status import Status
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.context import Context, Options, Tools
from hybridwrap.run.knowledge import Knowledge
from hybridwrap.run.protected import protected_parts, refuse_protected
from tests.support.imaginary import NoHooks, Silent

BUCKET = CloudObject("aws_s3_bucket.it", "aws_s3_bucket", "id", "acme")
IN_IT = StateMark(StatePlace("s3", "shop/vm.tfstate", "acme"), "6e1f", 1)
ELSEWHERE = StateMark(StatePlace("s3", "shop/base.tfstate", "other"), "6e1f", 1)
BASE = Record("base", status=Status.OK, settled=Status.OK, objects=(BUCKET,), state=ELSEWHERE)
VM = Record("vm", status=Status.OK, settled=Status.OK, state=IN_IT)


def context(*records: Record, ledger: LedgerSettings) -> Context:
    modules = {record.module: Module(record.module, Path("/x")) for record in records}
    unused = dict.fromkeys(("ledger", "engines", "folders", "host", "sources", "prober", "clock", "ids"))
    tools = Tools(
        stack=Stack("shop", "default", Path("/x/hybridwrap.yaml"), modules, ledger),
        hooks=NoHooks(),
        **unused,  # type: ignore[arg-type]
    )
    knowledge = Knowledge({record.module: record for record in records})
    return Context("R1", (), tools, Options(), Silent(), None, knowledge)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("records", "ledger_bucket", "parts"),
    [
        ((BASE, VM), "", ("aws_s3_bucket.it (the state of vm lies in it)",)),
        ((BASE, replace(VM, settled=Status.UNKNOWN)), "", ("aws_s3_bucket.it (the state of vm lies in it)",)),
        ((BASE, replace(VM, settled=Status.DESTROYED)), "", ()),
        ((replace(BASE, state=IN_IT),), "", ("aws_s3_bucket.it (the state of base lies in it)",)),
        ((BASE,), "acme", ("aws_s3_bucket.it (the ledger lies in it)",)),
        ((BASE, VM), "acme", ("aws_s3_bucket.it (the ledger lies in it)",)),
        ((BASE,), "another", ()),
        ((replace(BASE, settled=Status.DESTROYED), VM), "acme", ()),
        ((replace(BASE, objects=(replace(BUCKET, type="aws_vpc"),)), VM), "acme", ()),
    ],
)
def test_a_bucket_is_kept_as_long_as_something_that_is_needed_lies_in_it(
    records: tuple[Record, ...], ledger_bucket: str, parts: tuple[str, ...]
) -> None:
    assert protected_parts(context(*records, ledger=LedgerSettings(bucket=ledger_bucket)), "base") == parts


def test_it_is_told_before_anything_starts() -> None:
    with pytest.raises(PreflightRefused, match=r"base is protected: aws_s3_bucket.it \(the state of vm lies in it\)"):
        refuse_protected(context(BASE, VM, ledger=LedgerSettings()), ["base", "vm"])
