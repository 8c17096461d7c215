"""What a run knows about its modules: their records, and secrets that it has seen itself and never writes down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock

from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import Reference
from hybridwrap.domain.state import EngineState


class Knowledge:
    """Shared by the threads of one run."""

    def __init__(self, records: Mapping[str, Record]) -> None:
        self._records = dict(records)
        self._secrets: dict[Reference, Json] = {}
        self._credentials: set[str] = set()  # old ones, too: they may stand in a log
        self._hidden: list[Json] = []
        self._inputs: dict[str, tuple[Json, ...]] = {}
        self._lock = Lock()

    def record(self, module: str) -> Record:
        with self._lock:
            return self._records.get(module, Record(module))

    @property
    def records(self) -> Mapping[str, Record]:
        with self._lock:
            return dict(self._records)

    @property
    def outputs(self) -> Mapping[str, Mapping[str, Output]]:
        return {name: record.outputs for name, record in self.records.items()}

    def learn(self, record: Record) -> None:
        with self._lock:
            self._records[record.module] = record

    def learn_anew(self, record: Record) -> None:
        """Learn what somebody else has made of a module: secrets that were seen before are those of yesterday."""
        with self._lock:
            self._records[record.module] = record
            old = [reference for reference in self._secrets if reference.module == record.module]
            self._hidden += [self._secrets.pop(reference) for reference in old]  # they may stand in a log

    def sensitive_outputs(self, module: str, state: EngineState | None) -> dict[str, Json]:
        """The values of the outputs that a state or the record calls sensitive, by name."""
        withheld = {name for name, output in self.record(module).outputs.items() if output.sensitive}
        outputs = state.outputs if state else {}
        return {name: output.value for name, output in outputs.items() if output.sensitive or name in withheld}

    def learn_secrets(self, module: str, state: EngineState | None) -> None:
        """Keep in memory, for dependants in the same run, the sensitive outputs of a module."""
        found = self.sensitive_outputs(module, state)
        with self._lock:
            self._secrets |= {Reference(module, name): value for name, value in found.items()}

    def learn_credentials(self, values: Iterable[str]) -> None:
        """Keep in memory what must not be seen in any text."""
        with self._lock:
            self._credentials.update(values)

    def hide(self, values: Iterable[Json]) -> None:
        """Keep in memory what must not be seen in any text, and is not to be used either."""
        found = tuple(values)
        with self._lock:
            self._hidden += found

    def learn_inputs(self, module: str, secret: tuple[Json, ...]) -> None:
        """Keep in memory what went into a module and must not be seen in what its hooks print."""
        with self._lock:
            self._inputs[module] = secret

    def keep_secret(self, reference: Reference, value: Json) -> None:
        """Keep in memory a secret of another stack, so that it is hidden wherever it turns up."""
        with self._lock:
            self._secrets[reference] = value

    def output(self, reference: Reference) -> Output | None:
        return self.record(reference.module).outputs.get(reference.output)

    def secret(self, reference: Reference) -> Json:
        """The value of a sensitive output. Raise KeyError when this run has not seen it."""
        with self._lock:
            return self._secrets[reference]

    @property
    def secret_values(self) -> tuple[Json, ...]:
        with self._lock:
            return (*self._secrets.values(), *self._hidden, *sorted(self._credentials))

    @property
    def secret_inputs(self) -> tuple[Json, ...]:
        with self._lock:
            return tuple(value for values in self._inputs.values() for value in values)
