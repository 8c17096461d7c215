"""Values on their way from the manifest, and from module to module, arrive in every real engine as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hybridwrap.adapters.manifest import load_stack
from hybridwrap.adapters.templates import render
from hybridwrap.domain.inputs import Host, resolve_inputs
from hybridwrap.domain.json import Json, canonical, loads
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.stack import Module, Reference
from tests.support.engines import RealEngine, engines

DATA = Path(__file__).parents[1] / "data" / "manifest"
MANIFEST = """
version: 1
stack: s
modules:
  up: {source: exact-numbers-up}
  down:
    source: exact-numbers-down
    inputs:
      big: "{{ modules.up.big }}"
      prec: "{{ modules.up.prec }}"
      acct: "{{ modules.up.acct }}"
      sha: "{{ modules.up.sha }}"
      nested: "{{ modules.up.nested }}"
  typed:
    source: typed-inputs
    inputs:
      list: ["a b", "c,d", 'e"f']
      bool: true
      obj: {name: n, tags: {k.l/m: v}, ports: [80, 443]}
      any: [1, "1", true, null, {x: []}]
      multi: "line1\\nline2\\n"
      empty: {}
  nulls_up: {source: null-output-up}
  nulls: {source: null-output-down, inputs: {public_id: "{{ modules.nulls_up.public_id }}"}}
"""


@pytest.fixture(params=sorted(engines()))
def engine(request: pytest.FixtureRequest) -> RealEngine:
    found = engines()[request.param]
    if found is None:
        pytest.skip(f"{request.param} is not on this machine")
    return found


def apply(engine: RealEngine, module: Module, known: dict[Reference, Json]) -> dict[str, Json]:
    """Apply a module as its resolved inputs say; return its outputs, exact."""
    host = Host(render, {}, lambda path: path.read_text(), lambda _: {})
    resolved = resolve_inputs(
        module, output=lambda r: Output(Provenance.KNOWN, value=known.get(r)), secret=known.__getitem__, host=host
    )
    (module.source / "vars.json").write_bytes(canonical(dict(resolved.values)))
    engine.must(module.source, "init", "-input=false", "-no-color", env={})
    engine.must(module.source, "apply", "-auto-approve", "-no-color", "-var-file=vars.json", env={})
    printed = loads(engine.must(module.source, "output", "-json", env={}))
    known |= {Reference(module.name, name): output["value"] for name, output in printed.items()}
    return {name: output["value"] for name, output in printed.items()}


@pytest.mark.e2e
def test_values_arrive_as_they_are(engine: RealEngine, tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    (tmp_path / "hybridwrap.yaml").write_text(MANIFEST, encoding="utf-8")
    modules = load_stack(tmp_path / "hybridwrap.yaml", environment=None, environ={}).modules
    known: dict[Reference, Json] = {}
    apply(engine, modules["up"], known)
    numbers = "12345678901234567890123456789 9007199254740993 012345678901 08e30503"
    assert apply(engine, modules["down"], known)["same"] == numbers
    obj = '{"extra":"dflt","name":"n","ports":[80,443],"tags":{"k.l/m":"v"}}'
    listed = '["a b","c,d","e\\"f"]'
    expected = f'[{listed},true,{obj},[1,"1",true,null,{{"x":[]}}],"line1\\nline2\\n",{{}}]'
    assert apply(engine, modules["typed"], known)["all"] == expected
    assert "public_id" not in apply(engine, modules["nulls_up"], known)
    assert "got" not in apply(engine, modules["nulls"], known), "null is passed on as null, not as the default"
