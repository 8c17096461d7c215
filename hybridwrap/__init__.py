"""Run Terraform and OpenTofu stacks with a durable operation ledger."""

__version__ = "0.1.0"
