"""Every format of a report: what is in it, what can't get out of it, and that nobody's machine shows in it."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite
from markdown_it import MarkdownIt
from msgspec.structs import replace

from hybridwrap.adapters.schemas import load_schema
from hybridwrap.cli.main import COMMANDS
from hybridwrap.cli.reports.csv import COLUMNS
from hybridwrap.cli.reports.file import FORMATS as BY_NAME
from hybridwrap.cli.reports.file import rendered as as_form
from hybridwrap.cli.reports.junit import ERRORS, FAILURES
from hybridwrap.cli.reports.markdown import LIMIT
from hybridwrap.cli.reports.next import next_commands, next_for
from hybridwrap.cli.reports.wording import RESULTS
from hybridwrap.domain import json
from hybridwrap.domain.drift import Acceptance, Difference, Drift
from hybridwrap.domain.engine_run import Action
from hybridwrap.domain.entry import End
from hybridwrap.domain.hooks import HookRun
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.run.report import DONE, Report, read_report
from tests.support.stories import Story, change, error, half_applied, known, many, text

FORMATS = tuple(BY_NAME.values())
HOSTILE = (
    '</script><script>hacked=1</script><img src=x onerror="hacked=1">',
    "=cmd|' /C calc'!A0",
    "| a | b |\n|---|---|\n<b>*x*</b> `y` @team #1 [z](javascript:alert(1)) https://evil.example",
    "</code></pre></details>\n\n# Heading\n\n- item",
    "{{ 7 * 7 }} {% raw %}",
    "| only | pipes |",
    "\x1b[31mred\x1b[0m \u202egnp.exe \x00 \ufffe ]]> &lt;",
)


def rendered(form: str, story: Story) -> str:
    return as_form(read_report(story.ledger, None), form)


def hostile(words: str = "".join(HOSTILE), name: str = "vm") -> Story:
    """A run whose every text is the attacker's."""
    story = Story()
    story.start({"network": (), name: ("network",), "health": (name,)})
    story.apply("network", [change("aws_vpc.main", Action.CREATE)], outputs={"id": known(words)})
    story.apply(
        name,
        [change(f"aws_instance.{words}", Action.REPLACE, words)],
        error(f"aws_instance.{words}", words, words),
        inputs={words or "x": text(words, words)},
        outputs={words or "x": known({words: words})},
    )
    story.pending("health", f"{name}.{words}")
    story.end(4)
    return story


# All of them


def everything() -> str:
    return "".join(rendered(form, half_applied()) for form in FORMATS)


@pytest.mark.parametrize(("zone", "seed"), [("Pacific/Auckland", "1"), ("America/New_York", "2")])
def test_a_report_is_the_same_in_any_time_zone_locale_and_hash_seed(zone: str, seed: str) -> None:
    script = (
        "import sys; from tests.unit.test_report_formats import everything as e; sys.stdout.buffer.write(e().encode())"
    )
    environ = {**os.environ, "TZ": zone, "PYTHONHASHSEED": seed, "LC_ALL": "C", "COLUMNS": "40"}
    root = Path(__file__).parents[2]
    there = subprocess.run([sys.executable, "-c", script], cwd=root, env=environ, capture_output=True, check=True)
    assert there.stdout == everything().encode()


@pytest.mark.parametrize("form", FORMATS)
def test_a_run_without_an_end_is_reported_as_it_stands(form: str) -> None:
    story = half_applied()
    story.start({"network": (), "vm": ("network",)})
    story.begin("network", [change("aws_vpc.main", Action.UPDATE)])
    story.kill()
    assert "running" in rendered(form, story)


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_names_a_sensitive_value(form: str) -> None:
    assert "sensitive" in rendered("json", half_applied())
    assert "VM_PASSWORD=" not in rendered(form, half_applied())


@pytest.mark.parametrize("form", FORMATS)
def test_500_modules_are_rendered_in_seconds(form: str) -> None:
    report = read_report(many(500).ledger, None)
    began = time.process_time()
    as_form(report, form)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("story", [half_applied(), many(60), hostile(), hostile("", "-x")])
def test_every_next_command_is_one_that_there_is(story: Story) -> None:
    report = read_report(story.ledger, None)
    lines = [*next_commands(report), *(line for module in report.modules for line in next_for(report, module))]
    assert lines
    assert {line.split()[1] for line in lines} <= COMMANDS.keys()


# Text


