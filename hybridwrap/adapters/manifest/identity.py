"""Who the engine of a module is to be: the fields `credentials` and `account`, from nodes to their types."""

from __future__ import annotations

from hybridwrap.adapters.manifest.node import Node
from hybridwrap.adapters.manifest.scope import Scope
from hybridwrap.adapters.manifest.settings import seconds, text, texts
from hybridwrap.domain.stack import Credentials

ANY = "any"  # an account that is not compared


def read_credentials(node: Node | None, scope: Scope) -> Credentials:
    """Read `credentials`; {stack} and {environment} in its words are filled in, other braces are its own."""
    if node is None:
        return Credentials()
    timeout, words = seconds(node.get("timeout")), texts(node.get("command"))
    for name, value in {"stack": scope.stack, "environment": scope.environment}.items():
        words = tuple(word.replace(f"{{{name}}}", value) for word in words)
    return Credentials(words, 60.0 if timeout is None else timeout)


def read_account(node: Node | None) -> str:
    """Read `account`, "" where any will do."""
    found = text(node)
    return "" if found == ANY else found
