"""``python -m voirdire``: the command line."""

from voirdire.cli import main

if __name__ == "__main__":
    main()
