"""One module for each value: names, values put in, references, changes of one instance, and what can be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.adapters.templates import render
from hybridwrap.domain.stack import FromEnv, FromFile, Literal, Reference
from hybridwrap.domain.status import Status
from hybridwrap.errors import UsageError
from hybridwrap.run.selection import Selection, select
from tests.support.manifests import NETWORK, VM, load, problems, write_stack

ANY = """
    variable "a" { default = null }
    variable "b" { default = null }
    output "id" { value = 1 }
"""
SHOP = """
    version: 1
    stack: shop
    environments:
      dev: {}
      prod:
        modules:
          vm: {for_each: {c: {size: 9}}}
          vm.a: {inputs: {size: 40}}
          vm.b-2: {enabled: false}
    modules:
      network: {source: network, inputs: {cidr: c}}
      vm:
        source: vm
        for_each:
          a: {size: 1}
          b-2: {size: 2}
        var_files: ["{each.key}.tfvars"]
        tags: ["{each.key}"]
        inputs:
          subnet_id: "{{ modules.network.subnet_id }}-{{ each.key }}"
          size: "{{ each.value.size }}"
          password: {from_file: "secrets/{each.key}"}
      first: {source: any, inputs: {a: "{{ modules.vm.a.id }}", b: "{{ modules.vm['b-2'].id | upper }}"}}
