"""Secrets of every origin go through a stack that fails, is killed and repaired; no trace of them is left anywhere.

They may stand where the user has written them (manifest, variable file, source), in the engine's own states, in the
var-file of an operation whose engine is at work, and in the command line of whoever types `-var`.
"""

from __future__ import annotations

import gzip
import itertools
import json
import stat
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support import s3_servers
from tests.support.project import Project, Ran, wait
from tests.support.s3_servers import Server
from tests.support.traces import below, command_lines, found_in

pytestmark = pytest.mark.e2e

TOKEN = 'token of <the> cloud & "its" 91'
SECRETS = {
    "from_env": 'sEcret & "of" <env>/é-11',
    "from_file": "-----BEGIN KEY-----\nMIIfirstLine/+a==\nsecondLineOfIt\n-----END KEY-----\n",
    "tf_var": "tf-var%20secret-33?x=1",
    "var_file": "of-the-var-file-44'quoted'",
    "caller": "given-with-var-55{}",
    "default": "default-of-the-source-66",
    "credentials": TOKEN,
    "output": "made-by-the-engine-88-of-no-input",
}
MANIFEST = """
version: 1
stack: shop
STATE
ledger: {s3: {bucket: BUCKET, prefix: ledger/, endpoint: "ENDPOINT", use_path_style: true}, keep_source: false}
defaults:
  credentials: {command: [./credentials]}
modules:
  m:
    source: m
    var_files: [secret.tfvars]
    inputs:
      {from_env: {from_env: THE_SECRET}, from_file: {from_file: key.pem}, open: "keep {{ 'me' }}", in_clear: IN_CLEAR}
    hooks: {before: [[./talk]], after: [[./talk]], error: [[./talk, fail]]}
  f: {source: f, inputs: {passed_on: "{{ modules.m.passed_on }}", made: "{{ modules.m.output }}"}}
"""
NAMES = ("from_env", "from_file", "tf_var", "var_file", "caller", "default")
DEFAULTS = {"caller": "", "default": SECRETS["default"]}
VARIABLES = "\n".join(
    f'variable "{name}" {{\n  sensitive = true\n  type = string\n{default}}}'
    for name in NAMES
    for default in [f'  default = "{DEFAULTS[name]}"\n' if name in DEFAULTS else ""]
)
ALL = ", ".join(f"{name} = var.{name}" for name in NAMES)
M = (
    VARIABLES
    + """
variable "open" {}
variable "in_clear" {}
locals {
  output = join("-", ["made", "by", "the", "engine", "88", "of", "no", "input"])
  all    = { ALL }
}
resource "terraform_data" "m" {
  input = local.all
  provisioner "local-exec" {
    command     = "../work"
    environment = merge(local.all, { output = local.output })
  }
}
output "output" {
  value     = local.output
  sensitive = true
}
output "passed_on" {
  value     = jsonencode(local.all)
  sensitive = true
}
"""
).replace("ALL", ALL)
F = """
variable "passed_on" {}
variable "made" {}
resource "terraform_data" "f" { input = [var.passed_on, "open ${var.made}", base64encode(var.made)] }
output "not_called_secret" { value = { all = [var.passed_on, "x-${var.made}", base64encode(var.made)] } }
"""
# What a provider may do that fails: it says all that it was given, in all forms, and so does a hook.
TALKS = r"""#!/usr/bin/env python3
import base64, json, os, sys, urllib.parse
NAMES = "from_env from_file tf_var var_file caller default output THE_SECRET TF_VAR_tf_var CLOUD_TOKEN".split()
for text in (os.environ[name] for name in NAMES if name in os.environ):
    data = text.encode()
    print(text, json.dumps(text), urllib.parse.quote(text, safe=""), base64.b64encode(data).decode(), file=sys.stderr)
for file in filter(None, [os.environ.get("HYBRIDWRAP_OUTPUTS")]):
    print(open(file).read(), file=sys.stderr)
sys.exit("fail" in sys.argv)
"""
WORKS = """#!/bin/sh
cd ..
touch began
for i in $(seq 6000); do [ -e wait ] || break; sleep 0.1; done
./talk
test ! -e refusing
"""
FAILED = (
    ("status",), ("status", "--json"), ("why", "m"), ("graph", "--json"), ("list", "--json"), ("history",),
    ("history", "--json"), ("show",), ("show", "--json"), ("output", "--json"), ("render", "m"),
    ("render", "f", "--json"), ("commands", "m"), ("reconcile", "--json"), ("ledger", "verify"), ("pipeline", "github"),
    ("doctor",),
    *(("report", "--format", kind) for kind in ("text", "json", "html", "markdown", "junit", "csv")),
)  # fmt: skip
APPLIED = (
    ("status", "--json"), ("show", "--json"), ("output",), ("output", "--json"), ("render", "m", "--json"),
    ("render", "f"), ("commands", "m"), ("commands", "f", "--json"), ("report", "--format", "html"),
    ("report", "--format", "json"),
)  # fmt: skip
buckets = itertools.count()


