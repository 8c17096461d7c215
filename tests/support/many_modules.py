"""A stack of many modules, its ledger in S3, as if all but the last had been applied: what readers look at is there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.run import ModuleEnd, RunEnd, RunStart
from tests.support.ledgers import FakeClock, Ids, begin, ok, writer
from tests.support.s3_servers import Server

RUNS = 12
MODULE = 'variable "name" { default = "" }\nresource "terraform_data" "this" { input = var.name }\n'
HEAD = """
version: 1
stack: shop
{state}
modules:
"""


def write_many(root: Path, server: Server, bucket: str, count: int) -> str:
    """Write the manifest and module, and fill the bucket; name the module that was not applied."""
    names = [f"m{number:04}" for number in range(count)]
    (root / "module").mkdir(parents=True)
    (root / "module" / "main.tf").write_text(MODULE)
    modules = "".join(f"  {name}: {{source: module}}\n" for name in names)
    (root / "hybridwrap.yaml").write_text(HEAD.format(state=server.state(bucket)) + modules)
    documents, client = _documents(names[:-1]), server.client()
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda item: client.put_object(Bucket=bucket, Key=f"hybridwrap/{item[0]}", Body=item[1]), documents
            )
        )
    return names[-1]


def _documents(names: list[str]) -> list[tuple[str, bytes]]:
    store, clock = MemoryStore(), FakeClock()
    ledger = Ledger(store, "shop", "default", writer(), clock, Ids())
    ledger.open()
    for name in names:
        held = ledger.begin(ledger.record(name), begin(), operation=f"O-{name}")
        ledger.end(held, ok(1, address=f"10.0.0.1 of {name}"), operation=f"O-{name}", entry_id=f"E-{name}")
    for number in range(RUNS):
        clock.sleep(60)
        run, time = f"R{number:04}", clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        ledger.start_run(RunStart(run, "apply", time, writer(), ("apply",), tuple(names), dict.fromkeys(names, ())))
        ledger.end_run(RunEnd(run, time, 0, {name: ModuleEnd("ok") for name in names}))
    wanted = [
        item.key for prefix in ("head/", "runs/", "ledger.json") for item in store.list(f"v1/shop/default/{prefix}")
    ]
    return [(key, store.read(key) or b"") for key in wanted]