"""


def build(root: Path, manifest: str = SHOP) -> Path:
    for key in ("a", "b-2", "c"):
        (root / f"{key}.tfvars").write_text("", encoding="utf-8")
    return write_stack(root, manifest, {"network": NETWORK, "vm": VM, "any": ANY})


def only(root: Path, fields: str) -> dict[str, object]:
    """The inputs of the one instance `x.k` of a module with these fields."""
    (module,) = load(build(root, f"version: 1\nstack: s\nmodules:\n  x:\n    source: any\n{fields}")).modules.values()
    assert module.name == "x.k"
    return dict(module.inputs)


def test_each_value_makes_a_module_of_its_own(tmp_path: Path) -> None:
    modules = load(build(tmp_path), "dev").modules
    assert list(modules) == ["network", "vm.a", "vm.b-2", "first"]
    b = modules["vm.b-2"]
    assert b.inputs["size"] == Literal(2)
    assert b.inputs["password"] == FromFile(tmp_path / "secrets/b-2", "secrets/b-2")
    assert b.var_files == (tmp_path / "b-2.tfvars",)
    assert b.tags == ("b-2",)
    assert b.inputs["subnet_id"] == Literal("{{ modules.network.subnet_id }}-b-2", (Reference("network", "subnet_id"),))


def test_a_reference_names_an_instance(tmp_path: Path) -> None:
    first = load(build(tmp_path), "dev").modules["first"]
    assert first.references == (Reference("vm.a", "id"), Reference("vm.b-2", "id"))
    assert first.needs == ("vm.a", "vm.b-2")
    values = {Reference("vm.a", "id"): 7, Reference("vm.b-2", "id"): "x"}
    rendered = {name: render(source.tree, values) for name, source in first.inputs.items()}  # type: ignore[union-attr]
    assert rendered == {"a": 7, "b": "X"}


def test_an_environment_adds_changes_and_drops_one_instance(tmp_path: Path) -> None:
    manifest = SHOP.replace("{{ modules.vm['b-2'].id | upper }}", "x")
    modules = load(build(tmp_path, manifest), "prod").modules
    assert {name: m.inputs["size"] for name, m in modules.items() if name.startswith("vm")} == {
        "vm.a": Literal(40),
        "vm.c": Literal(9),
    }


def test_a_remembered_stack_with_instances_is_the_same_stack(tmp_path: Path) -> None:
    file = build(tmp_path)
    assert load(file, "dev") == load(file, "dev")


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("5", "{{ each.value }}", 5),
        ("null", "{{ each.value }}", None),
        ("{n: [1, 2]}", "{{ each.value.n }}", [1, 2]),
        ("{n: [1, 2]}", "{{ each.value.n[1] }}", 2),
        ('{"a-b": x}', "{{ each.value['a-b'] }}", "x"),
        ("true", "is {{ each.value }}", "is true"),
        ("1.50000001", "v{{each.value}}", "v1.50000001"),
        ("x", "{{ each.key }}-{{ each.value }}", "k-x"),
        ("x", "{{ each.key | upper }}", "K"),
        ("{n: 4}", "{{ each.value.n + 1 }}", 5),
        ("{n: a'b}", "{{ each.value.n ~ '!' }}", "a'b!"),
        ("{n: null}", "{{ each.value.n or 'none' }}", "none"),
        ("{n: [a, b]}", "{{ each.value['n'] | join('+') }}", "a+b"),
        ("{n: 1}", '{{ {"each": each.value.n}["each"] }}', 1),
    ],
)
def test_a_value_is_put_where_each_stands(tmp_path: Path, value: str, text: str, expected: object) -> None:
    quoted = text.replace("'", "''")
    literal = only(tmp_path, f"    for_each: {{k: {value}}}\n    inputs: {{a: '{quoted}'}}\n")["a"]
    assert isinstance(literal, Literal)
    assert literal.references == ()
    tree = literal.tree
    assert (render(tree, {}) if isinstance(tree, str) and "{{" in tree else tree) == expected


def test_a_value_may_be_an_input_of_any_kind(tmp_path: Path) -> None:
    inputs = only(tmp_path, "    for_each: {k: {s: {from_env: S}}}\n    inputs: {a: '{{ each.value.s }}'}\n")
    assert inputs["a"] == FromEnv("S")


def test_all_instances_are_named_at_once(tmp_path: Path) -> None:
    manifest = SHOP.replace("{{ modules.vm.a.id }}", "{{ modules.vm['*'].id }}")
    module = load(build(tmp_path, manifest.replace("any, ", "any, depends_on: [vm], ")), "dev").modules["first"]
    assert module.inputs["a"] == Literal(
        {"a": "{{ modules['vm.a'].id }}", "b-2": "{{ modules['vm.b-2'].id }}"},
        (Reference("vm.a", "id"), Reference("vm.b-2", "id")),
    )
    assert module.depends_on == ("vm.a", "vm.b-2")
    assert render("{{ modules['vm.b-2'].id }}", {Reference("vm.b-2", "id"): 3}) == 3


EMPTY_FAMILY = "  x: {source: any, for_each: {}}\n  y: {source: any, inputs: {a: \"{{ modules.x['*'].id }}\"}}\n"


def test_no_value_makes_no_module(tmp_path: Path) -> None:
    modules = load(build(tmp_path, f"version: 1\nstack: s\nmodules:\n{EMPTY_FAMILY}")).modules
    assert list(modules) == ["y"]
    assert modules["y"].inputs["a"] == Literal({})


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ("for_each: [a, b]", "hybridwrap.yaml:5:15  modules.x.for_each: must be a mapping, this is a list"),
        ("for_each: {'a.b': 1}", '"a.b" does not fit: a name is a part of a key'),
        (
            "for_each: {k: {size: 1}}\n    inputs: {a: '{{ each.value.sise }}'}",
            'hybridwrap.yaml:6:17  modules.x.inputs.a: each.value has no "sise" here; did you mean "size"?',
        ),
        ("for_each: {k: 1}\n    inputs: {a: '{{ each.vlaue }}'}", "each.vlaue is nothing: there are each.key"),
        ("for_each: {k: 1}\n    inputs: {a: '{{ each }}'}", "each stands alone"),
        ("for_each: {k: {a: 1}}\n    inputs: {a: 'x{{ each.value }}'}", "is a list or a mapping, which cannot stand"),
        ("for_each: {k: '{{ modules.y.id }}'}\n    inputs: {a: 'x{{ each.value }}'}", "can only be a whole input"),
        ("for_each: {k: 1}\n    tags: ['{each.value.x}']", 'each.value has no "x" here'),
        ("inputs: {a: '{{ each.key }}'}", "each.key and each.value are of a module with `for_each`"),
        ("var_files: ['{each.key}']", "nothing is known for the placeholder {each.key}"),
        ("inputs: {a: '{{ modules.y.id }}'}", '"y" is a module for each of several values: name one, as in y.KEY'),
        ("inputs: {a: '{{ modules.y.a }}'}", '"y" is a module for each of several values: name one, as in y.KEY'),
        ("inputs: {a: '{{ modules.y.b.id }}'}", 'no module "y.b"; did you mean "y.a"?'),
        ("owner: y", '"y" is a module for each of several values'),
        ("inputs: {a: '{{ modules.y.a.uid }}'}", 'module "y.a" has no output "uid"; did you mean "id"?'),
    ],
)
def test_what_is_wrong_with_instances_is_said(tmp_path: Path, fields: str, complaint: str) -> None:
    other = "  y: {source: any, for_each: {a: 1}}\n"
    found = problems(build(tmp_path, f"version: 1\nstack: s\nmodules:\n  x:\n    {fields}\n    source: any\n{other}"))
    assert any(complaint in problem for problem in found), found


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("vm.z", '`for_each` of module "vm" has no "z"; there is: a, b-2'),
        (
            "network.a",
            '"network.a" would be an instance of "network", which is no module with `for_each`; there is: vm',
        ),
    ],
)
def test_an_environment_changes_only_instances_that_are_there(tmp_path: Path, name: str, complaint: str) -> None:
    found = problems(build(tmp_path, SHOP.replace("dev: {}", f"dev: {{modules: {{{name}: {{}}}}}}")), "dev")
    assert any(complaint in problem for problem in found), found


def test_instances_with_one_complete_backend_share_a_state(tmp_path: Path) -> None:
    backend = 'terraform {\n  backend "local" { path = "s.tfstate" }\n}\n'
    file = write_stack(
        tmp_path, "version: 1\nstack: s\nmodules: {x: {source: m, for_each: {a: 1, b: 2}}}\n", {"m": backend}
    )
    assert any('shares its state with module "x.a"' in problem for problem in problems(file))


def test_the_name_of_a_family_selects_its_instances(tmp_path: Path) -> None:
    stack = load(build(tmp_path), "dev")

    def chosen(selection: Selection) -> tuple[str, ...]:
        return select(stack, selection, lambda _: Status.NONE)

    assert chosen(Selection(("vm",))) == ("vm.a", "vm.b-2")
    assert chosen(Selection(("vm.a",))) == ("vm.a",)
    assert chosen(Selection(("vm", "first"), exclude=("vm",))) == ("first",)
    with pytest.raises(UsageError, match=r"name one of vm\.a, vm\.b-2"):
        chosen(Selection(("vm",), families=False))
