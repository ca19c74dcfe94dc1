"""The commands ``voirdire`` and ``python -m voirdire``: they hear signals before they import the command line."""

from __future__ import annotations

from voirdire.early_signals import hear


def main() -> None:
    """Run the command line."""
    hear()
    from voirdire.cli import main as run

    run()


if __name__ == "__main__":
    main()
