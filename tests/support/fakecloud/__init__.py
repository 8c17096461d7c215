"""A cloud in one SQLite file, and a Terraform provider for it whose faults a test injects by name."""
