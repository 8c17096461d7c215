"""A plan as a reviewer gets it in a pull request, and as a forge shows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from markdown_it import MarkdownIt

from hybridwrap.domain.declared import declared_by
from hybridwrap.domain.engine_run import Action, PlannedChange
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import ModuleEnd, RunStart
from hybridwrap.domain.stack import Module
from hybridwrap.run.report import ModuleReport, Report
from hybridwrap.run.share import Share
from tests.support.ledgers import writer
from tests.support.stories import change, error, many_needs

STYLE = (Path(__file__).parent / "review.css").read_text()
DENIED = "AccessDenied: User: arn:aws:sts::111122223333:assumed-role/plan is not authorized to perform: rds:Describe*"
ALIKE = ("api-eu-central-1-0", "api-us-east-1-0")
REPLACES = "cache-us-west-2-0"
FAILS = "database-eu-west-1-0"
PLANS: Mapping[str, tuple[PlannedChange, ...]] = {
    **dict.fromkeys(
        ALIKE, (change("aws_lambda_function.this", Action.UPDATE), change("aws_iam_role_policy.logs", Action.CREATE))
    ),
    REPLACES: (
        change("aws_elasticache_cluster.this", Action.REPLACE, "cannot_update"),
        change("aws_security_group.this", Action.UPDATE),
    ),
}


def reviewed_plan(count: int = 110) -> Report:
    """Of `count` modules two change alike, one replaces, one fails; what needs those is deferred."""
    needs = many_needs(count)
    waits = {"web-us-east-1-0": "api-us-east-1-0.url"}
    modules = tuple(_module(name, above, waits.get(name, "")) for name, above in needs.items())
    return Report(
        stack="shop",
        environment="prod",
        start=RunStart("01K7", "plan", "2026-01-01T09:00:00.000Z", writer(), ("plan",), tuple(needs), {}),
        modules=modules,
        ended="2026-01-01T09:01:12.000Z",
        exit_code=4,
    )


def _module(name: str, needs: tuple[str, ...], waits_for: str) -> ModuleReport:
    planned = PLANS.get(name, ())
    end = ModuleEnd("planned" if planned else "unchanged", seconds=3.0)
    if name == FAILS:
        failure = error("aws_db_instance.main", "reading RDS DB Instance (main)", DENIED, line=12)
        end = ModuleEnd("error", 4, errors=(failure,), seconds=9.0)
    elif waits_for:
        end = ModuleEnd("deferred", reason=f"needs {waits_for}, which this plan would change", waits_for=waits_for)
    source = Path("/repo/modules", name.partition("-")[0])
    record = Record(name, declared=declared_by(Module(name, source), Path("/repo")))
    return ModuleReport(name, needs, end, Share(record), planned)


def as_page(markdown: str) -> str:
    """About as GitHub shows a comment: its sizes and colours, and what Markdown becomes there."""
    body = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style><article>{body}</article>\n'
