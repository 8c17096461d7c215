"""A cloud in one SQLite file, and a Terraform provider for it whose faults a test injects by name."""

SOURCE = "example.test/lab/fakecloud"
VERSION = "1.0.0"
