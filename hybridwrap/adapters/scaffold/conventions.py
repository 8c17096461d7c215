"""How people name the files of an environment: variables, and what completes a backend block."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

ENVIRONMENT, MODULE = "{environment}", "{module}"
FOLDERS = ("env", "envs", "environment", "environments", "vars", "tfvars", "config", "configs")
WORDS = frozenset(
    (
        *("dev", "develop", "development", "test", "testing", "qa", "uat", "int", "sit", "sandbox", "sbx", "demo"),
        *("stage", "staging", "stg", "preprod", "nonprod", "prod", "production", "prd", "live", "ops", "mgmt", "dr"),
    )
)
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")

VAR_FILES = (
    *(f"{folder}/{{environment}}.tfvars" for folder in FOLDERS),
    *(f"{folder}/{{environment}}.tfvars.json" for folder in FOLDERS),
    *(f"{folder}/{{environment}}/{{module}}.tfvars" for folder in FOLDERS),
    *(f"{folder}/{{module}}/{{environment}}.tfvars" for folder in FOLDERS),
    *(f"{folder}/{{environment}}/terraform.tfvars" for folder in FOLDERS),
    "{environment}.tfvars",
    "{environment}.tfvars.json",
    "terraform.{environment}.tfvars",
    "{environment}/terraform.tfvars",
)
_BACKEND_FOLDERS = ("backend", "backends", "backend-config", *FOLDERS)
_BACKEND_ENDS = (".tfbackend", ".s3.tfbackend", ".backend.hcl", ".backend.tfvars", ".backend.conf")
BACKEND_FILES = (
    *(f"{folder}/{{environment}}{end}" for folder in _BACKEND_FOLDERS for end in _BACKEND_ENDS),
    *(f"{folder}/{{environment}}.hcl" for folder in _BACKEND_FOLDERS[:3]),
    *(f"{folder}/{{environment}}/backend.hcl" for folder in _BACKEND_FOLDERS),
    *(f"{folder}/{{environment}}/backend.tfvars" for folder in _BACKEND_FOLDERS),
    *(f"{{environment}}{end}" for end in _BACKEND_ENDS),
    *(f"backend{dash}{{environment}}{end}" for dash in "-_." for end in (".hcl", ".tfvars", ".tfbackend", ".conf")),
    "{environment}/backend.hcl",
)
LONE_BACKEND_FILES = ("backend.hcl", "backend.tfvars", "backend.conf", "*.tfbackend", "backend/*.tfbackend")


class Files(Struct, frozen=True):
    """Files that one pattern names: `written` as a manifest has it, `found` by environment, "" where there is none."""

    written: str
    found: Mapping[str, Path]

    @property
    def environments(self) -> frozenset[str]:
        return frozenset(self.found) - {""}


def matching(pattern: str, module: Path, root: Path) -> Files | None:
    """Find what a pattern of the user's own names: seen from the module's folder, else from the root."""
    for base in dict.fromkeys((module, root)):
        if files := _files(pattern, base, module, root):
            return _at_home(files, module, root)
    return None


def conventional(patterns: Sequence[str], bases: Iterable[Path], module: Path, root: Path) -> Iterator[Files]:
    """Find what is named as people name it, the nearest first. A bare name has to be one that environments have."""
    for base in bases:
        for pattern in patterns:
            files = _files(pattern, base, module, root)
            if files and (not pattern.startswith((ENVIRONMENT, "backend", "terraform.")) or _are_words(files)):
                yield _at_home(files, module, root)


def _at_home(files: Files, module: Path, root: Path) -> Files:
    """Of a module that lies in the folder of one environment, as live/prod/vpc, only what is for that one."""
    own = [name for name in module.relative_to(root).parts if name in files.environments]
    return Files(os.path.relpath(files.found[own[-1]], root), {"": files.found[own[-1]]}) if own else files


def folders_up(module: Path, root: Path) -> tuple[Path, ...]:
    """The module's folder and those above it, up to the root."""
    above = [path for path in module.parents if path == root or path.is_relative_to(root)]
    return (module, *above) if module != root else (module,)


def _are_words(files: Files) -> bool:
    return all(WORDS & set(re.split(r"[-_.]", name.lower())) for name in files.environments)


def _files(pattern: str, base: Path, module: Path, root: Path) -> Files | None:
    own = pattern.replace(MODULE, module.name)
    parts = own.split(ENVIRONMENT)
    wanted = os.path.normpath(f"{glob.escape(str(base))}/{'*'.join(map(glob.escape, parts))}")
    first, *others = map(re.escape, os.path.normpath(f"{base}/{own}").split(ENVIRONMENT))
    again = "".join(f"(?P=name){part}" for part in others[1:])
    shape = re.compile(first + (f"(?P<name>[^/]+){others[0]}{again}" if others else ""))
    found: dict[str, Path] = {}
    for path in sorted(glob.glob(wanted)):  # noqa: PTH207  # it may lead upwards
        match = shape.fullmatch(os.path.normpath(path))
        name = match.groupdict().get("name", "") if match else None
        if name is not None and (not name or NAME.fullmatch(name)) and Path(path).is_file():
            found[name] = Path(path)
    return Files(os.path.relpath(f"{base}/{own}", root), found) if found else None
