"""Terraform and OpenTofu as child processes: argv, environment, events and exit codes stay in here."""
