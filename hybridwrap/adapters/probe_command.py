"""Asks a module's own command whether its objects are absent: exit code 0 says absent, 1 present, any other nothing.

The command runs in the manifest's folder, in the environment of the module's engine, with one JSON object on its
standard input: stack, environment, module, and the objects that are known. When something is there, each line that it
prints names one survivor.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from hybridwrap.domain.absence import Answer, Probe
from hybridwrap.domain.codec import plain
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.json import canonical
from hybridwrap.domain.stack import Module

ANSWERS: Mapping[int, Answer] = {0: Answer.ABSENT, 1: Answer.PRESENT}
MOST_SURVIVORS = 100
LONGEST_LINE = 2_048  # characters: as long as an ARN can be


def ask_command(
    module: Module, objects: Sequence[CloudObject], *, folder: Path, env: Mapping[str, str], names: Mapping[str, str]
) -> Probe:
    """Run `verify.absent`; `names` are those of stack, environment and module."""
    by = f"verify.absent ({module.verify.absent[0]})"
    question = canonical({**names, "objects": [plain(o) for o in objects]})
    variables = {f"HYBRIDWRAP_{name.upper()}": text for name, text in names.items()}
    try:
        child = subprocess.Popen(
            module.verify.absent,
            cwd=folder,
            env={**env, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Probe(by, Answer.UNVERIFIABLE, detail=f"could not be started: {error.strerror}")
    with child:
        return _answer(by, child, question, module.verify.timeout_seconds)


def _answer(by: str, child: subprocess.Popen[bytes], question: bytes, seconds: float) -> Probe:
    try:
        stdout, stderr = child.communicate(question, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # its own group: also what it started
        child.communicate()
        return Probe(by, Answer.UNVERIFIABLE, detail=f"no answer within {seconds:g} s")
    answer = ANSWERS.get(child.returncode, Answer.UNVERIFIABLE)
    match answer:
        case Answer.ABSENT:
            return Probe(by, answer)
        case Answer.PRESENT:
            survivors = _lines(stdout)[:MOST_SURVIVORS]
            return Probe(by, answer, survivors, detail="" if survivors else _last_line(stderr))
    said = _last_line(stderr) or _last_line(stdout)
    return Probe(by, answer, detail=f"exit code {child.returncode} {said}".strip())


def _last_line(data: bytes) -> str:
    return (_lines(data) or ("",))[-1]


def _lines(data: bytes) -> tuple[str, ...]:
    lines = (line.strip()[:LONGEST_LINE] for line in data.decode(errors="replace").splitlines())
    return tuple(line for line in lines if line)
