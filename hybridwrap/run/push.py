"""Put a state that an engine could not save back in its place, some time later, perhaps from another host."""

from __future__ import annotations

from pathlib import Path

from hybridwrap.domain.codec import digest_of
from hybridwrap.domain.entry import End, KeptState
from hybridwrap.domain.ports import ModuleEngine, OperationFolder
from hybridwrap.domain.rescue import Fit
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.verdict import judge
from hybridwrap.errors import HybridwrapError, OutcomeUnknown, PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.kept import Kept
from hybridwrap.run.looking import Seen
from hybridwrap.run.repairing import Acted, Repair, carry_out_repair, equipped
from hybridwrap.run.rescue import RIVAL, UNSAVED, encrypted_blob, put_back
from hybridwrap.run.state_lock import clear_recorded

COMMAND = "push state"


def push_kept(context: Context, seen: Seen) -> End:
    """Put the kept state of a module back; of the copies on this host none is left then, or one where that failed.

    Raise OutcomeUnknown when that is not safe, PreflightRefused for no such state; for the rest see `carry_out_repair`.
    """
    look, kept = seen.look, seen.kept
    if kept is None or look.kept is None:
        raise PreflightRefused(
            f"{look.module}: there is no state to put back, or none that can be had here", hint=judge(look).next
        )
    if not look.kept.safe and look.kept.fit is not Fit.SAVED:
        raise OutcomeUnknown(f"{look.module}: it can't be put back: {look.kept.fit}", hint=judge(look).next)
    engine, inputs = equipped(seen)
    clear_recorded(context, engine, look.record)
    repair = Repair(COMMAND, engine, inputs, seen.objects, lambda folder: _push(context, engine, folder, kept))
    body = carry_out_repair(context, seen, repair)
    if look.record.kept and (body.kept is None or Path(body.kept.path).exists()):
        for name in (UNSAVED, RIVAL):
            Path(look.record.kept.path).with_name(name).unlink(missing_ok=True)
    return body


def _push(context: Context, engine: ModuleEngine, folder: OperationFolder, kept: Kept) -> Acted:
    copy = folder.path / UNSAVED
    try:
        folder.keep(UNSAVED, kept.data)
        if (
            engine.repair.unsaved_state() is None
        ):  # else nothing can be initialised, and it was: the engine left it here
            engine.init(folder)
        comparison = put_back(engine, copy, kept.state, kept.before)
        why = "" if comparison.fit is Fit.SAVED else str(comparison.fit)
    except HybridwrapError as error:
        why = error.message
    if not why:
        engine.repair.forget_unsaved_state(kept.data)
        copy.unlink()
        told = f"the state that could not be saved (serial {kept.state.serial}) is back in its place"
        return Acted(done=True, end=End(Outcome.SUCCEEDED, Status.UNKNOWN, reason=told, evidence=(told,)))
    still = KeptState(
        str(copy), kept.state.lineage, kept.state.serial, digest_of(kept.data), encrypted_blob(context, kept.data)
    )
    return Acted(done=False, end=End(Outcome.FAILED, Status.UNKNOWN, reason=f"not put back: {why}", kept=still))
