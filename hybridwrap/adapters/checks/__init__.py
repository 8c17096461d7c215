"""What `doctor` looks at, each part on its own; nothing is changed, and nothing is left behind."""
