"""The commands ``voirdire`` and ``python -m voirdire``: they hear signals before they import the command line."""

from __future__ import annotations

from voirdire.early_signals import handle_early_signals


def main() -> None:
    """Run the command line."""
    handle_early_signals()
    from voirdire.cli import main as run

    run()


if __name__ == "__main__":
    main()