class Stage:
    """The project, and everything that was said in it."""

    def __init__(self, root: Path, moto: Server) -> None:
        self.root, self.moto = root / "project", moto
        self.bucket = moto.make_bucket(f"no-secret-leaves-{next(buckets)}")
        self.outside = {name: root / name for name in ("home", "tmp")}
        for folder in (self.root, *self.outside.values()):
            folder.mkdir()
        environ = {"HOME": str(self.outside["home"]), "TMPDIR": str(self.outside["tmp"]), **s3_servers.environment()}
        secret = {"THE_SECRET": SECRETS["from_env"], "TF_VAR_tf_var": SECRETS["tf_var"], "PYTHONUTF8": "1"}
        self.project = Project(self.root, {**environ, **secret})
        self.said: dict[str, str] = {}
        self._write()

    def _write(self) -> None:
        manifest = MANIFEST.replace("STATE", self.moto.state(self.bucket, key="states/{module}.tfstate"))
        manifest = manifest.replace("IN_CLEAR", json.dumps(f"x://{SECRETS['from_env']}@host"))
        manifest = manifest.replace("BUCKET", self.bucket).replace("ENDPOINT", self.moto.endpoint)
        self.project.write(manifest, m=M, f=F)
        (self.root / "secret.tfvars").write_text(f'var_file = "{SECRETS["var_file"]}"\n')
        (self.root / "key.pem").write_text(SECRETS["from_file"])
        (self.root / "token").write_text(TOKEN)
        printed = 'import json, os\nprint(json.dumps({"CLOUD_TOKEN": open("token").read()}))'
        for name, text in {
            "talk": TALKS,
            "work": WORKS,
            "credentials": f"#!/usr/bin/env python3\n{printed}\n",
        }.items():
            (self.root / name).write_text(text)
            (self.root / name).chmod(0o755)

    def keep(self, words: tuple[str, ...], ran: Ran, code: int | None = None) -> Ran:
        assert code is None or ran.code == code, ran.text
        self.said[f"{len(self.said)} {' '.join(word.partition('=')[0] for word in words)}"] = ran.text
        return ran

    def run(self, *words: str, code: int) -> Ran:
        return self.keep(words, self.project.run(*words), code)

    def show(self, commands: Iterable[tuple[str, ...]]) -> None:
        """Call what shows something; whether it is pleased does not matter here."""
        for words in commands:
            ran = self.keep(words, self.project.call(*words, "-e", "default"))
            assert ran.code != 64, ran.text

    def heard(self) -> dict[str, set[str]]:
        found = ((what, found_in(text.encode(), SECRETS)) for what, text in self.said.items())
        return {what: names for what, names in found if names}

    def stored(self) -> dict[str, set[str]]:
        """What of the ledger, and of all else in the bucket but the engine's states, holds secrets."""
        client, found = self.moto.client(), {}
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket):
            for item in page.get("Contents", []):
                data = client.get_object(Bucket=self.bucket, Key=item["Key"])["Body"].read()
                found[item["Key"]] = found_in(item["Key"].encode() + b" " + data, SECRETS)
        return {key: names for key, names in found.items() if names and not key.startswith("states/")}

    def left(self) -> dict[str, set[str]]:
        """What on the disk holds secrets, besides the files in which the user has written them."""
        own = {"hybridwrap.yaml", "secret.tfvars", "key.pem", "token", "m/main.tf"}
        found = {name: names for name, names in below(self.root, SECRETS).items() if name not in own}
        return found | {
            f"{n}/{file}": s for n, folder in self.outside.items() for file, s in below(folder, SECRETS).items()
        }


