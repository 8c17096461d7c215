"""Jinja as far as a manifest may use it: static references, operators and filters, and nothing of the process."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from functools import cache
from types import GeneratorType
from typing import Any

from jinja2 import StrictUndefined, TemplateError, Undefined, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from hybridwrap.adapters.templates import BadTemplate
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.stack import Reference

# Filters that reach for attributes, for chance or for markup: nothing that a manifest should do.
REFUSED_FILTERS = ("attr", "random", "safe", "escape", "e", "forceescape", "xmlattr", "urlize", "striptags", "pprint")
# What can make a text or a list of any size out of a few characters.
BOMBS = ("center", "batch", "slice", "indent", "wordwrap", "round")
LARGEST = 1000  # number that such a filter takes
WIDE = re.compile(r"%[^a-zA-Z%]*(\*|\d{4})")  # a width in a format
DASHED = re.compile(r"\bmodules(\.[A-Za-z_]\w*)*?\.([A-Za-z_]\w*(?:-\w+)+)")


class _Sandbox(ImmutableSandboxedEnvironment):
    """Objects have items and no attributes: an output called `items` is a value, and no method can be reached."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        try:
            return obj[argument]
        except (LookupError, TypeError):
            return self.undefined(obj=obj, name=argument)


@cache
def _environment() -> _Sandbox:
    # `{%` and `{#` get delimiters that no text holds: the first is refused with a hint, the second is plain text.
    environment = _Sandbox(
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        block_start_string="\0%",
        block_end_string="%\0",
        comment_start_string="\0#",
        comment_end_string="#\0",
        finalize=_text,
    )
    environment.globals.clear()
    for name in REFUSED_FILTERS:
        del environment.filters[name]
    environment.filters["tojson"] = _to_json
    return environment


def _to_json(value: Any) -> str:
    return canonical(_json(value)).decode()


def raw_tokens(text: str) -> list[tuple[str, str]]:
    """Part a template into kinds and texts, which together are the template again. Raise BadTemplate."""
    try:
        return [(kind, value) for _, kind, value in _environment().lex(text)]
    except TemplateError as error:
        raise BadTemplate(f"not a template: {error.message}") from error


def find_references(text: str, families: Collection[str] = ()) -> tuple[Reference, ...]:
    """Name the outputs that a template uses. Raise BadTemplate for what is not static.

    `families` are modules of which there is one for each value: there, a key comes between module and output.
    """
    if "\r" in text:  # Jinja would make a line feed of it
        raise BadTemplate("a template cannot hold a carriage return")
    try:
        tokens = list(_environment().lex(text))
        tree = _environment().parse(text)
        found = dict.fromkeys(_walk(tree, families))
        _environment().compile(tree)  # finds unknown filters
    except TemplateError as error:
        raise BadTemplate(f"not a template: {error.message}{_dash_hint(text)}") from error
    except BadTemplate as error:
        raise BadTemplate(f"{error}{_dash_hint(text)}") from error
    if any(kind == "data" and "{%" in value for _, kind, value in tokens):
        raise BadTemplate('{% is not supported, only {{ … }}; for the text itself write {{ "{%" }}')
    return tuple(found)


def _dash_hint(text: str) -> str:
    dashed = DASHED.search(text)
    return f"; a name with a dash goes in brackets: ['{dashed[2]}']" if dashed else ""


def _walk(node: nodes.Node, families: Collection[str]) -> Iterator[Reference]:
    match node:
        case nodes.Getattr() | nodes.Getitem():
            yield from _reference(node, families)
        case nodes.Name(name="each"):
            raise BadTemplate("each.key and each.value are of a module with `for_each`")
        case nodes.Name():
            wanted = "modules.NAME.OUTPUT, stacks.NAME.modules.NAME.OUTPUT"
            raise BadTemplate(
                f'"{node.name}" is nothing that a template can use; it can use {wanted}, filters and literals'
            )
        case nodes.BinExpr() | nodes.Filter() if _makes_any_size(node):
            raise BadTemplate("this could make a value of any size; allowed are small numbers, written out")
        case nodes.Call():
            raise BadTemplate("calls are not supported; filters are: {{ value | filter }}")
        case _:
            for child in node.iter_child_nodes():
                yield from _walk(child, families)


def _makes_any_size(node: nodes.Node) -> bool:
    match node:
        case nodes.Pow():
            return True
        case nodes.Mul():
            factors = [side for side in (node.left, node.right) if isinstance(side, nodes.Const)]
            once = not any(isinstance(side, nodes.Mul) or side.find(nodes.Mul) for side in (node.left, node.right))
            return not (once and factors and all(_is_factor(factor.value) for factor in factors))
        case nodes.Mod(left=nodes.Const(value=str(text))) | nodes.Filter(name="format", node=nodes.Const(value=text)):
            return WIDE.search(str(text)) is not None
        case nodes.Filter(name="format"):
            return True
        case nodes.Filter(name=name) if name in BOMBS:
            given = [*node.args, *(each.value for each in node.kwargs)]
            return not all(isinstance(each, nodes.Const) and _is_small(each.value) for each in given)
        case _:
            return False


