"""What a stack, an operation and the ledger are; no I/O."""
