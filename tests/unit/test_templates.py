"""Templates keep types, name their references before anything runs, and reach nothing but values."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest

from hybridwrap.adapters.templates import BadTemplate, is_template, references, render
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import Reference

VALUES = {
    Reference("a", "id"): "x",
    Reference("a", "number"): Decimal("1.10"),
    Reference("a", "big"): 9007199254740993,
    Reference("a", "yes"): True,
    Reference("a", "null"): None,
    Reference("a", "items"): [1, 2],
    Reference("a", "object"): {"items": 1, "deep": {"k": "{{ modules.a.id }}"}, "unset": None},
    Reference("my-vm", "out-put"): "dashed",
}


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{ modules.a.id }}", "x"),
        ("{{modules.a.id}}", "x"),
        ("{{- modules.a.id -}}", "x"),
        ("{{ modules.a.number }}", Decimal("1.10")),
        ("{{ modules.a.big }}", 9007199254740993),
        ("{{ modules.a.yes }}", True),
        ("{{ modules.a.null }}", None),
        ("{{ modules.a.items }}", [1, 2]),
        ("{{ modules.a.object }}", VALUES[Reference("a", "object")]),
        ("{{ modules['my-vm']['out-put'] }}", "dashed"),
        ('{{ modules["a"].id }}', "x"),
        ("{{ modules.a.object.items }}", 1),
        ("{{ modules.a.object.unset }}", None),
        ("{{ modules.a.items[1] }}", 2),
        ("{{ modules.a.id | upper }}", "X"),
        ("{{ modules.a.null | default('d', true) }}", "d"),
        ("{{ modules.a.items | map('string') }}", ["1", "2"]),
        ("{{ modules.a.items | length }}", 2),
        ("{{ modules.a.number * 2 }}", Decimal("2.20")),
        ("{{ [modules.a.id, modules.a.number] }}", ["x", Decimal("1.10")]),
        ("{{ modules.a.id if modules.a.yes else none }}", "x"),
        ("{{ 1.5 }}", Decimal("1.5")),
        ("{{ '{%' }}", "{%"),
    ],
)
def test_a_lone_expression_keeps_the_type_of_its_value(template: str, value: Json) -> None:
    found = render(template, VALUES)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ modules.a.id }}-{{ modules.a.id }}", "x-x"),
        ("{{ modules.a.id }}{{ modules.a.id }}", "xx"),
        (" {{ modules.a.id }}", " x"),
        ("{{ modules.a.id }}\n", "x\n"),
        ("n={{ modules.a.number }} b={{ modules.a.yes }} i={{ modules.a.big }}", "n=1.10 b=true i=9007199254740993"),
        ("{{ modules.a.object | tojson }}!", '{"deep":{"k":"{{ modules.a.id }}"},"items":1,"unset":null}!'),
        ("{# kept #}{{ modules.a.id }}", "{# kept #}x"),
        ("{{ modules.a.id }} }}", "x }}"),
        ("<{{ modules.a.id }}&", "<x&"),
    ],
)
def test_anything_else_is_a_text_with_json_scalars_in_it(template: str, text: str) -> None:
    assert render(template, VALUES) == text


def test_a_value_that_looks_like_a_template_is_data() -> None:
    hostile = {Reference("a", "id"): "{{ modules.b.secret }} {% if %}"}
    assert render("{{ modules.a.id }}", hostile) == "{{ modules.b.secret }} {% if %}"
    assert render("<{{ modules.a.id }}>", hostile) == "<{{ modules.b.secret }} {% if %}>"
    assert render("{{ modules.a.id | upper }}", hostile) == "{{ MODULES.B.SECRET }} {% IF %}"


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("x{{ modules.a.null }}", "a null cannot stand in a text"),
        ("x{{ modules.a.items }}", "a list or a map cannot stand in a text; write {{ value | tojson }}"),
        ("{{ modules.a.object.gone }}", "has no attribute 'gone'"),
        ("x{{ modules.a.object.gone }}", "has no attribute 'gone'"),
        ("{{ modules.a.items | map(attribute='__class__') | list }}", "has no attribute '__class__'"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ modules.a.id + 1 }}", "concatenate"),
    ],
)
def test_a_template_that_cannot_be_rendered_says_why(template: str, complaint: str) -> None:
    references(template)
    with pytest.raises(BadTemplate) as caught:
        render(template, VALUES)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("{{ modules.a.id }}", ["a.id"]),
        ("{{ modules['my-vm']['out-put'] }}", ["my-vm.out-put"]),
        ("{{ modules.a.items.deep[0]['x'] }}", ["a.items"]),
        ("{{ modules.b.y }}-{{ modules.a.x | default(modules.c.z) }}-{{ modules.b.y }}", ["b.y", "a.x", "c.z"]),
        ("{{ modules.a.x if modules.b.y == 'z' else [modules.c.z] }}", ["b.y", "a.x", "c.z"]),
        ("{{ 'literal' }}", []),
    ],
)
def test_references_are_known_before_anything_runs(template: str, names: list[str]) -> None:
    assert [str(reference) for reference in references(template)] == names


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("{{ modules }}", '"modules" is nothing that a template can use'),
        ("{{ modules.a }}", "a reference names a module and an output"),
        ("{{ modules[0].id }}", "a reference names a module and an output"),
        ("{{ modules[modules.a.id].id }}", "a computed name is not supported"),
        ("{{ modules.a[modules.b.id] }}", "a computed name is not supported"),
        ("{{ modules.my-vm.id }}", "a name with a dash goes in brackets: ['my-vm']"),
        ("{{ modules.a.out-put }}", "a name with a dash goes in brackets: ['out-put']"),
        ("{{ id }}", '"id" is nothing that a template can use'),
        ("{{ self }}", '"self" is nothing that a template can use'),
        ("{{ range(9) }}", "calls are not supported"),
        ("{{ modules.a.id.upper() }}", "calls are not supported"),
        ("{{ modules.a.id | nope }}", "No filter named 'nope'"),
        ("{{ modules.a.id | attr('upper') }}", "No filter named 'attr'"),
        ("{{ [1, 2] | random }}", "No filter named 'random'"),
        ("{{ 'a' * 100000000000 }}", "could make a value of any size"),
        ("{{ 'a' * 9 }}", "could make a value of any size"),
        ("{{ modules.a.id * 1000 * 1000 }}", "could make a value of any size"),
        ("{{ 1000 * (modules.a.id * 1000 ~ '') }}", "could make a value of any size"),
        ("{{ modules.a.id * modules.a.number }}", "could make a value of any size"),
        ("{{ 9 ** 9 ** 9 }}", "could make a value of any size"),
        ("{{ '%9999999999d' % 1 }}", "could make a value of any size"),
        ("{{ '%*d' | format(9, 1) }}", "could make a value of any size"),
        ("{{ 'a' | center(10000000000) }}", "could make a value of any size"),
        ("{{ [1] | batch(modules.a.number, 0) }}", "could make a value of any size"),
        ("{{ [].__class__.__mro__ }}", '"__mro__" is nothing that a template can use'),
        ("{{ modules.a.id.__class__ }}", '"__class__" is nothing that a template can use'),
        ("{% if true %}x{% endif %}", "{% is not supported"),
        ("{% raw %}{{ modules.a.id }}", "{% is not supported"),
        ("{{ modules.a.id", "not a template"),
        ("{{ }}", "not a template"),
        ("{{ modules.a.id }}\r\n", "carriage return"),
    ],
)
def test_what_is_not_static_is_refused(template: str, complaint: str) -> None:
    with pytest.raises(BadTemplate) as caught:
        references(template)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{{ x }}", True), ("{% x %}", True), ("{x}", False), ("}}", False), ("{# x #}", False), ("${x} %{ if }", False)],
)
def test_only_double_braces_make_a_template(text: str, *, expected: bool) -> None:
    assert is_template(text) is expected


def test_a_bare_reference_needs_no_template_engine() -> None:
    code = (
        "import sys; from hybridwrap.adapters.templates import references, render\n"
        "(r,) = references('{{ modules.a.id }}'); render('{{ modules.a.id }}', {r: 1}); print('jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
