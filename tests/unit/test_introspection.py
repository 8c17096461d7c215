"""What a root module declares is read from its source, as each of the two products would load it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from textwrap import dedent

import pytest

from hybridwrap.adapters import hcl
from hybridwrap.adapters.introspection import introspect
from hybridwrap.domain.json import Json
from hybridwrap.domain.stack import BackendBlock, DeclaredOutput, Interface, Variable
from hybridwrap.errors import InvalidManifest


def module(folder: Path, files: Mapping[str, str], *, tofu: bool = False) -> Interface:
    """Write files and read the module that they make."""
    for name, text in files.items():
        (folder / name).write_text(dedent(text), encoding="utf-8")
    return introspect(folder, "m", tofu=tofu)


MAIN = """
    terraform {
      required_version = ">= 1.5, < 2"
      backend "s3" {
        bucket         = "b"
        key            = var.key
        use_path_style = true
        max_retries    = 5
        endpoints      = { s3 = "http://localhost" }
        assume_role {
          role_arn = "x"
        }
      }
    }
    variable "plain" {}
    variable "full" {
      type = object({
        a = string           # what it is
        b = optional(number) /* and
                                what not */
      })
      default   = null
      sensitive = true
      ephemeral = true
      const     = true
    }
    variable "quoted" { type = "string" }
    output "o" { value = 1 }
    output "s" {
      value     = 1
      sensitive = true
    }
    resource "aws_db_instance" "kept" {
      lifecycle { prevent_destroy = true }
    }
    resource "aws_db_instance" "free" {
      lifecycle { prevent_destroy = false }
    }
