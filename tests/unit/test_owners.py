"""Which entry of an owner shows that what went with it is gone."""

from __future__ import annotations

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.run.apply import apply
from hybridwrap.run.context import Context
from hybridwrap.run.destroy import destroy
from hybridwrap.run.left_alone import Wishes
from hybridwrap.run.owners import end_of_owner
from tests.support.imaginary import Machine, World, begin_command


def test_the_end_of_the_life_that_a_module_was_made_in_is_cited_and_no_later_one() -> None:
    store, world, machine = MemoryStore(), World(), Machine()

    def command(client: str, *, destroys: bool = False) -> Context:
        return begin_command(store, world, machine, client, step=lambda: None, destroys=destroys)

    assert apply(command("10"), ["vm", "disk"], None).exit_code == 0
    disk = command("11").tools.ledger.record("disk")
    assert end_of_owner(command("12"), disk) is None, "its owner lives"
    ends = []
    for client in (20, 30):
        assert destroy(command(str(client), destroys=True), ["vm", "disk"], None, Wishes(frozenset())).exit_code == 0
        ends.append(command(str(client + 1)).tools.ledger.record("vm"))
        found = end_of_owner(command(str(client + 2)), disk)
        assert found is not None
        assert (found.incarnation, found.seq, found.digest) == (disk.owner_incarnation, ends[0].seq, ends[0].tail)
        assert apply(command(str(client + 3)), ["vm"], None).exit_code == 0
        assert end_of_owner(command(str(client + 4)), disk) == found, "another life says nothing of this one"
