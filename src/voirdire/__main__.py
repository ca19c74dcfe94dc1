"""Commands ``voirdire`` and ``python -m voirdire``: signals are handled before the command line is imported."""

from __future__ import annotations

from voirdire.early_signals import handle_early_signals


def main() -> None:
    """Run the command line."""
    handle_early_signals()
    from voirdire.cli import main as run

    run()


if __name__ == "__main__":
    main()
