"""What ``paper_repro/<system>/reproduce.py`` does on the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from voirdire.errors import InputError
from voirdire.repro.claims import System, load_system

Draw = Callable[[System, Path], None]


def main(system: str, draw: Draw, arguments: Sequence[str] | None = None) -> int:
    """Print the claims, draw the figures or run a protocol.

    Parameters
    ----------
    system : str
        The folder's name.
    draw : callable
        Draws the paper's figures into a folder.
    arguments : sequence of str, optional
        Instead of the command line's.

    Returns
    -------
    int
        Exit code: 0, or 1 if the input or the request is wrong.
    """
    parser = argparse.ArgumentParser(description=f"Claims, figures and runs of {system}.")
    parser.add_argument("--figures", type=Path, metavar="DIR", help="draw the paper's figures into DIR")
    parser.add_argument(
        "--run", metavar="NAME", help="run a protocol of runs/ and fill the claims it speaks of"
    )
    parser.add_argument(
        "--data", type=Path, metavar="PATH", help="the data set's file, where none can be fetched"
    )
    parser.add_argument("--panel", type=Path, metavar="FILE", help="instead of the run's panel.toml")
    parser.add_argument(
        "--limit", type=int, metavar="N", help="only the first N items (a smoke test, no result)"
    )
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="try the run on invented items and very small local models (no result)",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the run's journal and tables go")
    given = parser.parse_args(arguments)
    try:
        loaded = load_system(system)
        if given.figures:
            draw(loaded, given.figures)
            for path in sorted(given.figures.glob(f"{system}-*.png")):
                print(path)
        if given.run:
            from voirdire.repro.runs import run

            run(
                loaded,
                given.run,
                data=given.data,
                panel=given.panel,
                limit=given.limit,
                smoke=given.smoke,
                out=given.out,
            )
        if not given.figures and not given.run:
            from voirdire.cli.repro import repro

            repro(system)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
