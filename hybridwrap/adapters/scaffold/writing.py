"""Writes the manifest for root modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hybridwrap.adapters.scaffold.draft import Draft
from hybridwrap.adapters.scaffold.edges import place_in
from hybridwrap.adapters.scaffold.module_text import SHOWN, module_lines
from hybridwrap.adapters.scaffold.overlays import environment_lines
from hybridwrap.adapters.scaffold.yaml_text import comment, flow, yaml
from hybridwrap.counting import first_of
from hybridwrap.domain.json import Json

HEAD = """\
# A stack for hybridwrap, written by `hybridwrap new` from the modules below this folder; nothing was run.
# Look for TODO, then: hybridwrap validate
version: 1
stack: {stack}
"""
_SHARED = ("bucket", "region", "profile", "endpoints", "endpoint", "use_path_style", "force_path_style")


def manifest_text(draft: Draft) -> str:
    """Write YAML that hybridwrap reads, or whose problems are the values that only its user knows."""
    lines = [*HEAD.format(stack=yaml(draft.stack)).splitlines(), "", *_engine(draft), "", *_state(draft), ""]
    lines += [*environment_lines(draft), *_modules(draft), *_doubtful(draft), *_left_out(draft)]
    return "\n".join(lines) + "\n"


def _engine(draft: Draft) -> Iterator[str]:
    if draft.tofu:
        yield "engine: {program: tofu}"
    else:
        yield '# engine: {program: auto, version: ">= 1.10"}    # terraform, then tofu, on the PATH'


def _state(draft: Draft) -> Iterator[str]:
    common = _common_s3(draft)
    if common:
        yield "# The modules keep their states in this bucket, as their own backend blocks say. The ledger goes beside"
        yield "# them, under hybridwrap/; a module without a block would keep its state here, too."
        yield f"state: {{s3: {flow(common)}}}"
    elif buckets := _buckets(draft):
        yield f"# The states lie in {', '.join(buckets)}. For a ledger that others can see, say in which bucket:"
        yield f"# ledger: {{s3: {{bucket: {yaml(buckets[0])}}}}}"
    else:
        yield "# States and ledger stay on this machine, below .hybridwrap/. To share them:"
        yield "# state: {s3: {bucket: …, region: …}}    # next: hybridwrap bootstrap"


def _buckets(draft: Draft) -> list[str]:
    places = (place_in(draft, name, env) for name in draft.certain for env in sorted(draft.where(name)) or [""])
    return sorted({place.bucket for place in places if place and place.backend == "s3"})


def _common_s3(draft: Draft) -> Mapping[str, Json]:
    """What all S3 backend blocks have in common; nothing where one is not complete or they name several buckets."""
    blocks = [m.interface.backend for m in draft.certain.values() if m.interface.backend]
    s3 = [block.settings for block in blocks if block.type == "s3"]
    if not s3 or any(not (block.get("bucket") and block.get("key")) for block in s3):
        return {}
    same = {name: s3[0][name] for name in _SHARED if name in s3[0] and all(b.get(name) == s3[0][name] for b in s3)}
    common = {name: value for name, value in same.items() if value != "..."}
    return common if "bucket" in common else {}


def _modules(draft: Draft) -> Iterator[str]:
    names = list(draft.everywhere())
    yield "modules:" if names else "modules: {}"
    for name in names:
        yield from (f"  {line}" for line in module_lines(draft, name))


def _doubtful(draft: Draft) -> Iterator[str]:
    if draft.doubtful:
        yield "  # These may be libraries: no backend, no provider, no values, never run from where they lie."
    for name in sorted(draft.doubtful):
        yield f"  # {name}: {{source: {yaml(draft.shown(draft.modules[name].path))}}}"


def _left_out(draft: Draft) -> Iterator[str]:
    if draft.left_out:
        shown = first_of([draft.shown(path) for path in draft.left_out], SHOWN)
        yield f"  # Not looked at: {comment(shown)}"
