"""The engine adapter under what users' environments, disks and signals do to it, on every engine that is found."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hybridwrap.adapters.engine.events import read_stream
from hybridwrap.adapters.operation_locks import liveness
from hybridwrap.adapters.state_file import parse_state
from hybridwrap.domain.entry import LockFile, Locks
from hybridwrap.domain.left_behind import Liveness
from hybridwrap.domain.stack import EngineWish
from hybridwrap.errors import EngineNotUsable
from tests.support.engines import engines
from tests.support.workshop import Operation, Workshop

pytestmark = pytest.mark.e2e


@pytest.fixture
def workshop(tmp_path: Path, engine_program: str) -> Workshop:
    return Workshop(tmp_path, engine_program)


# --- an engine and its hybridwrap live and die apart ----------------------------------------------------------------


@contextmanager
def wrapper_at_work(workshop: Workshop) -> Iterator[tuple[subprocess.Popen[str], Locks]]:
    """A hybridwrap in a process group of its own, whose engine is inside a provisioner."""
    words = [sys.executable, "-m", "tests.support.wrapper", str(workshop.root), workshop.program]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, process_group=0) as wrapper:
        assert wrapper.stdout
        told = json.loads(wrapper.stdout.readline())
        yield wrapper, Locks(LockFile(**told["engine"]), LockFile(**told["runner"]))
        (workshop.root / "modules/slow/go").touch()


def wait_for_engine(locks: Locks) -> None:
    with Path(locks.engine.path).open("r+b") as events:
        fcntl.flock(events, fcntl.LOCK_EX)


def test_an_engine_whose_hybridwrap_was_killed_comes_to_a_clean_end(workshop: Workshop) -> None:
    with wrapper_at_work(workshop) as (wrapper, locks):
        assert liveness(locks) is Liveness.RUNNER
        wrapper.kill()
        wrapper.wait()
        assert liveness(locks) is Liveness.ENGINE
    wait_for_engine(locks)

    assert liveness(locks) is Liveness.DEAD
    stream = read_stream(Path(locks.engine.path).read_bytes())
    assert stream.final
    assert stream.final.count("add") == 2
    assert not stream.errors
    state = parse_state((workshop.home / "state/default/slow.tfstate").read_bytes())
    assert [instance.address for instance in state.instances] == ["terraform_data.after", "terraform_data.gated"]


def test_a_signal_to_the_group_of_hybridwrap_does_not_reach_the_engine(workshop: Workshop) -> None:
    with wrapper_at_work(workshop) as (wrapper, locks):
        os.killpg(wrapper.pid, signal.SIGINT)
    assert wrapper.returncode == 0
    assert read_stream(Path(locks.engine.path).read_bytes()).interrupts == 0


def test_secrets_of_a_killed_operation_are_removed_by_the_next_start_and_those_of_a_living_one_are_not(
    workshop: Workshop,
) -> None:
    with wrapper_at_work(workshop) as (wrapper, locks):
        folder = Path(locks.engine.path).parent
        assert workshop.folders.sweep() == ()
        wrapper.kill()
        wrapper.wait()
        assert workshop.folders.sweep() == ()
        assert (folder / "vars.tfvars.json").exists()
    wait_for_engine(locks)

    assert workshop.folders.sweep() == (folder.name,)
    assert {file.name for file in folder.iterdir()}.isdisjoint({"plan", "vars.tfvars.json"})
    assert (folder / "events.jsonl").exists()


# --- what lies in the environment -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "warned"),
    [
        ({"TF_LOG": "TRACE"}, ""),
        ({"TF_LOG": "1"}, ""),
        ({"TF_CLI_CONFIG_FILE": "/nowhere/x.rc"}, "TF_CLI_CONFIG_FILE names /nowhere/x.rc"),
        ({"TF_CLI_ARGS": "-input=false", "TF_CLI_ARGS_plan": "-destroy"}, "TF_CLI_ARGS_plan is not passed on"),
        ({"TF_INPUT": "1"}, "TF_INPUT is not passed on"),
        ({"TF_DATA_DIR": "/nowhere/data"}, "TF_DATA_DIR is not passed on"),
        ({"TF_STATE_PERSIST_INTERVAL": "junk"}, "TF_STATE_PERSIST_INTERVAL is not passed on"),
        ({"LC_ALL": "C"}, ""),
    ],
)
def test_results_do_not_depend_on_what_lies_in_the_environment(
    workshop: Workshop, variables: dict[str, str], warned: str
) -> None:
    workshop.environ |= variables
    operation = Operation(workshop, workshop.module("net"), {"value": "blue"})

    assert operation.apply().ended.exit_code == 0

    state = operation.engine.state()
    assert state
    assert state.outputs["value"].value == "blue"
    warnings = operation.engines.warnings()
    assert any(warned in warning for warning in warnings) if warned else not warnings


def test_a_variable_of_the_module_reaches_its_provisioners(workshop: Workshop) -> None:
    text = 'resource "terraform_data" "x" {\n provisioner "local-exec" { command = "echo $COLOUR > seen" }\n}'
    module = workshop.module("net", text, env={"COLOUR": "blue"})
    workshop.environ["COLOUR"] = "red"
    workshop.apply(module)
    assert (module.source / "seen").read_text() == "blue\n"


@pytest.mark.parametrize("folder", ["my stack/-dash", "my stack/app's ü", "my stack/net (1)", "a $HOME `b`;c"])
def test_folder_names_are_only_names(workshop: Workshop, folder: str) -> None:
    module = workshop.module("net", folder=folder)
    assert workshop.apply(module, value=1).ended.exit_code == 0
    assert not workshop.plan(module, value=1).changes


def test_bytes_that_are_no_text_do_not_hide_the_failure_or_the_outputs(workshop: Workshop) -> None:
    command = (
        r"printf '\\377\\376 bad\\n'; printf '10%%\\r20%%\\n'; printf 'nul[\\000]\\n'; printf '\\033[31mred\\n'; exit 1"
    )
    text = f"""
