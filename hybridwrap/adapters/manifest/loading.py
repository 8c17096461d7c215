"""From a file to a Stack: read, lay the environment over it, build, check; no check while nothing has changed."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec.structs import replace

from hybridwrap.adapters.manifest.cache import Checked, manifest_digest, recall, remember, sources_digest
from hybridwrap.adapters.manifest.environment import choose, declared_environments
from hybridwrap.adapters.manifest.finding import whole_of
from hybridwrap.adapters.manifest.hooks import read_hooks
from hybridwrap.adapters.manifest.identity import read_account, read_credentials
from hybridwrap.adapters.manifest.layers import Layered, layer
from hybridwrap.adapters.manifest.modules import Built, Draft, build_module, draft_modules, env_of, with_reads
from hybridwrap.adapters.manifest.node import Findings, Node, overlay
from hybridwrap.adapters.manifest.others import read_others
from hybridwrap.adapters.manifest.parts import Files, read_files, read_main, shown_name
from hybridwrap.adapters.manifest.remote import Fetching
from hybridwrap.adapters.manifest.scope import Scope
from hybridwrap.adapters.manifest.settings import read_ledger, text
from hybridwrap.domain.stack import Credentials, Stack
from hybridwrap.errors import InvalidManifest, Problem, UsageError


def environments_of(file: Path) -> tuple[str, ...]:
    """Name the environments of a manifest. Raise UsageError when it cannot be read, InvalidManifest for its text."""
    return declared_environments(read_main(file).node)


def load_stack(
    file: Path,
    *,
    environment: str | None,
    environ: Mapping[str, str],
    fetching: Fetching = Fetching.NEVER,
    given: Collection[str] = (),
) -> Stack:
    """Read a stack that may be run. Raise InvalidManifest with all problems; UsageError for file or environment.

    What is `given`, a variable that the caller sets, is not missing. Remote sources need an engine: raise
    EngineNotUsable where there is none.
    """
    stack, problems = read_stack(file, environment=environment, environ=environ, fetching=fetching, given=given)
    if problems:
        raise InvalidManifest(problems)
    return stack


def read_stack(
    file: Path,
    *,
    environment: str | None,
    environ: Mapping[str, str],
    fetching: Fetching = Fetching.NEVER,
    given: Collection[str] = (),
) -> tuple[Stack, tuple[Problem, ...]]:
    """Read a stack that may be looked at, also when it does not fit its modules' sources: those are the problems.

    Raise InvalidManifest with all problems when the manifest itself has any; UsageError for file or environment.
    """
    file = Path(os.path.abspath(file))  # noqa: PTH100  # symbolic links stay as they are
    files = read_files(file)
    main = files.main.node
    chosen = _environment(files, environment, environ)
    scope = Scope(file, text(main.get("stack")), chosen, environ, folders=files.folders, fetching=fetching, given=given)
    last, digest = recall(scope), manifest_digest(files)
    if last.manifest != digest:
        _refuse_bad_form(files)
    layered = layer(files, scope.environment, scope.findings)
    scope = replace(scope, families=layered.families)
    drafts = draft_modules(layered, scope)
    sources = sources_digest(drafts.values(), scope)
    known = last if (last.manifest, last.sources) == (digest, sources) else None
    built = _build(layered, drafts, scope, known)
    warnings, reads = (known.warnings, known.reads) if known else _check(files, layered, built, scope)
    problems = _problems(scope)
    if scope.findings.errors:
        raise InvalidManifest(problems)
    if not known and not problems:
        remember(Checked(digest, sources, built.interfaces, scope.references, warnings, reads), scope)
    stack = Stack(
        name=scope.stack,
        environment=scope.environment,
        file=file,
        modules=with_reads(built.modules, reads),
        ledger=built.ledger,
        others=built.others,
        environments=declared_environments(main),
        env=env_of(layered.root.get("defaults"), ("defaults",), scope),
        credentials=_credentials(layered.root, scope),
        account=read_account(layered.root.get("account")),
        hooks=read_hooks(layered.root.get("hooks")),
        warnings=warnings,
    )
    return stack, problems


def _credentials(root: Node, scope: Scope) -> Credentials:
    """Those of whoever says nothing else: of modules that are no more in the manifest, too."""
    return read_credentials(overlay(root.get("credentials"), root.get("defaults", "credentials")), scope)


def _build(layered: Layered, drafts: Mapping[str, Draft], scope: Scope, known: Checked | None) -> Built:
    if known:
        scope.references.update(known.references)
        interfaces = known.interfaces
    else:
        from hybridwrap.adapters.manifest.interfaces import read_interfaces

        interfaces = read_interfaces(drafts, scope)
    modules = {name: build_module(draft, interfaces.get(name), layered.root, scope) for name, draft in drafts.items()}
    ledger = read_ledger(layered.root, scope)
    return Built(drafts, modules, interfaces, ledger, read_others(layered.root, ledger, scope))


def _check(
    files: Files, layered: Layered, built: Built, scope: Scope
) -> tuple[tuple[str, ...], Mapping[str, Mapping[str, str]]]:
    """Warnings, and who reads whose state."""
    from hybridwrap.adapters.manifest.checking import check

    reads = check(files, layered, built, scope)
    return tuple(map(str, (*scope.findings.warnings, *scope.source_findings.warnings))), reads


def _refuse_part(files: Files) -> None:
    """Stop where somebody has named a file that is only a part of a manifest."""
    main = files.main
    if main.node.get("stack") is None and (whole := whole_of(main.file)):
        raise UsageError(
            f"{main.shown} is a part of {shown_name(whole)}, which includes it",
            hint=f"hybridwrap validate -f {shown_name(whole)}",
        )


def _problems(scope: Scope) -> tuple[Problem, ...]:
    found = (*scope.findings.errors, *scope.source_findings.errors)
    return tuple(sorted(found, key=lambda problem: (problem.file, problem.line, problem.column)))


def _environment(files: Files, wanted: str | None, environ: Mapping[str, str]) -> str:
    try:
        return choose(declared_environments(files.main.node), wanted, environ)
    except UsageError:
        _refuse_bad_form(files)  # a broken manifest is the greater trouble
        raise


def _refuse_bad_form(files: Files) -> None:
    _refuse_part(files)
    from hybridwrap.adapters.manifest.schema_check import check_included, check_schema

    findings = Findings()
    check_schema(files.main.node, findings)
    check_included((part.node for part in files.included), findings)
    if findings.errors:
        raise InvalidManifest(findings.errors)