def test_text_says_what_happened_where_and_what_to_type() -> None:
    said = rendered("text", half_applied())
    assert "1 error, 2 pending, 1 ok; exit 4 after 1m48" in said
    assert "vm: aws_instance.web: creating EC2 Instance  modules/vm/main.tf:21\n  InsufficientInstance" in said
    assert re.search(r"network +-/\+ +aws_nat_gateway.a +can't be changed in place", said)
    assert "known: network.nat_ip, network.subnet_id\n" in said
    assert "next: hybridwrap why -e prod health    the chain behind it\n" in said


def test_text_folds_many_unchanged_modules_into_one_line() -> None:
    assert re.search(r"^92 unchanged: foundation, ", rendered("text", many(110)), re.MULTILINE)


def test_text_gives_a_terminal_nothing_to_obey() -> None:
    assert not set(rendered("text", hostile())) & {"\x1b", "\x00", "\x07"}


# JSON


@pytest.mark.parametrize("story", [half_applied(), many(60), hostile()], ids=["half", "many", "hostile"])
def test_json_fits_its_schema(story: Story) -> None:
    schema = load_schema("report.v1")
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(rendered("json", story)))


def test_the_schema_names_every_field_and_no_more() -> None:
    schema = load_schema("report.v1")
    document = json.loads(rendered("json", half_applied()))
    assert document.keys() == set(schema["properties"])
    assert document["run"].keys() == schema["$defs"]["run"]["properties"].keys()
    for module in document["modules"]:
        assert module.keys() == schema["$defs"]["module"]["properties"].keys()


def test_json_has_no_value_of_what_is_sensitive() -> None:
    vm = json.loads(rendered("json", half_applied()))["modules"][1]
    assert vm["outputs"]["password"] == {"provenance": "stale", "sensitive": True}
    assert vm["inputs"]["password"] == {"reference": "env:VM_PASSWORD", "sensitive": True}


# CSV


def rows(story: Story) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(rendered("csv", story), newline="")))


def test_csv_has_one_row_for_each_module_and_rfc_4180_line_ends() -> None:
    found = rows(half_applied())
    assert [row["module"] for row in found] == ["network", "vm", "configuration", "health"]
    assert (found[1]["planned_replace"], found[1]["place"]) == ("1", "modules/vm/main.tf:21")
    assert rendered("csv", half_applied()).count("\r\n") == 5


def waiting() -> Story:
    """Two modules that waited for the same holder, one of them with hooks."""
    story = Story()
    story.start({"network": (), "vm": ("network",), "health": ("vm",)})
    story.unchanged("network")
    for name, seconds in (("vm", 12.5), ("health", 75.0)):
        story.apply(name, [change("aws_instance.web", Action.CREATE)])
        story.ends[name] = replace(story.ends[name], waited=seconds, waited_for="apply 01M8 of ben@ci")
    hooks = (HookRun("before", ("./check",), 0), HookRun("after", ("./smoke-test",), 7))
    story.ends["vm"] = replace(story.ends["vm"], hooks=hooks)
    story.end(4)
    return story


def test_csv_says_how_long_a_module_waited_and_which_hook_failed() -> None:
    network, vm, health = rows(waiting())
    assert (network["waited"], network["waited_for"], network["hooks"]) == ("0.0", "", "0")
    assert (vm["waited"], vm["waited_for"], health["waited"]) == ("12.5", "apply 01M8 of ben@ci", "75.0")
    assert (vm["hooks"], vm["hooks_failed"]) == ("2", "1")
    assert vm["first_failed_hook"] == "after `./smoke-test`: exit code 7"


def test_markdown_says_who_waited_for_whom_and_how_long() -> None:
    markdown = rendered("markdown", waiting())
    assert "#### Waited" in markdown
    assert re.search(r"\| `vm`, `health` \| apply 01M8 of ben\S+ci \| 1m15 \|", markdown)
    assert "#### Waited" not in rendered("markdown", half_applied())


def test_each_next_command_says_what_it_is_for() -> None:
    markdown = rendered("markdown", half_applied())
    assert "- `hybridwrap resume -e prod 01000000000000000000000012` once repaired\n" in markdown
    assert "- `hybridwrap why -e prod health` the chain behind it\n" in markdown


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\uff1d"])
def test_csv_has_no_cell_that_a_spreadsheet_would_calculate(start: str) -> None:
    story = Story()
    story.start({"vm": ()})
    story.failed_plan("vm", error("", f"{start}HYPERLINK(0)"))
    story.end(4)
    (row,) = rows(story)
    assert row["first_error"] == f"'{start}HYPERLINK(0)"


# JUnit


