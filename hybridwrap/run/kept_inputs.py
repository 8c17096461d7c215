"""What a run keeps of its inputs, for whoever has to go on with it.

Keeps: of a value in which a known secret stands the ledger gets, where it is not encrypted, nothing but where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridwrap.domain.inputs import own_secrets
from hybridwrap.domain.run_inputs import RunInputs, described, encode_inputs, with_digests, withheld
from hybridwrap.run.context import Context, Tools
from hybridwrap.run.known_secrets import KnownSecrets


def keep_inputs(context: Context, modules: Sequence[str]) -> str:
    """Keep what the modules are to get; return the blob that has it. Raise LedgerUnreachable."""
    tools = context.tools
    found = inputs_now(tools, modules)
    if not tools.ledger.encrypts and any(one.value is not None for inputs in found.values() for one in inputs.values()):
        mask = KnownSecrets(tools, context.knowledge, modules).mask(tools.stack)
        found = {name: withheld(mask, inputs) for name, inputs in found.items()}
    return tools.ledger.put_blob(encode_inputs(found))


def inputs_now(tools: Tools, modules: Sequence[str]) -> RunInputs:
    """Describe the inputs of modules as they are now, secrets with their digests."""
    declared = {name: tools.stack.modules[name] for name in modules}
    found = described(declared.values(), tools.host, tools.stack.root)
    key = tools.digest_key
    return {
        name: with_digests(inputs, own_secrets(declared[name], tools.host), key) if key else inputs
        for name, inputs in found.items()
    }
