"""What of a rendered unit is read as a list of texts, or as a mapping: of another kind it is nothing to go by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hybridwrap.domain.json import Json

_ARGUMENTS = ("commands", "arguments", "required_var_files", "optional_var_files")
_TEXTS = (
    ("dependencies", "paths"),
    ("exclude", "actions"),
    ("retryable_errors",),
    ("errors", "retry", "*", "retryable_errors"),
    *(("terraform", "extra_arguments", "*", name) for name in _ARGUMENTS),
    *(("terraform", f"{when}_hook", "*", "commands") for when in ("before", "after", "error")),
)
_MAPPINGS = (("terraform", "extra_arguments", "*", "env_vars"),)


def misshapen(tree: Mapping[str, Json]) -> Iterator[str]:
    """Say what is not as Terragrunt writes it."""
    for path in _TEXTS:
        if not all(_is_texts(found) for found in _at(tree, path)):
            yield f"{'.'.join(path)} must be a list of texts"
    for path in _MAPPINGS:
        if not all(isinstance(found, dict) for found in _at(tree, path)):
            yield f"{'.'.join(path)} must be an object"
    paths = tree.get("dependencies")
    if paths is not None and not isinstance(paths, dict) and not _is_texts(paths):
        yield "dependencies must be an object"


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _at(value: Json, path: Sequence[str]) -> Iterator[Json]:
    """What stands at a path, but null; `*` is any name."""
    if not path:
        yield from () if value is None else (value,)
    elif isinstance(value, dict):
        for inner in value.values() if path[0] == "*" else (value.get(path[0]),):
            yield from _at(inner, path[1:])
