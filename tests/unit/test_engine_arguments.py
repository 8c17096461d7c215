"""Command lines of the engine, as python-terraform's rules make them, without its traps."""

from __future__ import annotations

import subprocess
import sys

from hybridwrap.adapters.engine.arguments import command_line


def test_options_keep_their_order_and_become_words_of_the_engine() -> None:
    line = command_line(
        ["tofu"],
        "state pull",
        "word",
        input="false",
        json=True,
        refresh_only=False,
        lock_timeout=None,
        parallelism=4,
        var_file=["a.tfvars", "b b.tfvars"],
        target=(),
        backend_config={"key": "a/b", "use_path_style": "true"},
    )
    assert line == (
        *("tofu", "state", "pull", "-input=false", "-json", "-parallelism=4"),
        *(
            "-var-file=a.tfvars",
            "-var-file=b b.tfvars",
            "-backend-config=key=a/b",
            "-backend-config=use_path_style=true",
        ),
        "word",
    )


def test_a_program_may_be_more_than_one_word() -> None:
    assert command_line(["python", "-P", "embedded.py"], "plan") == ("python", "-P", "embedded.py", "plan")


def test_the_rules_are_loaded_by_the_first_command_line_and_not_before() -> None:
    code = "import sys, hybridwrap.adapters.engine.engines; print({'python_terraform', 'boto3'} & {*sys.modules})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"
