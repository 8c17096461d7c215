"""What somebody meant who typed a word of Terraform or Terragrunt, or misspelled one of ours: the line to type."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

import click

OF_THE_ENGINE = frozenset(
    [
        "console", "fmt", "get", "import", "login", "logout", "metadata", "modules", "providers", "query", "state",
        "taint", "test", "untaint",
    ]
)  # fmt: skip
OURS = {
    "dag": "hybridwrap graph",
    "find": "hybridwrap list",
    "force-unlock": "hybridwrap unlock MODULE    says who holds it, and how to free it",
    "graph-dependencies": "hybridwrap graph",
    "hclfmt": "hybridwrap tf MODULE -- fmt",
    "providers lock": "hybridwrap lock",
    "refresh": "hybridwrap apply -refresh-only    or, only to look: hybridwrap drift",
    "version": "hybridwrap --version",
    "workspace": "hybridwrap status -e ENVIRONMENT    what workspaces are for is an environment of the manifest here",
}
OF_ALL = frozenset({"run", "run-all", "stack"})  # Terragrunt's, before the command
FOLDER = frozenset({"chdir", "working-dir", "terragrunt-working-dir"})
NEEDLESS = frozenset({"all", "compact-warnings", "input", "lock", "no-color"})
UNATTENDED = frozenset({"non-interactive", "terragrunt-non-interactive"})
BACKEND = frozenset({"backend", "backend-config", "force-copy", "migrate-state", "reconfigure"})
OTHERWISE = {
    ("destroy", "target"): "hybridwrap destroy MODULE    a whole module; one object goes with its code, by apply",
    ("plan", "out"): "hybridwrap plan --save    keeps the plans in the ledger; then: hybridwrap apply --run RUN",
}
RENDER = "say it in the manifest (`state`, `backend_config`), then: hybridwrap render MODULE    shows what comes of it"


def command_meant(words: Sequence[str], commands: Collection[str]) -> str:
    """The line for somebody who typed a command that there is not, "" where nobody can tell."""
    first, *rest = words
    if first in OF_ALL or first.removesuffix("-all") in commands:
        wanted = next((word for word in (first.removesuffix("-all"), *rest) if word in commands), "plan")
        return f"hybridwrap {wanted}    does so for all modules of the stack, in order"
    if first == "help":
        return _line([*rest[:1], "--help"])
    for known in (" ".join(words[:2]), first):
        if known in OURS:
            return OURS[known]
    if first in OF_THE_ENGINE:
        return f"hybridwrap tf MODULE -- {shlex.join(words)}"
    close = get_close_matches(first, commands, n=1, cutoff=0.7)
    return _line([*close, *rest]) if close else ""


def usage_meant(error: click.UsageError, argv: Sequence[str]) -> tuple[str, str]:
    """What is wrong, and the line to type, "" where nobody can tell; `argv` goes up to `--`."""
    if isinstance(error, click.NoSuchOption):
        word = _word_of(error.option_name, argv)
        return f"there is no option {word}", _option_meant(error, word, argv)
    command = error.ctx.info_name if error.ctx else ""
    module = error.ctx.params.get("module") if error.ctx and command in {"exec", "tf"} else None
    if module in argv:
        at = argv.index(module) + 1
        return "what is to be run stands behind `--`", _line([*argv[:at], "--", *argv[at:]])
    return error.format_message(), ""


def _word_of(option: str, argv: Sequence[str]) -> str:
    """The word that click takes for an option; of `-chdir` it only says `-c`."""
    if option.startswith("--"):
        return next((word for word in argv if word.partition("=")[0] == option), option)
    return next((word for word in argv if word[:1] == "-" != word[1:2] and option[1] in word), option)


def _option_meant(error: click.NoSuchOption, word: str, argv: Sequence[str]) -> str:
    name, _, value = word.lstrip("-").partition("=")
    known = {option for param in error.ctx.command.params for option in param.opts} if error.ctx else set()
    if name in {"help", "version"}:
        return _line([f"--{name}"])
    if f"--{name}" in known:
        return _line(f"--{each.lstrip('-')}" if each == word else each for each in argv)
    if name in FOLDER:
        at = argv.index(word)
        folder = value or next(iter(argv[at + 1 :]), "FOLDER")
        rest = [*argv[:at], *argv[at + (1 if value else 2) :]]
        return _line([*rest, "-f", f"{folder.rstrip('/')}/hybridwrap.yaml"])
    return _in_other_words(error, name, [each for each in argv if each != word])


def _in_other_words(error: click.NoSuchOption, name: str, rest: Sequence[str]) -> str:
    command = error.ctx.info_name if error.ctx else ""
    if name in NEEDLESS:
        return _line(rest)
    if name in UNATTENDED:
        return _line([*rest, *(["--auto-approve"] if command in {"apply", "destroy"} else [])])
    if name in BACKEND:
        return RENDER
    return OTHERWISE.get((command or "", name), "")


def _line(words: Iterable[str]) -> str:
    """A command line, without values that may be secrets."""
    from hybridwrap.cli.running import argv_as_typed

    words = argv_as_typed(list(words))
    return shlex.join(["hybridwrap", *words])
