"""Everything that can be known wrong before running is said at once: file, line, column, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.adapters.manifest import read_stack
from hybridwrap.adapters.manifest.types import mismatch
from hybridwrap.domain.json import Json
from hybridwrap.errors import InvalidManifest
from tests.support.manifests import EMPTY, NETWORK, VM, load, problems, write_stack

ANY = 'variable "x" { default = null }\noutput "id" { value = 1 }'

NOT_FETCHED = "{} is not fetched on this host; next: hybridwrap init"


def stack(tmp_path: Path, modules: str, **folders: str) -> Path:
    """A manifest whose `modules:` begin in line 4; every folder named `any` declares a variable x and an output id."""
    return write_stack(tmp_path, f"version: 1\nstack: s\nmodules:\n{modules}\n", {"any": ANY, **folders})


def test_mistakes_read_like_this(tmp_path: Path) -> None:
    file = stack(
        tmp_path,
        """\
  network: {source: modules/network, inputs: {cidr: 10.0.0.0/16}}
  vm:
    source: modules/vm
    inputs:
      subnetid: "{{ modules.network.subnet_id }}"
      size: large
  health:
    source: any
    inputs: {x: "{{ modules.vm.adress }}"}""",
        **{"modules/network": NETWORK, "modules/vm": VM},
    )
    assert problems(file) == [
        'hybridwrap.yaml:7:5  modules.vm.inputs: modules/vm needs a value for "subnet_id", which has no default',
        'hybridwrap.yaml:8:7  modules.vm.inputs.subnetid: modules/vm declares no variable "subnetid"; '
        'did you mean "subnet_id"?',
        'hybridwrap.yaml:9:13  modules.vm.inputs.size: modules/vm: "size" takes number, this is the text "large"',
        'hybridwrap.yaml:12:17  modules.health.inputs.x: module "vm" has no output "adress"; did you mean "address"? '
        "it has: address, id",
    ]


def test_problems_end_with_their_number_and_exit_code_10(tmp_path: Path) -> None:
    with pytest.raises(InvalidManifest, match="2 errors; nothing was run") as caught:
        load(stack(tmp_path, "  a: {source: gone}\n  b: {source: gone}"))
    assert caught.value.exit_code == 10


@pytest.mark.parametrize(
    ("modules", "complaint"),
    [
        (
            "  a: {source: any, depends_on: [b]}\n  b: {source: any, depends_on: [c]}\n"
            '  c: {source: any, inputs: {x: "{{ modules.a.id }}"}}',
            "hybridwrap.yaml:4:3  modules.a: cycle: a -> b -> c -> a",
        ),
        (
            "  a: {source: any, depends_on: [a]}",
            'hybridwrap.yaml:4:33  modules.a.depends_on[0]: module "a" cannot come before itself',
        ),
        (
            '  a: {source: any, inputs: {x: ["{{ modules.a.id }}"]}}',
            'hybridwrap.yaml:4:32  modules.a.inputs.x: module "a" cannot come before itself',
        ),
        (
            "  net: {source: any}\n  a: {source: any, depends_on: [nte]}",
            'hybridwrap.yaml:5:33  modules.a.depends_on[0]: no module "nte"; did you mean "net"?',
        ),
        (
            "  a: {source: any, owner: ghost}",
            'hybridwrap.yaml:4:27  modules.a.owner: no module "ghost"; there is: a',
        ),
        (
            '  net: {source: any}\n  a: {source: any, inputs: {x: "{{ modules.nett.id }}"}}',
            'hybridwrap.yaml:5:32  modules.a.inputs.x: no module "nett"; did you mean "net"?',
        ),
        (
            "  a: {source: any}\n  a: {source: any}",
            "hybridwrap.yaml:5:3  modules.a: is here for the second time; the first is in line 4",
        ),
        (
            "  spare: {source: any, enabled: false}\n  a: {source: any, depends_on: [spare]}",
            'hybridwrap.yaml:5:33  modules.a.depends_on[0]: module "spare" is left out here: enabled is false',
        ),
    ],
)
def test_a_mistake_in_the_graph_is_one_clear_message(tmp_path: Path, modules: str, complaint: str) -> None:
    assert problems(stack(tmp_path, modules)) == [complaint]


def test_every_separate_cycle_is_said(tmp_path: Path) -> None:
    edges = {"a": "b", "b": "a", "c": "d", "d": "e", "e": "c"}
    modules = "\n".join(f"  {name}: {{source: any, depends_on: [{needed}]}}" for name, needed in edges.items())
    assert [line.split("  ")[1] for line in problems(stack(tmp_path, modules))] == [
        "modules.a: cycle: a -> b -> a",
        "modules.c: cycle: c -> d -> e -> c",
    ]


def test_names_that_differ_only_by_case_are_a_warning(tmp_path: Path) -> None:
    (warning,) = load(stack(tmp_path, "  Net: {source: any}\n  net: {source: any}")).warnings
    assert warning.endswith('modules.net: "net" and "Net" differ only by case: one folder on macOS and Windows')


def test_an_input_makes_its_module_come_after(tmp_path: Path) -> None:
    modules = load(stack(tmp_path, '  b: {source: any, inputs: {x: "{{ modules.c.id }}"}}\n  c: {source: any}')).modules
    assert modules["b"].needs == ("c",)


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("{{ modules.a }}", "a reference names a module and an output"),
        ("{{ modules.my-net.id }}", "a name with a dash goes in brackets: ['my-net']"),
        ("{{ env.HOME }}", '"env" is nothing that a template can use'),
        ("{% if true %}x{% endif %}", "{% is not supported"),
        ("{{ modules.a.id", "not a template"),
        ("{{ modules.a.id | nope }}", "No filter named 'nope'"),
    ],
)
def test_a_bad_template_is_said_with_its_place(tmp_path: Path, template: str, complaint: str) -> None:
    modules = (
        f"  a: {{source: any}}\n  b:\n    source: any\n    inputs:\n      x: '{template.replace(chr(39), chr(39) * 2)}'"
    )
    (found,) = problems(stack(tmp_path, modules))
    assert found.startswith("hybridwrap.yaml:8:10  modules.b.inputs.x: ")
    assert complaint in found


def test_a_source_from_outside_can_only_be_a_whole_input(tmp_path: Path) -> None:
    (found,) = problems(stack(tmp_path, "  a: {source: any, inputs: {x: {deep: {from_env: X}}}}"))
    assert "modules.a.inputs.x.deep: from_env and from_file can only be a whole input" in found


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ("account: '1'", 'modules.a.account: "1" does not fit: an AWS account is 12 digits'),
        ("account: 111122223333", 'must be a text, this is the number 111122223333; write "111122223333" in quotes'),
        ("credentials: {command: []}", "modules.a.credentials.command: must not be empty"),
        ("credentials: {timeout: 5s}", 'modules.a.credentials: "command" is missing'),
        ("hooks: {befor: [[x]]}", 'modules.a.hooks.befor: unknown field "befor"; did you mean "before"?'),
        ("hooks: {before: [x]}", "modules.a.hooks.before[0]: must be a list"),
        ("hooks: {after: [[]]}", "modules.a.hooks.after[0]: must not be empty"),
        ('engine: {version: ">> 1"}', "engine.version: not a version constraint"),
        ("retry: {on: ['(']}", "modules.a.retry.on[0]: not a regular expression"),
        (
            "env: {TF_WORKSPACE: x}",
            "modules.a.env.TF_WORKSPACE: TF_WORKSPACE cannot be set here; say it in `workspace`",
        ),
        ("env: {TF_VAR_x: x}", "modules.a.env.TF_VAR_x: TF_VAR_x cannot be set here; say it in `inputs`"),
        (
            "env: {TF_DATA_DIR: x}",
            "modules.a.env.TF_DATA_DIR: TF_DATA_DIR cannot be set here: hybridwrap sets it itself",
        ),
        ("workspace: '{{ modules.a.id }}'", "modules.a.workspace: a template can only be an input"),
        ("env: {A: '{{ modules.a.id }}'}", "modules.a.env.A: a template can only be an input"),
        ("var_files: ['{env}.tfvars']", "nothing is known for the placeholder {env}"),
        ("var_files: [gone.tfvars]", "modules.a.var_files: no file gone.tfvars"),
        ("verify: {timeout: 5}", "modules.a.verify: says how long, but not whom to ask"),
        ("verify: {aws: {tags: {a: '{modul}'}}}", "nothing is known for the placeholder {modul}"),
        ("inputs: {x: {from_env: 5}}", "modules.a.inputs.x.from_env: from_env takes a text"),
    ],
)
def test_a_field_that_cannot_work_is_said(tmp_path: Path, field: str, complaint: str) -> None:
    (found,) = problems(stack(tmp_path, f"  a:\n    source: any\n    {field}"))
    assert complaint in found


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("anny", 'no folder anny; did you mean "any"?'),
        ("any/main.tf", "any/main.tf is no folder"),
        ("hollow", "hollow holds no .tf file"),
        ("git::https://example.com/x.git?ref=1", NOT_FETCHED.format("git::https://example.com/x.git?ref=1")),
        ("https://example.com/x.zip", NOT_FETCHED.format("https://example.com/x.zip")),
        ("github.com/a/b//c?ref=1", NOT_FETCHED.format("github.com/a/b//c?ref=1")),
    ],
)
def test_a_source_that_is_no_module_is_said(tmp_path: Path, source: str, complaint: str) -> None:
    (tmp_path / "hollow").mkdir()
    assert problems(stack(tmp_path, f'  a: {{source: "{source}"}}')) == [
        f"hybridwrap.yaml:4:15  modules.a.source: {complaint}"
    ]


def test_a_syntax_error_in_a_module_names_its_file(tmp_path: Path) -> None:
    file = stack(tmp_path, "  a: {source: bad}\n  b: {source: bad}", bad='variable "x" {\n  type = \n}\n')
    assert problems(file) == ["bad/main.tf:2:3  syntax error in `type = …`"]


@pytest.mark.parametrize(
    "given", ["TF_VAR_", "terraform.tfvars", "x.auto.tfvars", "terraform.tfvars.json", "var_files"]
)
def test_a_variable_without_default_may_get_its_value_from_elsewhere(tmp_path: Path, given: str) -> None:
    module = "  a: {source: strict, var_files: [v.tfvars]}"
    (tmp_path / "v.tfvars").write_text("must = 1\n" if given == "var_files" else "", encoding="utf-8")
    file = stack(tmp_path, module, strict='variable "must" {}')
    if given == "TF_VAR_":
        assert problems(file, TF_VAR_must="1") == []
        return
    text = '{"must": 1}' if given.endswith("json") else "must = 1"
    if given != "var_files":
        (tmp_path / "strict" / given).write_text(text, encoding="utf-8")
    assert problems(file) == []


def test_a_missing_value_is_an_error(tmp_path: Path) -> None:
    file = stack(tmp_path, "  a: {source: strict}", strict='variable "must" {}\nvariable "may" { default = null }')
    assert problems(file) == [
        'hybridwrap.yaml:4:3  modules.a.inputs: strict needs a value for "must", which has no default'
    ]


def test_an_undeclared_name_in_a_var_file_is_a_warning_once(tmp_path: Path) -> None:
    modules = "  a: {source: any, var_files: [v.tfvars]}\n  b: {source: other, var_files: [v.tfvars]}"
    (tmp_path / "v.tfvars").write_text("x = 1\ny = 2\nz = 3\n", encoding="utf-8")
    (warning,) = load(stack(tmp_path, modules, other='variable "y" { default = 1 }')).warnings
    assert warning.endswith('modules.a.var_files: v.tfvars sets "z", which no module that uses the file declares')


def test_a_default_that_no_module_declares_is_a_warning(tmp_path: Path) -> None:
    file = stack(tmp_path, "  a: {source: any}\ndefaults: {inputs: {x: 1, y: 2}}")
    (warning,) = load(file).warnings
    assert warning.endswith('hybridwrap.yaml:5:27  defaults.inputs.y: no module declares the variable "y"; there is: x')


def test_a_broken_var_file_names_its_place(tmp_path: Path) -> None:
    (tmp_path / "v.tfvars").write_text("x = 1\ny = [\n", encoding="utf-8")
    (tmp_path / "w.tfvars.json").write_text("[]", encoding="utf-8")
    found = problems(stack(tmp_path, "  a: {source: any, var_files: [v.tfvars, w.tfvars.json]}"))
    assert found == ["v.tfvars:2:1  syntax error in `y = …`", "w.tfvars.json:1:1  must be a JSON object"]


def test_a_literal_secret_is_in_no_message(tmp_path: Path) -> None:
    variable = 'variable "pin" {\n  type = number\n  sensitive = true\n}\n'
    (found,) = problems(stack(tmp_path, "  a: {source: safe, inputs: {pin: hunter2}}", safe=variable))
    assert found == 'hybridwrap.yaml:4:35  modules.a.inputs.pin: safe: "pin" takes number'


def test_a_bad_required_version_is_said(tmp_path: Path) -> None:
    (found,) = problems(stack(tmp_path, "  a: {source: v}", v='terraform { required_version = "latest" }'))
    assert "modules.a.source: required_version of v is not a version constraint" in found


def test_a_stack_that_does_not_fit_its_sources_can_still_be_looked_at(tmp_path: Path) -> None:
    file = stack(tmp_path, "  a: {source: gone}\n  b: {source: any, depends_on: [a], inputs: {nope: 1}}")
    found, wrong = read_stack(file, environment=None, environ={})
    assert list(found.modules) == ["a", "b"]
    assert len(wrong) == 2


def test_a_stack_with_a_broken_graph_cannot_be_looked_at(tmp_path: Path) -> None:
    with pytest.raises(InvalidManifest, match="2 errors"):
        read_stack(stack(tmp_path, "  a: {source: gone, depends_on: [x]}"), environment=None, environ={})


@pytest.mark.parametrize(
    ("type_", "value", "wrong"),
    [
        ("string", 5, ""),
        ("string", True, ""),
        ("string", ["a"], "takes string, this is a list"),
        ("string", {}, "takes string, this is a mapping"),
        ("number", "5", ""),
        ("number", "-1.5e3", ""),
        ("number", "abc", 'takes number, this is the text "abc"'),
        ("number", True, "takes number, this is true"),
        ("bool", "true", ""),
        ("bool", "yes", 'takes bool, this is the text "yes"'),
        ("bool", 1, "takes bool, this is the number 1"),
        ("list(string)", ["a", 1], ""),
        ("list(string)", "a", 'takes list(…), this is the text "a"'),
        ("set(number)", ["1", "x"], 'takes number, [1] is the text "x"'),
        ("list(map(number))", [{"a": 1}, {"b": "x"}], 'takes number, [1][b] is the text "x"'),
        ("map(string)", ["a"], "takes map(string), this is a list"),
        ("object({ a = string })", [], "takes object(…), this is a list"),
        ("object({ a = string })", {"b": 1}, ""),
        ("tuple([string, number])", {}, "takes tuple(…), this is a mapping"),
        ("any", {"x": [1]}, ""),
        ("", 5, ""),
        ("number", None, ""),
        ("number", "{{ modules.a.b }}", ""),
        ("list(number)", "{{ modules.a.b }}", ""),
        ("list(number)", ["{{ modules.a.b }}"], ""),
    ],
)
def test_only_plain_mismatches_of_type_are_errors(type_: str, value: Json, wrong: str) -> None:
    assert mismatch(type_, value) == wrong


S3 = 'terraform {\n  backend "s3" {\n    bucket = "b"\n    key    = "k"\n  }\n}\n'


@pytest.mark.parametrize(
    ("modules", "complaint"),
    [
        (
            "  a: {source: full}\n  b: {source: full}",
            'hybridwrap.yaml:5:3  modules.b: shares its state with module "a": s3://b/k; give each one of its own',
        ),
        (
            "  a: {source: any, state: {local: {path: x.tfstate}}}\n"
            "  b: {source: any, state: {local: {path: ./x.tfstate}}}",
            'hybridwrap.yaml:5:20  modules.b: shares its state with module "a": x.tfstate (local); '
            "give each one of its own",
        ),
        (
            "  a: {source: cloudy}",
            'hybridwrap.yaml:4:3  modules.a: module "a" has a `cloud` block: its runs happen elsewhere',
        ),
        ("  a: {source: part}", 'hybridwrap.yaml:4:3  modules.a: part/main.tf:2  backend "s3" of module "a" lacks'),
        ("  a: {source: any, state: {s3: {key: k}}}", "modules.a: its S3 state has no bucket; say it in"),
        ("  a: {source: part, backend_config: [gone.hcl]}", "gone.hcl  cannot be read"),
        (
            "  a: {source: full, state: {s3: {key: other}}}",
            "modules.a.state: has no effect: the module's own backend block",
        ),
    ],
)
def test_a_state_without_a_place_of_its_own_is_said(tmp_path: Path, modules: str, complaint: str) -> None:
    folders = {"full": S3, "cloudy": "terraform {\n  cloud {}\n}\n", "part": 'terraform {\n  backend "s3" {}\n}\n'}
    (found,) = problems(stack(tmp_path, modules, **folders))
    assert complaint in found


def test_modules_of_one_source_with_files_or_workspaces_of_their_own_have_their_own_states(tmp_path: Path) -> None:
    (tmp_path / "c.hcl").write_text('key = "c"\n', encoding="utf-8")
    modules = "  a: {source: full}\n  b: {source: full, workspace: b}\n  c: {source: full, backend_config: [c.hcl]}"
    assert problems(stack(tmp_path, modules, full=S3)) == []


ENVIRONMENTS = """
    version: 1
    stack: s
    environments: {dev: {}, prod: %s}
    modules:
      a: {source: full%s}
      b: {source: any}
