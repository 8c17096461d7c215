"""The API of the fake cloud that its provider calls: every call is logged, observed, and may go wrong."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from tests.support.fakecloud.cloud import Cloud, CloudThing, Value
from tests.support.fakecloud.faults import Fault, Injected, Operation

CRASH_EXIT_CODE = 70


@dataclass(frozen=True, slots=True)
class Answer:
    """What the cloud says: an object, an error, both or neither."""

    thing: CloudThing | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    operation: Operation
    kind: str
    name: str
    object_id: str = ""

    def __str__(self) -> str:
        return f"{self.operation} {self.kind} {self.name}"


def create(cloud: Cloud, request: Request, attributes: Mapping[str, Value], parent: str | None) -> Answer:
    number, faults = _begin(cloud, request)
    _lift_if_once(cloud, faults, Fault.FAIL_ONCE_BEFORE)
    if faults.keys() & {Fault.FAIL_BEFORE, Fault.FAIL_ONCE_BEFORE}:
        return _end(cloud, number, Answer(error=f"quota exceeded: cannot {request}"))
    if Fault.TAKEN in faults:
        return _end(cloud, number, Answer(error=f"EntityAlreadyExists: cannot {request}"))
    try:
        thing = cloud.add(request.kind, request.name, parent=parent, attributes=attributes)
    except sqlite3.IntegrityError:
        return _end(cloud, number, Answer(error=f"cannot {request}: there is no object {parent}"))
    _delay(cloud, request, faults)
    return _end(cloud, number, _answer_to_create(thing, request, faults))


def _answer_to_create(thing: CloudThing, request: Request, faults: Mapping[Fault, Injected]) -> Answer:
    if Fault.GONE in faults:
        return Answer()
    if Fault.MADE_NO_ANSWER in faults:
        return Answer(error=f"timeout: no answer to {request}")
    if Fault.PARTIAL in faults:
        return Answer(thing, f"{request}: made, but it did not become ready")
    return Answer(thing)


def read(cloud: Cloud, request: Request) -> Answer:
    number, faults = _begin(cloud, request)
    thing = cloud.find(request.object_id)
    if Fault.READ_FAILS in faults:
        return _end(cloud, number, Answer(thing, f"forbidden: cannot {request}"))
    return _end(cloud, number, Answer() if Fault.HIDDEN in faults else Answer(thing))


def update(cloud: Cloud, request: Request, attributes: Mapping[str, Value]) -> Answer:
    number, faults = _begin(cloud, request)
    if Fault.UPDATE_FAILS in faults:
        return _end(cloud, number, Answer(error=f"cannot {request}"))
    cloud.change(request.object_id, attributes)
    _delay(cloud, request, faults)
    return _end(cloud, number, Answer(cloud.find(request.object_id)))


def delete(cloud: Cloud, request: Request) -> Answer:
    number, faults = _begin(cloud, request)
    _lift_if_once(cloud, faults, Fault.DELETE_ONCE_FAILS)
    if faults.keys() & {Fault.DELETE_FAILS, Fault.DELETE_ONCE_FAILS}:
        return _end(cloud, number, Answer(error=f"cannot {request}: in use"))
    if Fault.LIES_DELETED not in faults:
        cloud.vanish(request.object_id)
    _delay(cloud, request, faults)
    return _end(cloud, number, Answer())


def stop(cloud: Cloud) -> None:
    number, _ = _begin(cloud, Request(Operation.STOP, "provider", ""))
    _end(cloud, number, Answer())


def _begin(cloud: Cloud, request: Request) -> tuple[int, Mapping[Fault, Injected]]:
    with cloud.connection() as database:
        number = database.execute(
            "INSERT INTO calls (operation, kind, name, object_id, started) VALUES (?, ?, ?, ?, ?)",
            (request.operation, request.kind, request.name, request.object_id, _now()),
        ).lastrowid
    assert number is not None
    _observe(cloud, number, request)
    return number, _striking(cloud, request)


def _striking(cloud: Cloud, request: Request) -> Mapping[Fault, Injected]:
    hits = [injected for injected in cloud.faults() if injected.strikes(request.operation, request.name)]
    return {hit.fault: hit for hit in hits}


def _lift_if_once(cloud: Cloud, faults: Mapping[Fault, Injected], once: Fault) -> None:
    if once in faults:
        cloud.lift(faults[once].pattern, fault=once)


def _delay(cloud: Cloud, request: Request, faults: Mapping[Fault, Injected]) -> None:
    if Fault.CRASH in faults:
        os._exit(CRASH_EXIT_CODE)
    if Fault.SLOW in faults:
        time.sleep(float(faults[Fault.SLOW].argument))
    while Fault.HANG in faults:
        time.sleep(0.05)
        faults = _striking(cloud, request)


def _observe(cloud: Cloud, number: int, request: Request) -> None:
    with cloud.connection() as database:
        observers = database.execute(
            "SELECT pattern, argv FROM observers WHERE operation = ?", (request.operation,)
        ).fetchall()
    for argv in [json.loads(o["argv"]) for o in observers if fnmatchcase(request.name, o["pattern"])]:
        ran = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        with cloud.connection() as database:
            database.execute(
                "UPDATE calls SET observed_exit = ?, observed = ? WHERE number = ?",
                (ran.returncode, ran.stdout or ran.stderr, number),
            )


def _end(cloud: Cloud, number: int, answer: Answer) -> Answer:
    object_id = answer.thing.id if answer.thing else ""
    with cloud.connection() as database:
        database.execute(
            "UPDATE calls SET ended = ?, error = ?, object_id = coalesce(nullif(object_id, ''), ?) WHERE number = ?",
            (_now(), answer.error, object_id, number),
        )
    return answer


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
