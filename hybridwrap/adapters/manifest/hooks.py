"""The field `hooks`, from nodes to its type: words are passed on as they are, braces and all."""

from __future__ import annotations

from hybridwrap.adapters.manifest.node import Node
from hybridwrap.adapters.manifest.settings import seconds, texts
from hybridwrap.domain.hooks import Argv, Hooks


def read_hooks(node: Node | None) -> Hooks:
    if node is None:
        return Hooks()
    timeout = seconds(node.get("timeout"))
    return Hooks(
        before=_commands(node.get("before")),
        after=_commands(node.get("after")),
        error=_commands(node.get("error")),
        timeout_seconds=Hooks().timeout_seconds if timeout is None else timeout,
    )


def _commands(node: Node | None) -> tuple[Argv, ...]:
    return tuple(texts(words) for words in node.items) if node else ()