def suite_of(story: Story) -> TestSuite:
    (suite,) = JUnitXml.fromstring(rendered("junit", story).encode())
    assert isinstance(suite, TestSuite)
    return suite


def test_junit_is_read_by_a_parser_of_others() -> None:
    suite = suite_of(half_applied())
    assert (suite.tests, suite.failures, suite.errors, suite.skipped, suite.time) == (4, 1, 0, 2, 108.0)
    cases = {case.name: case for case in suite if isinstance(case, TestCase)}
    assert cases["network"].result == []
    (failure,) = cases["vm"].result
    assert isinstance(failure, Failure)
    assert "modules/vm/main.tf:21" in failure.text
    (skipped,) = cases["health"].result
    assert isinstance(skipped, Skipped)
    assert skipped.message == "waits for configuration"


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        *(("unknown", Error), ("refused", Error), ("unsent", Error), ("superseded", Error), ("error", Failure)),
        *(("stopped", Skipped), ("busy", Skipped), ("declined", Skipped), ("ok", None), ("destroyed", None)),
    ],
)
def test_each_result_has_its_kind_in_junit(result: str, kind: type | None) -> None:
    story = Story()
    story.start({"vm": ()})
    story.ends["vm"] = ModuleEnd(result, reason="because")
    story.end()
    (case,) = suite_of(story)
    assert [type(each) for each in case.result] == ([kind] if kind else [])


def test_junit_takes_text_that_no_xml_may_hold() -> None:
    assert suite_of(hostile()).failures == 1


# Markdown