def _is_factor(value: Any) -> bool:
    return isinstance(value, int | float) and _is_small(value)


def _is_small(value: Any) -> bool:
    return not isinstance(value, int | float) or abs(value) <= LARGEST


def _reference(node: nodes.Node, families: Collection[str]) -> Iterator[Reference]:
    steps: list[Any] = []
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        steps.insert(0, _step(node))
        node = node.node
    if isinstance(node, nodes.Name) and node.name == "stacks":
        yield _of_stack(steps)
    elif not isinstance(node, nodes.Name) or node.name != "modules":
        yield from _walk(node, families)
    elif steps[0] in families and [type(step) for step in steps[1:3]] == [str, str]:
        yield Reference(f"{steps[0]}.{steps[1]}", steps[2])
    elif [type(step) for step in steps[:2]] != [str, str]:
        raise BadTemplate("a reference names a module and an output: modules.NAME.OUTPUT or modules['NAME']['OUTPUT']")
    else:
        yield Reference(*steps[:2])


def _of_stack(steps: list[Any]) -> Reference:
    if len(steps) < 4 or steps[1] != "modules" or [type(step) for step in steps[:4]] != [str] * 4:  # noqa: PLR2004
        raise BadTemplate("a reference to another stack is stacks.STACK.modules.MODULE.OUTPUT")
    return Reference(f"{steps[0]}/{steps[2]}", steps[3])


def _step(node: nodes.Getattr | nodes.Getitem) -> str | int:
    if isinstance(node, nodes.Getattr):
        if node.attr.startswith("__"):
            raise BadTemplate(f'"{node.attr}" is nothing that a template can use: values have no attributes')
        return node.attr
    if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str | int):
        return node.arg.value
    raise BadTemplate("a computed name is not supported: references must be known before anything runs")


def evaluate(text: str, values: Mapping[Reference, Json]) -> Json:
    """Give a template its value. Raise BadTemplate."""
    names = _names(values)
    try:
        if lone := _lone_expression(text):
            # Without `undefined_to_none=False` something undefined would silently be None.
            return _json(_environment().compile_expression(lone, undefined_to_none=False)(names))
        return _environment().from_string(text).render(names)
    except (TemplateError, ArithmeticError, TypeError, ValueError) as error:
        raise BadTemplate(f"{text}: {error}") from error


def _names(values: Mapping[Reference, Json]) -> dict[str, Json]:
    """Everything that a template can name, each value wherever it may be looked for."""
    names: dict[str, Json] = {"modules": {}, "stacks": {}}
    for reference, value in values.items():
        stack, _, module = reference.module.rpartition("/")
        modules = names["stacks"].setdefault(stack, {"modules": {}})["modules"] if stack else names["modules"]
        modules.setdefault(module, {})[reference.output] = value
        family, _, key = module.partition(".")
        if key:
            modules.setdefault(family, {}).setdefault(key, {})[reference.output] = value
    return names


def _lone_expression(text: str) -> str:
    """The inside of a template that is exactly one `{{ … }}`, else nothing."""
    tokens = list(_environment().lex(text))
    kinds = [kind for _, kind, _ in tokens]
    if kinds[0] != "variable_begin" or kinds[-1] != "variable_end" or kinds.count("variable_begin") > 1:
        return ""
    return "".join(value for _, _, value in tokens[1:-1])


def _text(value: Any) -> Any:
    """Write a value into a text, as a JSON scalar."""
    match value:
        case Undefined() | str():
            return value
        case None:
            raise BadTemplate("a null cannot stand in a text")
        case bool() | int() | Decimal() | float():
            return _to_json(value)
        case _:
            raise BadTemplate("a list or a map cannot stand in a text; write {{ value | tojson }}")


def _json(value: Any) -> Json:
    """Make a JSON value of what an expression gave."""
    match value:
        case Undefined():
            return str(value)  # raises, and says what is undefined
        case None | bool() | int() | Decimal():
            return value
        case str():
            return str.__str__(value)
        case float():
            return Decimal(repr(value))
        case Mapping():
            return {str(name): _json(item) for name, item in value.items()}
        case list() | tuple() | GeneratorType():
            return [_json(item) for item in value]
        case _:
            raise BadTemplate(f"gives a {type(value).__name__}, which JSON cannot hold")
