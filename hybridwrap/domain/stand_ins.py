"""A stack's modules as stand-ins for a rehearsal: the same graph, variables and outputs, and nothing that is real."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from hybridwrap.domain.inputs import Render, filled, is_bare_reference, is_secret
from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.record import Record
from hybridwrap.domain.shapes import ANY, Shape, fits, read_shape, sample
from hybridwrap.domain.stack import Literal, Module, Reference, Stack

LARGEST_VALUE = 65_536  # bytes of an output that is taken from the ledger

Values = Mapping[Reference, Json]


class StandInVariable(Struct, frozen=True):
    shape: Shape
    sensitive: bool


class StandInOutput(Struct, frozen=True):
    value: Json
    sensitive: bool
    recalled: bool = False  # it is what the ledger has


class StandIn(Struct, frozen=True):
    """What stands in for a module; `inputs` are its references and literals, secrets and what is not to be had made up.

    `needs` are the modules before it that no input names any more.
    """

    module: Module
    variables: Mapping[str, StandInVariable]
    outputs: Mapping[str, StandInOutput]
    inputs: Mapping[str, Json]
    needs: tuple[str, ...]


def stand_ins(
    stack: Stack, names: Sequence[str], records: Mapping[str, Record], render: Render
) -> Mapping[str, StandIn]:
    """Make stand-ins of modules, all that they need among them.

    An output's value is the last one in the ledger where that is no secret and fits all who use it, else made up.
    """
    modules = {name: stack.modules[name] for name in names}
    uses = _uses(modules.values())
    outputs = {name: dict(_outputs(module, uses, records.get(name))) for name, module in modules.items()}
    values = {Reference(name, o): out.value for name, found in outputs.items() for o, out in found.items()}
    return {name: _stand_in(module, outputs[name], values, render) for name, module in modules.items()}


def _uses(modules: Iterable[Module]) -> dict[Reference, list[Shape]]:
    """For each output that is referred to, the shapes that are asked of it; none where it is part of an expression."""
    found: dict[Reference, list[Shape]] = {}
    for module in modules:
        for name, source in module.inputs.items():
            if not isinstance(source, Literal):
                continue
            for reference in source.references:
                found.setdefault(reference, [])
            for reference, shape in _bare(source.tree, _shape_of(module, name), source.references):
                found[reference].append(shape)
    return found


def _bare(tree: Json, shape: Shape, references: Sequence[Reference]) -> Iterator[tuple[Reference, Shape]]:
    """References that stand alone in a tree, each with what is asked of a value in its place."""
    match tree:
        case str():
            yield from ((one, shape) for one in references if is_bare_reference(Literal(tree, (one,))))
        case list():
            element = shape.inner[0] if shape.kind in ("list", "set") else ANY
            yield from (pair for item in tree for pair in _bare(item, element, references))
        case dict():
            element = shape.inner[0] if shape.kind == "map" else ANY
            for name, item in tree.items():
                yield from _bare(item, shape.attributes.get(name, element) if shape.names else element, references)


def _shape_of(module: Module, variable: str) -> Shape:
    declared = module.interface.variables.get(variable)
    return read_shape(declared.type) if declared and declared.type else ANY


def _outputs(
    module: Module, uses: Mapping[Reference, list[Shape]], record: Record | None
) -> Iterator[tuple[str, StandInOutput]]:
    declared = module.interface.outputs
    referred = (reference.output for reference in uses if reference.module == module.name and reference.output)
    for name in sorted({*declared, *referred}):
        shapes = [shape for shape in uses.get(Reference(module.name, name), ()) if shape != ANY]
        last = record.outputs.get(name) if record else None
        sensitive = bool((name in declared and declared[name].sensitive) or (last and last.sensitive))
        value = last.value if last and not sensitive else None
        if value is not None and all(fits(s, value) for s in shapes) and len(canonical(value)) <= LARGEST_VALUE:
            yield name, StandInOutput(value, sensitive=False, recalled=True)
        else:
            yield name, StandInOutput(sample(shapes[0] if shapes else ANY, _made_up(name)), sensitive)


def _made_up(name: str) -> str:
    return f"stand-in-{name}"


def _stand_in(module: Module, outputs: Mapping[str, StandInOutput], values: Values, render: Render) -> StandIn:
    declared = module.interface.variables
    variables = {
        name: StandInVariable(_shape_of(module, name), is_secret(declared.get(name)))
        for name in dict.fromkeys((*declared, *module.inputs))
    }
    inputs = dict(_inputs(module, values, render))
    named = {
        r.module
        for name, s in module.inputs.items()
        if isinstance(s, Literal) and inputs[name] is s.tree
        for r in s.references
    }
    return StandIn(
        module, variables, outputs, inputs, tuple(n for n in module.needs if n not in {*named, module.owner})
    )


def _inputs(module: Module, values: Values, render: Render) -> Iterator[tuple[str, Json]]:
    """Inputs as the manifest has them, as long as they are no secrets and hold a value that their variable takes."""
    for name, source in module.inputs.items():
        shape = _shape_of(module, name)
        secret = is_secret(module.interface.variables.get(name))
        if isinstance(source, Literal) and _usable(source, shape, values, render, secret=secret):
            yield name, source.tree
        else:
            yield name, sample(shape, _made_up(name))


def _usable(
    source: Literal, shape: Shape, values: Values, render: Callable[[str, Values], Json], *, secret: bool
) -> bool:
    if any(reference not in values for reference in source.references):
        return False  # of another stack, or of a state as a whole
    if secret and not is_bare_reference(source):
        return False  # what is written beside a reference may be the secret itself
    if _has_exponent(source.tree):
        return False  # a manifest can't say such a number in the short way that JSON has for it
    try:
        return fits(shape, filled(source.tree, lambda text: render(text, values)))
    except ValueError:
        return False


def _has_exponent(tree: Json) -> bool:
    if isinstance(tree, list | dict):
        return any(map(_has_exponent, tree.values() if isinstance(tree, dict) else tree))
    return isinstance(tree, Decimal) and "E" in str(tree)