class Tags(HTMLParser):
    """Which tags a page has, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(markdown: str) -> Tags:
    """As a forge renders it: CommonMark with tables, HTML passed through."""
    return Tags(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))


def test_markdown_is_tables_and_folds() -> None:
    page = page_of(rendered("markdown", half_applied()))
    assert page.tags["table"] == 3
    assert page.tags["details"] == page.tags["summary"] == page.tags["pre"] == 1
    assert "InsufficientInstanceCapacity" in page.text
    assert "hybridwrap why -e prod health" in page.text


def test_markdown_groups_what_is_alike_and_folds_what_is_unchanged() -> None:
    markdown = rendered("markdown", many(110))
    (alike,) = re.findall(r"^\| .*aws_lambda_function.*$", markdown, re.MULTILINE)
    assert alike.count("api-") == 10
    assert "<details><summary>92 unchanged</summary>" in markdown
    assert markdown.index("Replaced or destroyed") < markdown.index("Errors") < markdown.index("Changes")
    assert len(markdown) < 10_000


def test_the_same_error_of_many_modules_is_told_once() -> None:
    story = Story()
    needs: dict[str, tuple[str, ...]] = {f"m{index}": () for index in range(30)}
    story.start(needs)
    for name in needs:
        story.failed_plan(name, error("", "No valid credential sources found", line=0))
    story.end(4)
    markdown = rendered("markdown", story)
    assert markdown.count("<details") == 1
    assert "and 18 more" in markdown


PLAIN = page_of(rendered("markdown", hostile("plain")))


@pytest.mark.parametrize("words", HOSTILE)
def test_no_attack_gets_out_of_its_place_in_markdown(words: str) -> None:
    stays_in_place(words)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
@example("___")
@example("____ a_b _c_")
def test_no_text_gets_out_of_its_place_in_markdown(words: str) -> None:
    stays_in_place(words)


def test_no_cell_loses_what_stands_behind_a_pipe() -> None:
    page = page_of(rendered("markdown", hostile("a | b")))
    assert page.text.count("a | b") == PLAIN.text.count("plain")


def stays_in_place(words: str) -> None:
    page = page_of(rendered("markdown", hostile(words)))
    same = ("table", "tr", "td", "th", "details", "summary", "h3", "h4", "ul", "li", "strong", "br")
    assert {tag: page.tags[tag] for tag in same} == {tag: PLAIN.tags[tag] for tag in same}
    assert page.tags.keys() <= {*same, "thead", "tbody", "p", "code", "pre"}
    assert page.attributes <= {"open"}


def test_nobody_is_mentioned_and_nothing_is_linked_by_an_error() -> None:
    markdown = rendered("markdown", hostile("@octocat/team #12 https://evil.example www.evil.example"))
    outside_code = unescape(re.sub(r"`[^`]*`|<code>.*?</code>|<pre>.*?</pre>", "", markdown, flags=re.DOTALL))
    assert "octocat" in outside_code
    assert not re.search(r"@\w|#\d", outside_code)
    assert not re.search(r"https?://|www\.", markdown.partition("<pre>")[0].partition("</summary>")[2])


def everything_different(count: int) -> Story:
    story = Story()
    needs: dict[str, tuple[str, ...]] = {f"module-{index:04}-{'x' * 60}": () for index in range(count)}
    story.start(needs)
    for index, name in enumerate(needs):
        planned = [change(f"aws_thing.number_{index}_{part}", Action.REPLACE) for part in range(6)]
        failure = error(planned[0].address, f"failure {index}", f"{index} € " * 2000)
        story.apply(name, planned, *([failure] if index % 2 else []))
    story.end(4)
    return story


@pytest.mark.parametrize("count", [100, 400])
def test_markdown_never_gets_longer_than_a_forge_takes_and_says_what_it_left_out(count: int) -> None:
    markdown = rendered("markdown", everything_different(count))
    assert LIMIT * 0.9 < len(markdown.encode()) <= LIMIT
    assert re.search(r"\*\*\d+ more parts do not fit\*\*; all of it: `hybridwrap report ", markdown)
    assert "#### Next" in markdown
    page = page_of(markdown)
    assert page.tags["details"] == page.tags["summary"]


def test_however_much_is_replaced_and_fails_each_failed_module_is_named_in_markdown() -> None:
    story, names = Story(), [f"module-{index:03}" for index in range(150)]
    story.start(dict.fromkeys(names, ()))
    for index, name in enumerate(names):
        planned = [change(f"aws_thing.number_{index}_{part}", Action.REPLACE) for part in range(6)]
        story.apply(name, planned, error(planned[0].address, f"failure *{index}*", "why " * 500))
    story.end(4)
    text = page_of(rendered("markdown", story)).text
    assert [name for name in names if f"{name}: aws_thing.number_" not in text] == []
    assert "failure *149* modules/module-149/main.tf:21" in text
    assert re.search(r"and \d{3} more", text), "of what is replaced"


def test_500_modules_that_fail_each_in_its_own_way_are_named_in_a_line_each() -> None:
    story, names = Story(), [f"module-{index:03}" for index in range(500)]
    story.start(dict.fromkeys(names, ()))
    for index, name in enumerate(names):
        story.failed_plan(name, error("", f"failure `{index}`", "why " * 500))
    story.end(4)
    text = page_of(rendered("markdown", story)).text
    assert [name for name in names if name not in text] == []
    assert "module-499: failure `499` main.tf:21" in text


def test_a_page_about_a_run_without_modules_says_so_and_draws_no_empty_graph() -> None:
    story = Story()
    story.start({})
    story.end()
    page = rendered("html", story)
    assert "The run had no modules." in page
    assert "<svg" not in page


# Drift


@pytest.fixture(scope="module")
def drifted() -> Story:
    story = half_applied()
    story.start({"network": ()}, "drift")
    gone = Difference("aws_eip.nat", Action.DELETE, "aws_eip", since="2026-01-02T00:00:00.000Z")
    moved = Difference("aws_vpc.main", Action.UPDATE, "aws_vpc", ("tags.team",), "2026-01-02T00:00:00.000Z")
    accepted = Acceptance("aws_vpc.main.tags", "2026-02-01", "the fair")
    story.drifted("network", Drift(story.now, (gone, moved), (accepted,)))
    story.end()
    return story


def test_drift_is_told_object_by_object_with_what_of_it_is_accepted(drifted: Story) -> None:
    said = rendered("text", drifted)
    assert re.search(r"network +aws_eip.nat +gone +since 2026-01-02 00:00:00 UTC\n", said)
    assert re.search(r"network +aws_vpc.main +changed tags.team +since 2026-01-02 00:00:00 UTC +accepted\n", said)
    assert "next: hybridwrap plan -e prod network    what it takes" in said
    assert "| `network` | `aws_eip.nat` | gone | new |" in rendered("markdown", drifted)
    page = Tags(rendered("html", drifted)).text
    assert re.search(r"aws_vpc.main changed tags.team since 2026-01-02 00:00:00 UTC\s*accepted", page)


def test_drift_is_for_programs_too(drifted: Story) -> None:
    document = json.loads(rendered("json", drifted))
    Draft202012Validator(load_schema("report.v1")).validate(document)
    drift = document["modules"][0]["drift"]
    assert (drift["result"], [each["accepted"] for each in drift["differences"]]) == ("new", [False, True])
    assert suite_of(drifted).failures == 1
    assert rows(drifted)[0]["objects_drifted"] == "2"


# HTML: what needs no browser


def test_html_has_nothing_from_outside_but_as_text() -> None:
    named = hostile(name=f"vm {''.join(HOSTILE)}")
    page, plain = Tags(rendered("html", named)), Tags(rendered("html", hostile("plain")))
    assert page.tags == plain.tags
    assert not {name for name in page.attributes if name.startswith("on") or name in ("style", "src", "srcset")}
    assert "{{ 7 * 7 }}" in page.text


def test_html_asks_for_nothing_and_allows_nothing_but_its_own_style_and_script() -> None:
    page = rendered("html", hostile())
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"(?:src|href)=[\"'](?!#)", page)
    assert not re.search(r"url\(|@import", page.partition("</style>")[0])


def test_html_shows_provenance_and_hides_what_is_sensitive() -> None:
    page = Tags(rendered("html", half_applied())).text
    assert re.search(r'address\s*stale\s*"10\.0\.0\.7"', page)
    assert re.search(r"password\s*stale\s*sensitive", page)


def test_a_hook_that_failed_is_told_before_the_graph_and_in_its_module() -> None:
    story = Story()
    story.start({"vm": ()})
    story.apply("vm", [change("aws_instance.web", Action.CREATE)])
    story.ends["vm"] = replace(story.ends["vm"], hooks=(HookRun("after", ("./smoke-test",), 7),))
    story.end(4)
    page = rendered("html", story)
    attention, told = page.index("What needs attention"), "after `./smoke-test`: exit code 7"
    assert attention < page.index(told) < page.index('id="graph-title"')
    assert f"<b>hook</b> {told}" in page[page.index('<article class="panel') :]


def reports() -> Iterator[Report]:
    for status in (Status.UNKNOWN, Status.ERROR):
        story = Story()
        story.start({"vm": ()})
        story.begin("vm", [change("aws_instance.web", Action.CREATE)])
        story.finish("vm", End(Outcome.UNKNOWN if status is Status.UNKNOWN else Outcome.FAILED, status))
        story.end(32 if status is Status.UNKNOWN else 4)
        yield read_report(story.ledger, None)


def test_an_unknown_outcome_is_reconciled_before_anything_is_repeated() -> None:
    unknown, failed = reports()
    assert next_commands(unknown)[0] == "hybridwrap reconcile -e prod vm"
    assert next_commands(failed)[0] == "hybridwrap why -e prod vm"


def test_no_command_is_offered_for_a_module_that_the_approval_of_a_saved_run_does_not_cover() -> None:
    story = Story()
    story.start({"network": (), "vm": ("network",)}, "plan")
    story.ends |= {"network": ModuleEnd("planned"), "vm": ModuleEnd("deferred", reason="needs network.id")}
    story.end()
    plan = read_report(story.ledger, None)
    saved = replace(plan, start=replace(plan.start, saved=True))
    assert [next_for(plan, module) for module in plan.modules] == [
        ("hybridwrap apply -e prod network",),
        ("hybridwrap apply -e prod vm",),
    ]
    assert [next_for(saved, module) for module in saved.modules] == [
        (f"hybridwrap apply -e prod --run {saved.start.run} network",),
        (),
    ]


# The page about them

PAGE = (Path(__file__).parents[2] / "docs" / "reports.md").read_text()


def test_the_page_shows_what_is_printed_today() -> None:
    assert f"```text\n{rendered('text', half_applied())}```\n" in PAGE


def test_the_page_names_the_formats_and_columns() -> None:
    named = dict(re.findall(r"^\| `(\w+)` \|.*\| `(\.\w+)` \|$", PAGE, re.MULTILINE))
    assert {suffix: form for form, suffix in named.items()} == BY_NAME
    columns = PAGE.partition("these columns: ")[2].partition(". A cell")[0]
    assert re.findall(r"`(\w+)`", columns) == list(COLUMNS)


def test_the_page_has_every_result_in_its_table_of_junit() -> None:
    table = PAGE.partition("## JUnit")[2].partition("## CSV")[0]
    assert set(re.findall(r"`(\w+)`", table)) >= {*DONE, *FAILURES, *ERRORS}
    assert set(RESULTS) == set(re.findall(r"`(\w+)`", table))


def test_a_hint_that_the_ledger_has_is_for_the_environment_of_the_report() -> None:
    story = Story()
    story.start({"vm": ()})
    story.refused("vm", "its state is gone", hint="hybridwrap doctor    shows it; then: hybridwrap reconcile vm")
    story.end(32)
    (module,) = json.loads(rendered("json", story))["modules"]
    assert module["hint"] == "hybridwrap doctor -e prod    shows it; then: hybridwrap reconcile -e prod vm"
