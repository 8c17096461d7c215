"""Real runs of three engines, recorded: what they printed, how they ended, and the state before and after."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hybridwrap.adapters.engine.events import read_stream
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.engine_run import Ended, Stream
from hybridwrap.domain.state import EngineState

FOLDER = Path(__file__).parents[1] / "data" / "recordings"


@dataclass(frozen=True)
class Recording:
    engine: str
    scenario: str

    def __str__(self) -> str:
        return f"{self.engine}/{self.scenario}"

    @property
    def folder(self) -> Path:
        return FOLDER / self.engine / self.scenario

    @property
    def argv(self) -> tuple[str, ...]:
        return tuple((self.folder / "argv.txt").read_text().splitlines())

    @property
    def verb(self) -> str:
        """What the engine was told: init, plan, apply or destroy."""
        return self.argv[1]

    @property
    def ended(self) -> Ended:
        word, _, number = (self.folder / "exit.txt").read_text().strip().rpartition(" ")
        return Ended(signal=int(number)) if word == "signal" else Ended(exit_code=int(number))

    @property
    def data(self) -> bytes:
        return (self.folder / "stdout.jsonl").read_bytes()

    @property
    def stream(self) -> Stream:
        return read_stream(self.data)

    @property
    def before(self) -> EngineState | None:
        return self.state("state-before.json")

    @property
    def after(self) -> EngineState | None:
        return self.state("state-after.json")

    @property
    def errored_state(self) -> EngineState | None:
        return self.state("errored.json")

    def state(self, name: str) -> EngineState | None:
        file = self.folder / name
        return parse_state(file.read_bytes(), str(file)) if file.exists() else None


RECORDINGS = tuple(
    Recording(engine.name, scenario.name)
    for engine in sorted(FOLDER.iterdir())
    for scenario in sorted(engine.iterdir())
)
ENGINES = tuple(sorted({recording.engine for recording in RECORDINGS}))
