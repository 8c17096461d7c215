"""Allow `python -m hybridwrap`."""

from hybridwrap.cli.main import main

main()
