"""MAREval: claims, figures and runs.

python paper_repro/mareval/reproduce.py                   the claims
python paper_repro/mareval/reproduce.py --figures DIR     Figure 3, as far as its points are printed
python paper_repro/mareval/reproduce.py --run topical-chat --out DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from voirdire.repro.claims import System
from voirdire.repro.command import main
from voirdire.repro.draw import COLOURS, canvas, column, save


def draw(system: System, folder: Path) -> None:
    """Figure 3b: correlation against the number of evaluators, of which two points are printed."""
    two = {claim.id: claim.figures[0].value for claim in system.claims if claim.id.startswith("figure3-two")}
    four = column(
        system.tables["table1"],
        "coefficient",
        ["pearson", "kendall"],
        framework="MAREval",
        criterion="overall",
    )
    figure, (axis,) = canvas(width=5)
    for number, (name, start) in enumerate((("Pearson", "figure3-two"), ("Kendall", "figure3-two-kendall"))):
        axis.plot([2, 4], [two[start], four[number]], "o--", color=COLOURS[number], label=name)
    axis.set_xticks([2, 3, 4, 5, 6])
    axis.set_xlim(1.5, 6.5)
    axis.set_ylim(0.4, 0.6)
    axis.set_xlabel("evaluators", fontsize=8)
    axis.set_ylabel("correlation with people", fontsize=8)
    axis.set_title("Number of evaluators (after Figure 3b)", fontsize=9)
    axis.legend(fontsize=7)
    save(
        figure,
        folder / "mareval-figure3.png",
        "The paper's figures (section 4.6, Table 1); other points are not printed.",
    )


if __name__ == "__main__":
    sys.exit(main("mareval", draw))