def in_the_open(lines: set[bytes]) -> list[bytes]:
    """Command lines with a secret, but for that of whoever typed it: hybridwrap's own, with `-var`."""
    return [line for line in lines if found_in(line.replace(b"\0", b" "), SECRETS) and b"\0hybridwrap\0" not in line]


def not_private(folder: Path, names: Iterable[str]) -> list[str]:
    return [name for name in names if stat.S_IMODE((folder / name).stat().st_mode) != 0o600]


def killed(stage: Stage, *words: str) -> None:
    """Kill hybridwrap by SIGKILL while its engine is at work; the engine goes on to its end."""
    (stage.root / "began").unlink(missing_ok=True)
    (stage.root / "wait").touch()
    process = stage.project.start(*words)
    while not (stage.root / "began").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    stage.keep(("killed",), wait(process))


def test_no_secret_leaves(moto: Server, tmp_path: Path) -> None:
    stage = Stage(tmp_path, moto)
    root, given = stage.root, ("-var", f"caller={SECRETS['caller']}")
    with command_lines() as lines:
        (root / "refusing").touch()
        failed = stage.run("apply", "--auto-approve", "-vv", *given, code=4)
        assert "local-exec provisioner error" in failed.text, "what the provisioner says is all of its secrets"
        stage.show(FAILED)
        assert (stage.heard(), stage.stored(), stage.left()) == ({}, {}, {})

        killed(stage, "apply", "--auto-approve", "--json", *given)
        lying = stage.left()
        assert {Path(name).name for name in lying} == {"vars.tfvars.json"}, "the engine is still at work with them"
        assert not_private(root, lying) == []
        (root / "refusing").unlink()
        (root / "wait").unlink()
        stage.run("sync", code=0)
        assert (stage.heard(), stage.stored(), stage.left()) == ({}, {}, {})

        planned = stage.run("plan", "-vv", *given, code=0)
        assert "jsonencode(" in planned.text, "a secret that is a JSON text is shown unfolded"
        stage.run("apply", "--auto-approve", "--json", *given, code=0)
        stage.run("tf", "m", "--", "state", "list", code=0)
        stage.show(APPLIED)
        stage.show((("diff", *newest_two(stage)),))
        assert (stage.heard(), stage.stored(), stage.left()) == ({}, {}, {})
        stage.run("destroy", "--auto-approve", "-vv", *given, code=0)
    assert (stage.heard(), stage.stored(), stage.left()) == ({}, {}, {})
    assert in_the_open(lines) == []


def newest_two(stage: Stage) -> tuple[str, str]:
    runs = [run["run"] for run in stage.project.call("history", "--json").json]
    return runs[1], runs[0]


def test_the_search_would_find_them(tmp_path: Path) -> None:
    for name, secret in SECRETS.items():
        (tmp_path / name).write_bytes(gzip.compress(f"x{json.dumps([secret])}".encode()))
    assert below(tmp_path, SECRETS) == {name: {name} for name in SECRETS}
    typed = f"python\0-m\0hybridwrap\0apply\0-var\0caller={SECRETS['caller']}\0".encode()
    other = f"/bin/sh\0-c\0echo {SECRETS['caller']}\0".encode()
    assert in_the_open({typed, other}) == [other]
