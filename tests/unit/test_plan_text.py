"""A plan for people: the engine's own text, without what it says before each plan."""

from __future__ import annotations

import pytest

from hybridwrap.cli.plans import without_legend

CHANGE = """\
  # terraform_data.it will be created
  + resource "terraform_data" "it" {
      + id = (known after apply)
    }"""
OUTPUTS = 'Changes to Outputs:\n  + endpoint = "a"'
LEGEND = """
{bold}{product} used the selected providers to generate the following execution
plan. Resource actions are indicated with the following symbols:
  {green}+{off} create{off}

{product} will perform the following actions:

"""


@pytest.mark.parametrize("product", ["Terraform", "OpenTofu"])
@pytest.mark.parametrize("colours", [("\x1b[1m", "\x1b[32m", "\x1b[0m"), ("", "", "")])
def test_the_legend_is_left_out(product: str, colours: tuple[str, str, str]) -> None:
    bold, green, off = colours
    plan = LEGEND.format(product=product, bold=bold, green=green, off=off) + f"{CHANGE}\n\n{OUTPUTS}\n"
    assert without_legend(plan) == f"\n{CHANGE}\n\n{OUTPUTS}\n"


def test_what_is_not_known_to_be_one_stays() -> None:
    note = "Note: Objects have changed outside of Terraform\n\nTerraform detected the following changes"
    assert without_legend(f"\n{note}\n\n{CHANGE}") == f"\n{note}\n\n{CHANGE}"
