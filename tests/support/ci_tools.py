"""Programs of others that read pipelines; `make tools` brings those that this machine can have."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / ".cache" / "tools"


def actionlint() -> str:
    """The linter of GitHub's workflows; skips the test where it is missing."""
    found = shutil.which("actionlint", path=str(FOLDER / "bin")) or shutil.which("actionlint")
    return found or pytest.skip("actionlint is not here: `make tools`, which needs Go")


def gitlab_ci_local() -> Sequence[str]:
    """The program that runs GitLab's pipelines on one machine, as the beginning of a command line."""
    program = FOLDER / "node_modules" / "gitlab-ci-local"
    node = shutil.which("node")
    if node is None or not program.exists():
        pytest.skip("gitlab-ci-local is not here: `make tools`, which needs Node.js and npm")
    return (node, str(FOLDER / "node_modules" / ".bin" / "gitlab-ci-local"))


def read_all(text: str) -> list[Any]:
    """The documents of a file, by the fast reader."""
    return list(yaml.load_all(text, yaml.CSafeLoader))


def read(text: str) -> Any:
    (document,) = read_all(text)
    return document


def unknown_to_argo(text: str) -> list[str]:
    """Say what in a file of Argo's objects is not in its schema, of which hera's models are made."""
    from hera.workflows import models

    wrong: list[str] = []
    for document in read_all(text):
        known = getattr(models, document["kind"]).model_validate(document)
        wrong += _lost(document, known.model_dump(by_alias=True, exclude_none=True), document["kind"])
    return wrong


def _lost(given: Any, kept: Any, where: str) -> list[str]:
    """The models drop what they don't know."""
    if isinstance(given, Mapping) and isinstance(kept, Mapping):
        gone = [f"{where}.{key}" for key in given if key not in kept]
        return gone + [each for key in given if key in kept for each in _lost(given[key], kept[key], f"{where}.{key}")]
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        return [
            each
            for index, pair in enumerate(zip(given, kept, strict=True))
            for each in _lost(*pair, f"{where}.{index}")
        ]
    return [] if given == kept else [f"{where}: {given!r} is {kept!r}"]
