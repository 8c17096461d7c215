"""The root module that stands in for another one, as its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hybridwrap.domain.json import Json, canonical
from hybridwrap.domain.stand_ins import StandIn, StandInOutput, StandInVariable

FILE = "main.tf"
FIRST, SECOND = "first", "second"
SCRIPT = "stand-in.sh"
# What JSON may escape and HCL may not, and what HCL would take for a template.
_FOREIGN = re.compile(r"\\([bf/])|\\.|([$%])(?=\{)")
_AS_HCL = {"b": r"\u0008", "f": r"\u000c", "/": "/", "$": r"\u0024", "%": r"\u0025"}

HEAD = """\
# A stand-in for module {module}, written by `hybridwrap rehearse`: the same variables and outputs, nothing real.
# Of its two objects the first is done when an apply fails; a destroy fails between them, too.
"""
OBJECTS = """
resource "terraform_data" "first" {{
  input            = {first}
  triggers_replace = [{triggers}]

  provisioner "local-exec" {{
    when    = destroy
    command = "sh ../../{script} {module} destroy"
  }}
}}

resource "terraform_data" "second" {{
  input      = {second}
  depends_on = [terraform_data.first]

  provisioner "local-exec" {{
    command = "sh ../../{script} {module} apply"
  }}
}}
"""


def module_text(stand_in: StandIn) -> str:
    """Write HCL that each engine takes; variables have no defaults but null, and no validation."""
    name, outputs = stand_in.module.name, stand_in.outputs
    first = dict(list(outputs.items())[: len(outputs) // 2])
    second = {name: output for name, output in outputs.items() if name not in first}
    parts = [HEAD.format(module=name)]
    parts += [_variable(variable, made) for variable, made in stand_in.variables.items()]
    triggers = ", ".join(f"var.{name}" for name, made in stand_in.variables.items() if not made.sensitive)
    parts.append(
        OBJECTS.format(first=_values(first), second=_values(second), triggers=triggers, module=name, script=SCRIPT)
    )
    parts += _outputs(FIRST, first)
    parts += _outputs(SECOND, second)
    return "".join(parts)


def _variable(name: str, made: StandInVariable) -> str:
    return _block("variable", name, type=str(made.shape), default="null", **_secret(sensitive=made.sensitive))


def _secret(*, sensitive: bool) -> Mapping[str, str]:
    return {"sensitive": "true"} if sensitive else {}


def _block(kind: str, name: str, **said: str) -> str:
    """Write a block as the engine's own `fmt` would."""
    width = max(map(len, said))
    lines = "".join(f"  {field.ljust(width)} = {value}\n" for field, value in said.items())
    return f'\n{kind} "{name}" {{\n{lines}}}\n'


def _values(outputs: Mapping[str, StandInOutput]) -> str:
    return hcl({name: output.value for name, output in outputs.items()})


def _outputs(resource: str, outputs: Mapping[str, StandInOutput]) -> Iterator[str]:
    for name, output in outputs.items():
        value = f'terraform_data.{resource}.output["{name}"]'
        yield _block("output", name, value=value, **_secret(sensitive=output.sensitive))


def hcl(value: Json) -> str:
    """Write a value as a constant expression: JSON is one, but for some escapes, and for templates in texts."""
    text = canonical(value).decode("utf-8", "replace")
    return _FOREIGN.sub(lambda found: _AS_HCL.get(found[1] or found[2] or "", found[0]), text)
