"""Other stacks in a manifest: where their ledgers lie, which environment is meant, and what is wrong with that."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from hybridwrap.domain.stack import LedgerSettings, Literal, OtherStack, Reference
from tests.support.manifests import load, problems, write_stack

ANY = 'variable "a" { default = null }\noutput "id" { value = 1 }\n'
NET = """
    version: 1
    stack: net-{name}
    ledger: {{folder: "ledgers/{{environment}}"}}
    environments: {environments}
    modules: {{vpc: {{source: m}}}}
"""


def build(root: Path, stacks: str, reader: str = "{{ stacks.NET.modules.vpc.id }}", more: str = "") -> Path:
    for name, environments in {"many": "{dev: {}, prod: {}}", "one": "{live: {}}", "none": "{}"}.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        text = dedent(NET).format(name=name, environments=environments)
        (root / name / "hybridwrap.yaml").write_text(text, encoding="utf-8")
    text = f"version: 1\nstack: shop\nstacks:\n  NET: {stacks}\n"
    text += f"environments: {{dev: {{}}, prod: {{{more}}}, test: {{}}}}\n"
    text += f'modules:\n  a: {{source: m, inputs: {{a: "{reader}"}}}}\n'
    return write_stack(root / "shop", text, {"m": ANY})


@pytest.mark.parametrize(
    ("stacks", "environment", "name", "meant"),
    [
        ("{manifest: ../many/hybridwrap.yaml}", "prod", "many", "prod"),
        ("{manifest: ../many/hybridwrap.yaml, environment: prod}", "dev", "many", "prod"),
        ("{manifest: ../many/hybridwrap.yaml, environment: dev}", "test", "many", "dev"),
        ("{manifest: ../one/hybridwrap.yaml}", "prod", "one", "live"),
        ("{manifest: ../none/hybridwrap.yaml}", "prod", "none", "default"),
    ],
)
def test_a_manifest_says_where_the_ledger_of_its_stack_lies(
    tmp_path: Path, stacks: str, environment: str, name: str, meant: str
) -> None:
    file = tmp_path / name / "hybridwrap.yaml"
    assert load(build(tmp_path, stacks), environment).others["NET"] == OtherStack(
        f"net-{name}",
        meant,
        LedgerSettings(file.parent / "ledgers" / meant),
        file,
        f"../{name}/hybridwrap.yaml",
    )


def test_a_ledger_is_named_where_there_is_no_manifest(tmp_path: Path) -> None:
    bucket = "{ledger: {s3: {bucket: b, prefix: 'p/{environment}'}}, stack: net, environment: 'live-{environment}'}"
    found = load(build(tmp_path, bucket), "dev").others["NET"]
    assert found == OtherStack("net", "live-dev", LedgerSettings(bucket="b", prefix="p/live-dev/"))
    folder = load(build(tmp_path, "{ledger: {folder: ../l}}"), "dev").others["NET"]
    assert folder == OtherStack("NET", "dev", LedgerSettings(tmp_path / "l"))


def test_an_environment_may_mean_another_stack(tmp_path: Path) -> None:
    more = "stacks: {NET: {environment: live, manifest: ../one/hybridwrap.yaml}}"
    file = build(tmp_path, "{manifest: ../many/hybridwrap.yaml}", more=more)
    assert [load(file, env).others["NET"].name for env in ("dev", "prod")] == ["net-many", "net-one"]


def test_a_home_of_our_own_is_not_theirs(tmp_path: Path) -> None:
    file = build(tmp_path, "{manifest: ../bare.yaml}")
    (tmp_path / "bare.yaml").write_text("version: 1\nstack: bare\nmodules: {}\n", encoding="utf-8")
    found = load(file, "dev", HYBRIDWRAP_HOME=str(tmp_path / "home")).others["NET"]
    assert found.ledger == LedgerSettings(tmp_path / ".hybridwrap/ledger", in_home=True)


def test_a_reference_to_another_stack_is_no_edge_of_this_one(tmp_path: Path) -> None:
    module = load(build(tmp_path, "{manifest: ../many/hybridwrap.yaml}"), "dev").modules["a"]
    assert module.inputs["a"] == Literal("{{ stacks.NET.modules.vpc.id }}", (Reference("NET/vpc", "id"),))
    assert (module.needs, module.elsewhere) == ((), ("NET/vpc",))


def test_a_remembered_stack_with_others_is_the_same_stack(tmp_path: Path) -> None:
    file = build(tmp_path, "{manifest: ../many/hybridwrap.yaml}", "{{ stacks['NET'].modules.vpc.id | string }}")
    assert load(file, "dev") == load(file, "dev")


@pytest.mark.parametrize(
    ("stacks", "complaint"),
    [
        ("{}", "hybridwrap.yaml:4:8  stacks.NET: name its manifest, or its ledger by `s3` or `folder`"),
        ("{ledger: {keep_source: true}}", "name its manifest, or its ledger"),
        ("{manifest: ../gone.yaml}", "hybridwrap.yaml:4:19  stacks.NET: ../gone.yaml can't be read: there is no such"),
        ("{manifest: ../many/hybridwrap.yaml, stack: x}", "stacks.NET: its manifest says that: leave it out"),
        ("{manifest: ../many/hybridwrap.yaml, environment: prd}", 'it has no environment "prd"; did you mean "prod"?'),
        ("{manifest: ../broken.yaml}", "../broken.yaml is no manifest: not YAML"),
        ("{manifest: ../odd.yaml}", "../odd.yaml says its ledger in a wrong form; next: hybridwrap validate -f"),
        ("{manifest: ../part.yaml}", "../part.yaml names no stack"),
        ("{manifest: '../{where}/x.yaml'}", "nothing is known for the placeholder {where}"),
        ("{manifest: hybridwrap.yaml}", "stacks.NET: is this very stack: write modules.MODULE.OUTPUT"),
        ("{manifesto: x}", 'unknown field "manifesto"; did you mean "manifest"?'),
    ],
)
def test_a_stack_that_cannot_be_found_is_said(tmp_path: Path, stacks: str, complaint: str) -> None:
    (tmp_path / "broken.yaml").write_text("modules: [\n", encoding="utf-8")
    (tmp_path / "odd.yaml").write_text("version: 1\nstack: odd\nledger: {s3: {prefix: 5}}\n", encoding="utf-8")
    (tmp_path / "part.yaml").write_text("modules: {}\n", encoding="utf-8")
    found = problems(build(tmp_path, stacks), "dev")
    assert any(complaint in problem for problem in found), found


def test_without_an_environment_of_that_name_one_has_to_be_said(tmp_path: Path) -> None:
    found = problems(build(tmp_path, "{manifest: ../many/hybridwrap.yaml}"), "test")
    assert found == [
        'hybridwrap.yaml:4:19  stacks.NET: it has no environment "test"; there is: dev, prod; say `environment`'
    ]


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        ("{{ stacks.NTE.modules.vpc.id }}", 'modules.a.inputs.a: no stack "NTE"; did you mean "NET"?'),
        ("{{ stacks.NET.vpc.id }}", "a reference to another stack is stacks.STACK.modules.MODULE.OUTPUT"),
        ("{{ stacks.NET.modules.vpc }}", "a reference to another stack is stacks.STACK.modules.MODULE.OUTPUT"),
        ("{{ stacks }}", '"stacks" is nothing that a template can use'),
    ],
)
def test_a_reference_that_leads_nowhere_is_said(tmp_path: Path, reference: str, complaint: str) -> None:
    found = problems(build(tmp_path, "{manifest: ../many/hybridwrap.yaml}", reference), "dev")
    assert any(complaint in problem for problem in found), found
