"""A manifest for Terragrunt's units: read from the JSON that it renders itself, with what has no counterpart."""