"""


@pytest.mark.parametrize(
    ("overlay", "more"),
    [
        ("{}", ', workspace: "{environment}"'),
        ("{}", ', backend_config: ["{environment}.hcl"]'),
        ("{modules: {a: {workspace: p}}}", ""),
        ("{modules: {a: {enabled: false}}}", ""),
    ],
)
def test_a_complete_backend_block_must_differ_between_environments(tmp_path: Path, overlay: str, more: str) -> None:
    for name in ("dev", "prod"):
        (tmp_path / f"{name}.hcl").write_text(f'key = "{name}"\n', encoding="utf-8")
    folders = {"full": S3, "any": ANY}
    shared = problems(write_stack(tmp_path, ENVIRONMENTS % ("{}", ""), folders), "dev")
    assert shared == [
        'hybridwrap.yaml:5:3  modules.a: environments "dev" and "prod" share the state of a: s3://b/k; '
        "put {environment} into `state`, `backend_config` or `workspace`"
    ]
    assert problems(write_stack(tmp_path, ENVIRONMENTS % (overlay, more), folders), "dev") == []


def test_a_key_without_the_environment_is_one_state_for_all_and_said_once(tmp_path: Path) -> None:
    manifest = """
        version: 1
        stack: s
        state: {s3: {bucket: b, key: "{module}.tfstate"}}
        environments: {dev: {}, prod: {}}
        modules: {a: {source: any}, b: {source: any}, c: {source: any}, d: {source: any}, e: {source: any}}
    """
    (found,) = problems(write_stack(tmp_path, manifest, {"any": ANY}), "prod")
    assert 'environments "prod" and "dev" share the states of a, b, c and 2 more: s3://b/a.tfstate' in found


def test_an_environment_cannot_change_the_type_of_a_state(tmp_path: Path) -> None:
    manifest = """
        version: 1
        stack: s
        environments:
          prod: {state: {s3: {bucket: b}}}
        modules: {a: {source: any}}
    """
    (found,) = problems(write_stack(tmp_path, manifest, {"any": ANY}))
    assert "environments.prod.state: an environment cannot change the type of a state: it is local, here s3" in found


@pytest.mark.parametrize(
    ("key", "prefix", "wrong"),
    [
        ("{stack}/{environment}/{module}.tfstate", "s/", False),
        ("x/a.tfstate", "hybridwrap/", False),
        ("v1/a.tfstate", "", True),
        ("led/v1/s/a.tfstate", "led", True),
        ("led", "led/", True),
        ("led.tfstate", "led.tfstate.tflock/", True),
        ("k", "env:/", True),
    ],
)
def test_a_ledger_must_stay_clear_of_the_states(tmp_path: Path, key: str, prefix: str, *, wrong: bool) -> None:
    manifest = f"""
        version: 1
        stack: s
        state: {{s3: {{bucket: b, key: "{key}"}}}}
        ledger: {{s3: {{bucket: b, prefix: "{prefix}"}}}}
        modules: {{a: {{source: any}}}}
    """
    found = problems(write_stack(tmp_path, manifest, {"any": ANY}))
    assert bool(found) is wrong
    assert all("can overwrite each other; give the ledger another prefix" in line for line in found)


def test_a_ledger_in_another_bucket_is_clear_of_every_state(tmp_path: Path) -> None:
    manifest = """
        version: 1
        stack: s
        state: {s3: {bucket: b, key: v1/a}}
        ledger: {s3: {bucket: c, prefix: ""}}
        modules: {a: {source: any}}
    """
    assert problems(write_stack(tmp_path, manifest, {"any": EMPTY})) == []
