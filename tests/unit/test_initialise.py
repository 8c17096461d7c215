"""When `init` is run again, told by an engine that only counts how often it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridwrap.domain.stack import EngineWish
from tests.support.workshop import Workshop

COUNTING = """#!/bin/sh
case "$1" in
version) echo 'Terraform v1.12.0' ;;
init) echo >> ../../calls; {meanwhile} ;;
esac
"""
EDITED = "[ -e ../../edited ] || { touch ../../edited; echo '# edited' >> main.tf; }"


@pytest.mark.parametrize(("meanwhile", "calls"), [(":", 1), (EDITED, 2)], ids=["left alone", "edited"])
def test_init_is_run_again_only_for_what_was_edited_while_it_ran(tmp_path: Path, meanwhile: str, calls: int) -> None:
    program = tmp_path / "engine"
    program.write_text(COUNTING.format(meanwhile=meanwhile))
    program.chmod(0o755)
    workshop = Workshop(tmp_path, "terraform")
    module = workshop.module("vm", engine=EngineWish(str(program)))
    for _ in range(3):
        folder = workshop.make_folder()
        workshop.engines().at(module).init(folder)
        folder.remove()
    assert len((tmp_path / "calls").read_text()) == calls
