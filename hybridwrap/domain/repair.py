"""What repairs need of an engine, beyond planning and applying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from hybridwrap.domain.engine_run import Ended
from hybridwrap.domain.entry import CloudObject, StateMark
from hybridwrap.domain.json import Json
from hybridwrap.domain.state import EngineState

if TYPE_CHECKING:
    from hybridwrap.domain.ports import OperationFolder


class Imported(Struct, frozen=True):
    """How the import of one object ended; `told` is what the engine said against it.

    Whether the object is in the state, only the state says.
    """

    object: CloudObject
    ended: Ended
    told: str = ""


class Repair(Protocol):
    """Of one module; see ModuleEngine."""

    def parse(self, data: bytes) -> EngineState:
        """Read a state; of an encrypted one only the envelope. Raise StateUnreadable."""

    def unsaved_state(self) -> bytes | None:
        """The state that the engine could not save and left in the module's folder; nobody else can read it then."""

    def forget_unsaved_state(self, data: bytes) -> None:
        """Remove that file, if it still has this content."""

    def put_back(self, kept: Path, over: StateMark) -> None:
        """Put the state in a file back in its place, over the one that was compared with it.

        Raise OutcomeUnknown when that fails, or when another state lies there by now.
        """

    def planned_names(self, folder: OperationFolder) -> Mapping[str, str]:
        """By address, the names and tags of what the plan in the folder creates, nothing sensitive in them.

        Empty when there is no plan file, or the engine can't show it.
        """

    def import_objects(
        self, folder: OperationFolder, objects: Sequence[CloudObject], inputs: Mapping[str, Json]
    ) -> tuple[Imported, ...]:
        """Import objects into the state, one after the other; the folder must be locked.

        What an interrupt kept from being started is left out.
        """

    def remove_from_state(self, folder: OperationFolder, addresses: Sequence[str]) -> tuple[Ended, str]:
        """Have the engine forget objects; the folder must be locked. What it says against it comes with how it ended.

        Whether they are out of the state, only the state says.
        """
