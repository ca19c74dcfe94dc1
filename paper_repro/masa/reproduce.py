"""MASA: claims, figures and runs.

voirdire repro masa                      the claims
voirdire repro masa --figures DIR        win rates with intervals (Table 3; the paper draws none)
voirdire repro masa --tables DIR   its tables as CSV, LaTeX and HTML; with --results also our run's
voirdire repro masa --run masa --data FILE --out DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from voirdire.cli import app
from voirdire_repro.claims import System
from voirdire_repro.draw import COLOURS, canvas, column, points, save


def draw(system: System, folder: Path, results: Path | None = None) -> None:
    """Llama-2's win rate without ties, by data set and judge, with the published intervals."""
    table = system.tables["table3"]
    names = [name for name in dict.fromkeys(cell.by["dataset"] for cell in table.cells) if name != "average"]
    figure, (axis,) = canvas()
    series = {}
    for judge in ("GPT-4", "experts"):
        value, low, high = (
            column(table, "dataset", names, judge=judge, summariser="Llama-2", statistic=statistic)
            for statistic in ("value", "low", "high")
        )
        series[judge] = list(zip(value, low, high, strict=True))
    points(axis, names, series, "wins of Llama-2, percent")
    axis.axhline(50, color=COLOURS[7], linewidth=0.6)
    axis.legend(fontsize=7)
    save(figure, folder / "masa-table3.png", "The paper's figures, Table 3, with 95% intervals.")


if __name__ == "__main__":
    app(["repro", "masa", *sys.argv[1:]])
