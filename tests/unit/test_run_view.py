"""One run at a terminal: its timeline, and what is recorded of its modules."""

from __future__ import annotations

import pytest
from click import unstyle

from hybridwrap.cli.lines import cells
from hybridwrap.cli.run_view import lines
from hybridwrap.domain.engine_run import Action
from hybridwrap.run.report import Report, read_report
from tests.support.stories import Story, change, half_applied


@pytest.fixture(scope="module")
def report() -> Report:
    return read_report(half_applied().ledger, None)


def shown(report: Report, *modules: str, width: int = 0, everything: bool = False) -> list[str]:
    return [unstyle(line) for line in lines(report, modules, width, everything=everything)]


@pytest.mark.parametrize("width", [60, 80, 160])
def test_each_module_has_a_bar_where_it_was_at_work_and_those_that_wait_say_why(report: Report, width: int) -> None:
    told = shown(report, width=width)
    rows = {line.split()[0]: line for line in told[4:9]}
    assert rows["network"].index("━") < rows["vm"].index("━")
    assert "waits for" in rows["configuration"]
    assert all(cells(rows[name]) <= width for name in rows)


def test_what_went_wrong_is_told_in_full_and_the_rest_only_on_request(report: Report) -> None:
    told = shown(report)
    assert any(line.startswith("vm  error") for line in told)
    assert not any(line.startswith("network  ok") for line in told)
    assert any(line.startswith("network  ok") for line in shown(report, everything=True))
    assert any(line.startswith("network  ok") for line in shown(report, "network"))
    assert not any(line.startswith("vm  error") for line in shown(report, "network"))


def test_in_full_means_errors_inputs_outputs_objects_and_the_log(report: Report) -> None:
    told = "\n".join(shown(report, "vm"))
    assert "aws_instance.web: creating EC2 Instance   modules/vm/main.tf:21" in told
    assert "InsufficientInstanceCapacity" in told
    assert "1 to replace, 1 to change" in told
    assert 'subnet_id = "subnet-0a1"  {{ modules.network.subnet_id }}' in told
    assert "password = (env:VM_PASSWORD)" in told
    assert "address (stale), password (stale)" in told
    assert "terraform 1.11.4" in told
    assert "/events.jsonl on laptop" in told


def test_the_chain_that_took_longest_is_named(report: Report) -> None:
    assert any(line.startswith("bold: the chain that took longest, network > vm") for line in shown(report))


def test_a_killed_run_says_so() -> None:
    story = Story()
    story.start({"vm": ()})
    story.begin("vm", [change("aws_instance.web", Action.CREATE)])
    story.clock.sleep(30)
    story.kill()
    told = shown(read_report(story.ledger, None))
    assert "no end is recorded: still at work, or killed" in told[3]
    assert any("╍" in line for line in told)


def test_many_unchanged_modules_have_no_lines() -> None:
    story = Story()
    needs: dict[str, tuple[str, ...]] = {f"m{index:03}": () for index in range(200)}
    story.start(needs)
    for module in needs:
        story.unchanged(module)
    story.end()
    assert len(shown(read_report(story.ledger, None), width=80)) < 10
