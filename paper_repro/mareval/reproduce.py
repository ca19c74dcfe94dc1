"""MAREval: claims, figures and runs.

voirdire repro mareval                   the claims
voirdire repro mareval --figures DIR     Figure 3, as far as its points are printed
voirdire repro mareval --tables DIR   its tables as CSV, LaTeX and HTML; with --results also our run's
voirdire repro mareval --run topical-chat --out DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from voirdire.cli import app
from voirdire_repro.claims import System
from voirdire_repro.draw import COLOURS, canvas, column, curve, save, unprinted

#: The text's range of Kendall's coefficient with more than four evaluators.
BEYOND_FOUR = (0.468, 0.475)


def draw(system: System, folder: Path, results: Path | None = None) -> None:
    """Figure 3: correlation against Monte Carlo runs (a) and evaluators (b), as far as it is printed.

    With ``results`` also Pearson's coefficient of a run of ours with each number of Monte Carlo runs.
    """
    two = {claim.id: claim.figures[0].value for claim in system.claims if claim.id.startswith("figure3-two")}
    four = column(
        system.tables["table1"], "coefficient", ["pearson", "kendall"], framework="MAREval", criterion="overall"
    )
    figure, axes = canvas(1, 2, width=8)
    for axis in axes:
        axis.set_ylim(0.4, 0.6)
        axis.grid(axis="y", linewidth=0.3)
    for number, (name, start) in enumerate((("Pearson", "figure3-two"), ("Kendall", "figure3-two-kendall"))):
        axes[0].plot([5], [four[number]], "o", color=COLOURS[number], label=name)
        axes[1].plot([2, 4], [two[start], four[number]], "o", color=COLOURS[number], label=name)
    axes[1].fill_between([4.6, 6.4], *BEYOND_FOUR, color=COLOURS[1], alpha=0.4, linewidth=0, label="range in the text")
    axes[0].set_xlim(0.5, 8.5)
    axes[1].set_xlim(1.5, 6.5)
    axes[1].set_xticks([2, 3, 4, 5, 6])
    axes[0].set_xlabel("Monte Carlo runs", fontsize=8)
    axes[1].set_xlabel("evaluators", fontsize=8)
    axes[0].set_title("Runs (after Figure 3a)", fontsize=9)
    axes[1].set_title("Evaluators (after Figure 3b)", fontsize=9)
    axes[0].set_ylabel("correlation with people", fontsize=8)
    axes[1].legend(fontsize=7, loc="upper left")
    ours = curve(system, "figure3-runs", results)
    if ours:
        axes[0].set_ylim(min(0.4, *ours.values()) - 0.02, max(0.6, *ours.values()) + 0.02)
        axes[0].plot(list(ours), list(ours.values()), "o-", color=COLOURS[2], label="our run, Pearson")
        axes[0].legend(fontsize=7)
    else:
        unprinted(axes[0], 3, "other points\nare not printed")
    unprinted(axes[1], 4, "other points are not printed")
    save(
        figure,
        folder / "mareval-figure3.png",
        "The paper's figures (section 4.6, Table 1)" + ("; by runs also our run." if ours else "."),
    )


if __name__ == "__main__":
    app(["repro", "mareval", *sys.argv[1:]])
