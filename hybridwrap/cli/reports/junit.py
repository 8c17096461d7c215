"""A report as JUnit XML: one test case for each module."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

from hybridwrap.cli.reports.next import next_for
from hybridwrap.cli.reports.wording import planned_in_words, short_reason, summary
from hybridwrap.run.report import ModuleReport, Report

FAILURES = frozenset({"error", "drifted"})
ERRORS = frozenset({"unknown", "unsent", "superseded", "refused", "running"})
# Everything else that is not done did not run: skipped.
HOOKS = "hooks of the run"
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    suites = Xml.Element("testsuites", name=f"hybridwrap {report.start.command}")
    suite = Xml.SubElement(suites, "testsuite", name=f"{report.stack}/{report.environment}")
    failed = [str(run) for run in report.hooks if run.failed]
    totals = {
        "tests": len(report.modules) + bool(failed),
        "failures": sum(_kind(module) == "failure" for module in report.modules) + bool(failed),
        "errors": sum(module.result in ERRORS for module in report.modules),
        "skipped": sum(_kind(module) == "skipped" for module in report.modules),
        "time": f"{report.seconds:.3f}",
    }
    for name, total in totals.items():
        suites.set(name, str(total))
        suite.set(name, str(total))
    suite.set("timestamp", report.start.time.partition(".")[0].removesuffix("Z"))
    suite.set("hostname", report.start.writer.host)
    properties = Xml.SubElement(suite, "properties")
    for name, value in _properties(report).items():
        Xml.SubElement(properties, "property", name=name, value=value)
    for module in report.modules:
        _case(suite, report, module)
    if failed:  # else a run that ends with 4 would look green
        case = Xml.SubElement(suite, "testcase", classname=f"{report.stack}.{report.environment}", name=HOOKS, time="0")
        Xml.SubElement(case, "failure", message=f"hook {failed[0]}", type="hook").text = "\n".join(failed)
    _cleaned(suites)
    Xml.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(suites, encoding="unicode")}\n'


def _properties(report: Report) -> dict[str, str]:
    said = {
        "run": report.start.run,
        "by": str(report.start.writer),
        "exit_code": "" if report.exit_code is None else str(report.exit_code),
        "ci_url": report.start.writer.ci_url,
    }
    return {name: value for name, value in said.items() if value}


def _case(suite: Xml.Element, report: Report, module: ModuleReport) -> None:
    case = Xml.SubElement(
        suite,
        "testcase",
        classname=f"{report.stack}.{report.environment}",
        name=module.module,
        time=f"{module.seconds:.3f}",
    )
    if kind := _kind(module):
        message = short_reason(module) or _failed(module) or module.result
        told = Xml.SubElement(case, kind, message=message, type="hook" if module.done else module.result)
        if kind != "skipped":
            told.text = "\n\n".join(_told(report, module))
    if planned := planned_in_words(module.planned):
        Xml.SubElement(case, "system-out").text = planned


def _kind(module: ModuleReport) -> str:
    if module.done:
        return "failure" if _failed(module) else ""
    if module.result in FAILURES:
        return "failure"
    return "error" if module.result in ERRORS else "skipped"


def _told(report: Report, module: ModuleReport) -> list[str]:
    errors = [
        "\n".join(filter(None, [summary(error), module.place(error), error.detail])) for error in module.end.errors
    ]
    return [
        *(errors or [module.end.reason or _failed(module)]),
        *(f"next: {command}" for command in next_for(report, module)),
    ]


def _failed(module: ModuleReport) -> str:
    """Hooks that failed."""
    return "; ".join(f"hook {run}" for run in module.end.hooks if run.failed)


def _cleaned(root: Xml.Element) -> None:
    """Take out what no XML may hold, not even escaped: engines print colours and worse."""
    for element in root.iter():
        element.text = NOT_IN_XML.sub("\ufffd", element.text) if element.text else element.text
        for name, value in element.items():
            element.set(name, NOT_IN_XML.sub("\ufffd", value))
