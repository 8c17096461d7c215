"""Where a process begins: `hybridwrap`, and `python -m hybridwrap`."""

from signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal


def main() -> None:
    """Load the commands and run one; Ctrl-C meanwhile ends the process without a word, as nothing has begun."""
    if heeded := getsignal(SIGINT) is default_int_handler:  # it may be ignored, as behind `nohup`
        signal(SIGINT, SIG_DFL)
    from hybridwrap.cli.main import main as commands

    if heeded:
        signal(SIGINT, default_int_handler)
    commands()


if __name__ == "__main__":
    main()
