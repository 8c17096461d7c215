"""What a record keeps for a teardown, and what one leaves of it."""

from __future__ import annotations

from msgspec.structs import replace

from hybridwrap.domain.declared import Declared
from hybridwrap.domain.entry import CloudObject, Confirm, End, Observe, OwnerEnd, Retain
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.stack import EngineWish, StateSettings, Verify
from hybridwrap.domain.status import Outcome, Status
from tests.support.ledgers import begin, cancelled, destroyed, failed, ok, state, unknown
from tests.unit.test_fold import after

NET = CloudObject("aws_vpc.main", "aws_vpc", "id", "vpc-1")
DECLARED = Declared("modules/vm", (), "host", StateSettings("local"), EngineWish(), Verify())
APPLIED = ((begin(), "O1"), (ok(address="10.0.0.2"), "O1"))
DESTROY = begin("destroy", serial=1, run="R2", before=Status.OK)


def test_how_a_module_was_declared_and_whose_life_it_goes_with_is_known_once_something_ran() -> None:
    intent = replace(begin(), declared=DECLARED, owner_incarnation="I7")
    assert after((intent, "O1"), (cancelled(), "O1")).declared is None
    for end in (ok(), failed(), unknown()):
        record = after((intent, "O1"), (end, "O1"))
        assert (record.declared, record.owner_incarnation) == (DECLARED, "I7")


def test_an_operation_that_declares_nothing_leaves_what_was_declared() -> None:
    intent = replace(begin(), declared=DECLARED, owner_incarnation="I7")
    record = after((intent, "O1"), (ok(), "O1"), (DESTROY, "O2"), (failed(), "O2"))
    assert (record.declared, record.owner_incarnation) == (DECLARED, "I7")


def test_a_destroy_that_failed_leaves_the_objects_that_it_names_and_no_others() -> None:
    disk = replace(NET, address="aws_disk.data", id="disk-1")
    both = replace(ok(), objects=(NET, disk))
    start = after((begin(), "O1"), (both, "O1"))
    left = after((DESTROY, "O2"), (replace(failed(2), objects=(disk,)), "O2"), start=start)
    assert left.objects == (disk,)
    none = after((DESTROY, "O2"), (failed(2), "O2"), start=start)
    assert none.objects == ()
    blind = after((DESTROY, "O2"), (unknown(), "O2"), start=start)
    assert blind.objects == (NET, disk), "nothing is known to be gone"
    apply = after((begin(serial=1), "O2"), (failed(2), "O2"), start=start)
    assert apply.objects == (NET, disk)


def test_once_unknown_always_doubted_until_the_next_life() -> None:
    record = after(*APPLIED)
    assert not record.doubted
    record = after((Observe("R2", "nobody saw it end", Status.UNKNOWN), ""), start=record)
    record = after((Observe("R3", "looked at", Status.OK), ""), start=record)
    assert record.doubted
    record = after((DESTROY, "O2"), (destroyed(), "O2"), start=record)
    assert record.doubted
    assert record.evidence
    again = after((begin(), "O3"), start=replace(record, incarnation="I0"))
    assert not again.doubted, "another life"
    assert again.evidence == ()


def test_a_confirm_shows_that_only_the_look_is_missing_and_frees_nothing() -> None:
    record = after(*APPLIED, (DESTROY, "O2"), (Confirm(state(2)), "O2"))
    assert record.status is Status.RUNNING
    assert record.holder is not None
    assert record.holder.confirmed


def test_outputs_of_what_is_destroyed_stay_readable_and_are_stale() -> None:
    record = after(*APPLIED, (DESTROY, "O2"), (destroyed(), "O2"))
    assert (record.status, record.objects) == (Status.DESTROYED, ())
    assert record.outputs["address"].provenance is Provenance.STALE


def test_an_owned_module_is_destroyed_by_the_word_on_its_owner() -> None:
    cited = OwnerEnd("host", "I7", 9, "a" * 64)
    gone = Observe("R2", "gone with its owner host", Status.DESTROYED, evidence=("A2",), owner_end=cited)
    record = after(*APPLIED, (gone, ""))
    assert (record.status, record.objects, record.evidence) == (Status.DESTROYED, (), ("A2",))
    assert record.reason == "gone with its owner host"


def test_what_was_found_alive_after_all_is_an_error_with_its_reason() -> None:
    survivor = CloudObject("(in no state)", id="vpc-1", open=True)
    record = after(*APPLIED, (DESTROY, "O2"), (destroyed(), "O2"))
    found = Observe("R3", "verify.absent: present vpc-1", Status.ERROR, objects=(survivor,))
    record = after((found, ""), start=record)
    assert (record.status, record.objects) == (Status.ERROR, (survivor,))
    record = after((replace(found, reason="still there"), ""), start=record)
    assert record.reason == "still there"


def test_retained_keeps_the_objects() -> None:
    record = after(*APPLIED, (Retain("R2", "wanted elsewhere"), ""))
    assert (record.status, record.objects, record.reason) == (Status.RETAINED, (NET,), "wanted elsewhere")


def test_a_destroy_that_succeeded_for_its_engine_alone_is_an_error_and_keeps_what_it_found() -> None:
    end = End(Outcome.SUCCEEDED, Status.ERROR, state(2), objects=(replace(NET, open=True),), reason="still there")
    record = after(*APPLIED, (DESTROY, "O2"), (end, "O2"))
    assert (record.status, record.objects) == (Status.ERROR, (replace(NET, open=True),))
