"""As whom an engine acts: fresh tokens, the right account, and ledger, state and provider each as somebody else."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import pytest

from tests.support import s3_servers
from tests.support.project import FAKECLOUD, Project
from tests.support.s3_servers import Server
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

NETWORK = FAKECLOUD + 'resource "fakecloud_network" "net" { name = "net" }\n'
DATA = 'variable "x" { default = "a" }\nresource "terraform_data" "it" { input = var.x }\n'
QUARTER = "#!/bin/sh\nset -e\necho asked >> asked\nuntil=$(($(cat clock) + 15))\n"
PRINT = 'printf \'{"FAKECLOUD_TOKEN": "token-for-fifteen-%s"}\' $until\n'
ACCOUNT, OTHER = "111122223333", "444455556666"
_buckets = count()


def script(project: Project, name: str, text: str) -> None:
    (project.root / name).write_text(text)
    (project.root / name).chmod(0o755)


@pytest.fixture
def fifteen_minutes(tmp_path: Path, fakecloud_plugin_env: Mapping[str, str]) -> Project:
    """A cloud that takes tokens of the last fifteen minutes by a clock that only the test moves."""
    project = Project(tmp_path, fakecloud_plugin_env)
    script(project, "token", QUARTER + PRINT)
    (tmp_path / "clock").write_text("100")
    manifest = "version: 1\nstack: shop\ndefaults: {credentials: {command: [./token]}}\nmodules: {net: {source: net}}\n"
    project.write(manifest, net=NETWORK)
    return project


def everything_below(root: Path, *, but: str) -> str:
    files = [file for file in root.rglob("*") if file.is_file() and but not in file.name]
    return "\n".join(file.read_bytes().decode(errors="replace") for file in files)


def test_an_approval_takes_longer_than_a_token_lives(fifteen_minutes: Project) -> None:
    project = fifteen_minutes
    with Terminal([sys.executable, "-m", "hybridwrap", "apply"], cwd=project.root, env=project.env) as terminal:
        terminal.expect("Apply net?")
        (project.root / "clock").write_text("120")  # twenty minutes later
        terminal.type("y")
        assert terminal.wait() == 0, terminal.seen
    assert project.statuses() == {"net": "ok"}
    asked = (project.root / "asked").read_text().split()
    assert len(asked) == 3, "before the plan, before `begin`, and before the state is read again"
    assert "token-for-fifteen" not in everything_below(project.root, but="token")


def test_a_token_that_can_no_longer_be_had_stops_before_begin(fifteen_minutes: Project) -> None:
    project = fifteen_minutes
    with Terminal([sys.executable, "-m", "hybridwrap", "apply"], cwd=project.root, env=project.env) as terminal:
        terminal.expect("Apply net?")
        script(project, "token", "#!/bin/sh\necho 'the session of ana is over' >&2\nexit 7\n")
        terminal.type("y")
        assert terminal.wait() == 10
    assert "no credentials from `./token`: exit code 7: the session of ana is over" in " ".join(terminal.seen.split())
    assert project.ledger().history("net") == ()
    assert project.status()["net"]["was"] == "none"


def test_a_token_that_can_not_be_had_after_an_apply_takes_nothing_from_its_record(tmp_path: Path) -> None:
    project = Project(tmp_path)
    script(project, "token", '#!/bin/sh\necho >> asked\n[ $(wc -l < asked) -lt 3 ] && echo \'{"TOKEN": "t-12345"}\'\n')
    manifest = "version: 1\nstack: shop\nmodules: {it: {source: it, credentials: {command: [./token]}}}\n"
    project.write(manifest, it=DATA)
    ran = project.apply()
    assert ran.code == 0, ran.text
    assert "the state is read with the credentials from before: it: no credentials from `./token`" in ran.text
    assert [entry.kind for entry in project.ledger().history("it")] == ["begin", "end"]
    assert project.statuses() == {"it": "ok"}


# --- AWS, as moto plays it


@pytest.fixture
def server(moto: Server) -> Server:
    assert moto.app
    moto.app.callers.clear()
    return moto


def on_aws(server: Server, root: Path) -> Project:
    return Project(root, {**s3_servers.environment(), "HOME": str(root), "AWS_ENDPOINT_URL_STS": server.endpoint})


def keys_of(server: Server, account: str) -> dict[str, str]:
    """What `aws sts assume-role` prints for a role of an account."""
    import boto3

    session = boto3.Session(s3_servers.KEY_ID, s3_servers.SECRET, region_name=s3_servers.REGION)
    sts = session.client("sts", endpoint_url=server.endpoint)
    found = sts.assume_role(RoleArn=f"arn:aws:iam::{account}:role/deploy", RoleSessionName="test")["Credentials"]
    return {name: str(found[name]) for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")}


def prints(keys: Mapping[str, str]) -> str:
    return f"#!/bin/sh\necho {shlex.quote(json.dumps({'Credentials': keys}))}\n"


def test_the_wrong_account_stops_before_anything(server: Server, tmp_path: Path) -> None:
    project = on_aws(server, tmp_path)
    script(project, "keys", prints(keys_of(server, OTHER)))
    manifest = f"version: 1\nstack: shop\naccount: '{ACCOUNT}'\ncredentials: {{command: [./keys]}}\n"
    project.write(f"{manifest}modules: {{it: {{source: it}}, below: {{source: it, depends_on: [it]}}}}\n", it=DATA)
    ran = project.apply()
    assert ran.code == 10
    arn = f"arn:aws:sts::{OTHER}:assumed-role/deploy/test"
    assert f"refused    its engine would act in account {OTHER}, {arn}; the manifest says {ACCOUNT}" in ran.text
    assert project.ledger().history("it") == ()
    looked = project.call("doctor")
    assert looked.code == 10
    assert f"{arn}; the manifest says {ACCOUNT}" in looked.out

    script(project, "keys", prints(keys_of(server, ACCOUNT)))
    assert project.apply().code == 0
    assert f"account {ACCOUNT}, arn:aws:sts::{ACCOUNT}:assumed-role/deploy/test, as the" in project.call("doctor").out
    assert keys_in(project.root) == []


def test_the_account_is_compared_again_after_the_approval(server: Server, tmp_path: Path) -> None:
    project = on_aws(server, tmp_path)
    script(project, "keys", prints(keys_of(server, ACCOUNT)))
    manifest = f"version: 1\nstack: shop\nmodules: {{it: {{source: it, account: '{ACCOUNT}', credentials: KEYS}}}}\n"
    project.write(manifest.replace("KEYS", "{command: [./keys]}"), it=DATA)
    with Terminal([sys.executable, "-m", "hybridwrap", "apply"], cwd=project.root, env=project.env) as terminal:
        terminal.expect("Apply it?")
        script(project, "keys", prints(keys_of(server, OTHER)))
        terminal.type("y")
        assert terminal.wait() == 10
    assert project.ledger().history("it") == ()


def keys_in(root: Path) -> list[str]:
    """Files in which a key of AWS can be seen, besides the script that prints it."""
    files = [file for file in root.rglob("*") if file.is_file() and file.name != "keys"]
    return [str(file) for file in files if re.search(rb"\bASIA[A-Z0-9]{16}", file.read_bytes())]


THREE = """
version: 1
stack: shop
ledger: {{s3: {{bucket: {bucket}, profile: keeper, endpoint: "{endpoint}", use_path_style: true}}}}
{state}
account: "{account}"
credentials: {{command: [./keys]}}
modules: {{it: {{source: it}}}}
"""


def test_ledger_state_and_provider_have_three_identities(server: Server, tmp_path: Path) -> None:
    assert server.app
    profiles = {"keeper": "AKIAKEEPER", "states": "AKIASTATES"}
    written = [f"[{name}]\naws_access_key_id={key}\naws_secret_access_key=x\n" for name, key in profiles.items()]
    (tmp_path / "profiles").write_text("\n".join(written))
    bucket = server.make_bucket(f"three-identities-{next(_buckets)}")
    server.app.callers.clear()
    base = on_aws(server, tmp_path)
    nobody = {name: value for name, value in base.environ.items() if "KEY" not in name}
    project = Project(tmp_path, {**nobody, "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "profiles")})
    keys = keys_of(server, ACCOUNT)
    script(project, "keys", prints(keys))
    state = server.state(bucket, profile="states")
    project.write(THREE.format(bucket=bucket, endpoint=server.endpoint, state=state, account=ACCOUNT), it=DATA)
    ran = project.apply()
    assert ran.code == 0, ran.text
    by_path: dict[str, set[str]] = {}
    for key, path in server.app.callers:
        by_path.setdefault("ledger" if "/hybridwrap/" in path else "state" if "tfstate" in path else path, set()).add(
            key
        )
    assert by_path["ledger"] - {""} == {"AKIAKEEPER"}
    assert by_path["state"] - {""} == {"AKIASTATES"}
    assert keys["AccessKeyId"] in by_path["/"], "who the provider is, is asked with the keys that were printed"


def test_who_it_would_be_is_shown_without_asking_for_credentials(fifteen_minutes: Project) -> None:
    project = fifteen_minutes
    manifest = (project.root / "hybridwrap.yaml").read_text()
    env = "env: {REGION: eu-central-1, API_TOKEN: hunter2}, account: '111122223333'"
    project.write(manifest.replace("{source: net}", f"{{source: net, {env}}}"))
    rendered, lines = project.call("render", "net").out, project.call("commands", "net").out
    for shown in ("env     REGION=eu-central-1", "env     API_TOKEN=(secret)", "env     what is printed by: ./token"):
        assert shown in rendered
    assert "account 111122223333" in rendered
    assert "export REGION=eu-central-1" in lines
    assert "\n# ./token\n" in lines
    assert "# account: AWS must know you there as 111122223333" in lines
    assert "hunter2" not in rendered + lines
    assert not (project.root / "asked").exists()
