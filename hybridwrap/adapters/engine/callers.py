"""Asks AWS as whom an engine would act: a process of its own, in that engine's very environment."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock

from hybridwrap.adapters.user_command import Call, run_user_command
from hybridwrap.domain.identity import Caller
from hybridwrap.domain.json import loads
from hybridwrap.domain.ports import Clock
from hybridwrap.errors import CredentialsRefused

PROGRAM = (sys.executable, "-P", str(Path(__file__).with_name("who_am_i.py")))
LIMIT_SECONDS = 60.0
BELIEVED_SECONDS = 60.0  # a profile may lead to somebody else by then
_OF_NO_INFLUENCE = ("TF_", "HYBRIDWRAP_", "GOGC", "GOMEMLIMIT")


class Callers:
    """Remembers each answer for a minute: modules of one environment share it."""

    def __init__(self, folder: Path, clock: Clock, stopped: Callable[[], Callable[[], bool]]) -> None:
        self._folder = folder
        self._clock = clock
        self._stopped = stopped
        self._known: dict[str, tuple[float, Caller]] = {}
        self._lock = Lock()

    def of(self, env: Mapping[str, str]) -> Caller:
        """Say who calls in an environment. Raise CredentialsRefused when that can't be told."""
        key = _digest(env)
        with self._lock:
            moment, caller = self._known.get(key, (0.0, None))
            if caller is None or self._clock.monotonic() - moment > BELIEVED_SECONDS:
                caller = self._ask(env)
                self._known[key] = (self._clock.monotonic(), caller)
            return caller

    def _ask(self, env: Mapping[str, str]) -> Caller:
        finished = run_user_command(Call(PROGRAM, self._folder, env, LIMIT_SECONDS, self._stopped()), self._clock)
        if finished.exit_code != 0:
            said = finished.stderr.decode(errors="replace").strip() if finished.exit_code else ""
            why = (said.splitlines() or [str(finished)])[-1]
            raise CredentialsRefused(
                f"AWS does not say who is calling (sts:GetCallerIdentity): {why}",
                hint="log in, then the same command again; hybridwrap doctor shows who is who",
            )
        found = loads(finished.stdout)
        return Caller(found["account"], found["arn"])


def _digest(env: Mapping[str, str]) -> str:
    """Tell environments apart without keeping what is secret in them."""
    told = sorted((name, value) for name, value in env.items() if not name.startswith(_OF_NO_INFLUENCE))
    return hashlib.sha256(repr(told).encode(errors="surrogateescape")).hexdigest()