"""


def test_a_module_declares_what_its_source_says(tmp_path: Path) -> None:
    assert module(tmp_path, {"main.tf": MAIN}) == Interface(
        variables={
            "plain": Variable("plain", line=15),
            "full": Variable(
                "full",
                type="object({ a = string b = optional(number) })",
                required=False,
                sensitive=True,
                ephemeral=True,
                const=True,
                line=16,
            ),
            "quoted": Variable("quoted", type="string", line=27),
        },
        outputs={"o": DeclaredOutput("o", line=28), "s": DeclaredOutput("s", sensitive=True, line=29)},
        backend=BackendBlock(
            "s3",
            {
                "bucket": "b",
                "key": "...",
                "use_path_style": True,
                "max_retries": 5,
                "endpoints": {"s3": "http://localhost"},
                "assume_role": "...",
            },
            "m/main.tf",
            4,
        ),
        required_version=(">= 1.5, < 2",),
        protected=("aws_db_instance.kept",),
    )


def test_the_json_form_declares_the_same(tmp_path: Path) -> None:
    text = """
        {
          "terraform": {"backend": {"s3": {"bucket": "b", "key": "${var.key}"}}, "required_version": ">= 1.5"},
          "variable": {"x": {"type": "list(string)", "default": []}, "y": [{"sensitive": true}]},
          "output": {"o": {"value": "${var.x}", "sensitive": true}},
          "resource": {"a": {"b": {"lifecycle": {"prevent_destroy": true}}}}
        }
    """
    assert module(tmp_path, {"main.tf.json": text}) == Interface(
        variables={
            "x": Variable("x", type="list(string)", required=False),
            "y": Variable("y", sensitive=True),
        },
        outputs={"o": DeclaredOutput("o", sensitive=True)},
        backend=BackendBlock("s3", {"bucket": "b", "key": "..."}, "m/main.tf.json"),
        required_version=(">= 1.5",),
        protected=("a.b",),
    )


def test_terraform_does_not_load_tofu_files(tmp_path: Path) -> None:
    files = {
        "main.tf": 'variable "tf" {}',
        "main.tofu": 'variable "tofu" {}',
        "b.tofu.json": '{"output": {"j": {}}}',
    }
    found = module(tmp_path, files)
    assert (set(found.variables), set(found.outputs)) == ({"tf"}, set())


def test_opentofu_takes_a_tofu_file_in_place_of_the_tf_file_of_the_same_name(tmp_path: Path) -> None:
    files = {
        "main.tf": 'variable "hidden" {}',
        "main.tofu": 'variable "tofu" {}',
        "other.tf": 'variable "other" {}',
        "data.tf.json": '{"variable": {"hidden_json": {}}}',
        "data.tofu.json": '{"variable": {"json": {}}}',
    }
    assert set(module(tmp_path, files, tofu=True).variables) == {"tofu", "other", "json"}


def test_opentofu_states_its_versions_in_two_ways(tmp_path: Path) -> None:
    text = """
        terraform { required_version = ">= 1.8" }
        language {
          compatible_with { opentofu = "< 2" }
        }
    """
    assert module(tmp_path, {"main.tofu": text}, tofu=True).required_version == (">= 1.8", "< 2")


def test_opentofu_needs_variables_of_backend_and_sources_early(tmp_path: Path) -> None:
    text = """
        terraform {
          backend "s3" { bucket = "b-${var.env}" }
        }
        module "x" {
          source  = "./${var.kind}"
          version = var.version
        }
        variable "env" {}
        variable "kind" {}
        variable "version" {}
        variable "late" {}
    """
    early = {name for name, v in module(tmp_path, {"main.tf": text}, tofu=True).variables.items() if v.const}
    assert early == {"env", "kind", "version"}
    assert not any(v.const for v in module(tmp_path, {"main.tf": text}).variables.values())


def test_override_files_replace_what_they_say(tmp_path: Path) -> None:
    files = {
        "override.tf": 'variable "x" { default = 1 }\nterraform {\n  backend "local" { path = "p" }\n}',
        "main.tf": 'variable "x" { type = string }\noutput "o" { value = 1 }\nterraform {\n  backend "s3" {}\n}',
        "z_override.tf.json": '{"output": {"o": {"sensitive": true}}}',
    }
    found = module(tmp_path, files)
    assert found.variables == {"x": Variable("x", type="string", required=False, line=1)}
    assert found.outputs["o"].sensitive
    assert found.backend == BackendBlock("local", {"path": "p"}, "m/override.tf", 3)


@pytest.mark.parametrize(
    ("main", "override", "cloud"),
    [
        ("terraform {\n  cloud {}\n}", "", True),
        ("terraform {\n  cloud {}\n}", 'terraform {\n  backend "s3" {}\n}', False),
        ('terraform {\n  backend "s3" {}\n}', "terraform {\n  cloud {}\n}", True),
    ],
)
def test_of_backend_and_cloud_the_last_one_counts(tmp_path: Path, main: str, override: str, *, cloud: bool) -> None:
    found = module(tmp_path, {"main.tf": main, "override.tf": override})
    assert (found.cloud, found.backend is None) == (cloud, cloud)


def test_files_that_an_engine_ignores_are_ignored(tmp_path: Path) -> None:
    for name in (".hidden.tf", "main.tf~", "#main.tf", "notes.md", "hybridwrap_override.tf.json"):
        (tmp_path / name).write_text("not { hcl", encoding="utf-8")
    (tmp_path / "sub.tf").mkdir()
    assert module(tmp_path, {"main.tf": 'variable "x" {}'}).variables == {"x": Variable("x", line=1)}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.tf", 'variable "x" {\n  type = string\n', "m/a.tf:3:1  syntax error: } is missing"),
        ("a.tf", 'x = "a\n', "m/a.tf:2:1  syntax error: a closing quote is missing"),
        ("a.tf", 'é = "é" x\n', "m/a.tf:1:9  syntax error in `é = …`"),
        ("a.tf", "x = @\n", "m/a.tf:1:1  syntax error in `x = …`"),
        ("a.tf.json", '{"a": }', "m/a.tf.json:1:7  not JSON"),
        ("a.tf.json", "[]", "m/a.tf.json:1:1  must be a JSON object"),
    ],
)
def test_a_syntax_error_names_file_line_and_column(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidManifest) as caught:
        introspect(tmp_path, "m", tofu=False)
    assert str(caught.value.problems[0]).startswith(complaint)


def test_syntax_errors_of_all_files_are_said_at_once(tmp_path: Path) -> None:
    for name in ("a.tf", "b.tf"):
        (tmp_path / name).write_text("x = [\n", encoding="utf-8")
    with pytest.raises(InvalidManifest, match="2 errors"):
        introspect(tmp_path, "m", tofu=False)


def test_a_folder_without_configuration_is_no_module(tmp_path: Path) -> None:
    with pytest.raises(InvalidManifest, match=r"m  holds no \.tf file"):
        introspect(tmp_path, "m", tofu=False)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1e3", "a = 1.5E-10", 'a = "%{ if x }y%{ endif }"', "a = [for s in var.l : upper(s) if s != \"\"]",
        "a = {for k, v in m : k => v...}", "a = var.x[*].id", "a = provider::aws::arn(x)",
        "a = <<EOT\n${x}\n$${y}\nEOT\n",
        "a = f(x...)", "é = 1", "a = 5 % 3", 'dynamic "x" {\n  for_each = y\n  content {}\n}',
    ],
)  # fmt: skip
def test_what_the_engines_accept_is_accepted(text: str) -> None:
    hcl.read_native(f"{text}\n".encode(), "x.tf")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"x"', "x"),
        (r'"a\n\t\"\\\u00e9$${b}%%{c}"', 'a\n\t"\\é${b}%{c}'),
        ("12345678901234567890123456789", 12345678901234567890123456789),
        ("3.14159265358979323846264338327950288", Decimal("3.14159265358979323846264338327950288")),
        ("1e400", Decimal("1e400")),
        ("-7", -7),
        ("true", True),
        ("null", None),
        ('["a", 1, [],]', ["a", 1, []]),
        ('{ a = 1, "b-c" : { d = false } }', {"a": 1, "b-c": {"d": False}}),
        ("<<EOT\n  a \"b\" \\n\n$${c}\nEOT", '  a "b" \\n\n${c}\n'),
        ("<<-EOT\n    a\n      b\n    EOT", "a\n  b\n"),
        ("var.x", "..."),
        ('"a${var.b}"', "..."),
        ("[upper(\"a\")]", "..."),
        ("{ (x) = 1 }", "..."),
    ],
)  # fmt: skip
def test_a_literal_has_its_exact_value(text: str, value: Json) -> None:
    attribute = hcl.read_native(f"x = {text}\n".encode(), "x.tf").attributes["x"]
    assert (attribute.value, attribute.literal) == (value, value != "...")


def test_a_folder_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "m").symlink_to("m")  # a loop: also root can't read it
    with pytest.raises(InvalidManifest, match="m  cannot be read: Too many levels"):
        introspect(tmp_path / "m", "m", tofu=False)