resource "terraform_data" "odd" {{
  provisioner "local-exec" {{ command = "{command}" }}
}}
output "name" {{ value = "café ✓ 日本" }}
"""
    operation = Operation(workshop, workshop.module("odd", text))
    applied = operation.apply()
    assert applied.ended.exit_code == 1
    assert applied.stream.errors
    state = operation.engine.state()
    assert state
    assert state.outputs["name"].value == "café ✓ 日本"


def test_very_much_output_on_both_streams_stalls_nothing(workshop: Workshop) -> None:
    text = """
resource "terraform_data" "loud" {
  count = 3
  provisioner "local-exec" { command = "seq -f 'line %g of a rather long text to fill a pipe quickly' 6000" }
}
output "big" { value = join("", [for i in range(200) : join("", [for j in range(1000) : "x"])]) }
"""
    workshop.environ["TF_LOG"] = "TRACE"
    operation = Operation(workshop, workshop.module("loud", text))
    assert operation.apply().ended.exit_code == 0
    assert operation.folder.events.stat().st_size > 500_000
    assert (operation.folder.path / "stderr").stat().st_size > 65_536
    state = operation.engine.state()
    assert state
    assert len(state.outputs["big"].value) == 200_000


# --- version managers -----------------------------------------------------------------------------------------------


def _shim(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return file


TALKATIVE = """#!/bin/sh
echo "[command]terraform $*"
{engine} "$@"
rc=$?
echo "::debug::terraform exited with $rc"
exit $rc
"""


def _real(workshop: Workshop) -> str:
    engine = engines()[workshop.program]
    assert engine
    return shlex.join(engine.argv)


def test_a_version_manager_that_talks_on_stdout_changes_no_result(workshop: Workshop, tmp_path: Path) -> None:
    shim = _shim(tmp_path / "bin", "terraform", TALKATIVE.format(engine=_real(workshop)))
    workshop.environ["PATH"] = f"{shim.parent}:{workshop.environ['PATH']}"
    module = workshop.module("net", engine=EngineWish("terraform"))
    operation = Operation(workshop, module, {"value": "blue"})

    assert operation.apply().ended.exit_code == 0

    state = operation.engine.state()
    assert state
    assert state.outputs["value"].value == "blue"
    assert any("is a script: an interrupt may not reach" in warning for warning in operation.engines.warnings())


def test_the_wrapper_of_a_setup_action_is_skipped(workshop: Workshop, tmp_path: Path) -> None:
    _shim(tmp_path / "bin", "terraform", "#!/bin/sh\nexit 9\n")
    real = _shim(tmp_path / "bin", "terraform-bin", f'#!/bin/sh\nexec {_real(workshop)} "$@"\n')
    workshop.environ["PATH"] = f"{real.parent}:{workshop.environ['PATH']}"
    applied = workshop.apply(workshop.module("net", engine=EngineWish("auto")), value=1)
    assert applied.ended.argv[0] == str(real)


def test_a_version_manager_that_starts_another_version_than_it_said_is_found_out(
    workshop: Workshop, tmp_path: Path
) -> None:
    liar = f'#!/bin/sh\n[ "$1" = version ] && echo "Terraform v1.99.0" && exit\nexec {_real(workshop)} "$@"\n'
    shim = _shim(tmp_path / "bin", "terraform", liar)
    module = workshop.module("net", engine=EngineWish(str(shim), ">= 1.99"))
    with pytest.raises(EngineNotUsable, match=r"needs \w+ >= 1\.99"):
        workshop.plan(module, value=1)


def test_a_program_that_is_no_engine_is_refused_with_what_it_said(workshop: Workshop, tmp_path: Path) -> None:
    shim = _shim(tmp_path / "bin", "tool", "#!/bin/sh\necho No version set; exit 126\n")
    with pytest.raises(EngineNotUsable, match="`version` gave: No version set"):
        workshop.engines().at(workshop.module("net", engine=EngineWish(str(shim))))
