"""DEBATE: claims, figures and runs.

voirdire repro debate                    the claims
voirdire repro debate --figures DIR      Figure 2, as far as its points are printed; with --results also our run's
voirdire repro debate --tables DIR       its tables as CSV, LaTeX and HTML; with --results also our run's
voirdire repro debate --run summeval --data FILE --out DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from voirdire.cli import app
from voirdire_repro.claims import System
from voirdire_repro.draw import COLOURS, canvas, curve, save, unprinted

PANELS = {
    "persona of the critic": ("plain", "weakly negative", "moderately negative", "strictly negative"),
    "debating style": ("plain", "tie-breaker", "devil's advocate", "both"),
}
PRINTED = {"plain": "MultiAgent", "strictly negative": "DEBATE", "devil's advocate": "DEBATE"}


def draw(system: System, folder: Path, results: Path | None = None) -> None:
    """Figure 2: GPT-4 on SummEval by rounds, persona of the critic and style; points that Table 1 prints.

    With ``results`` also what a run of ours on SummEval had come to after each iteration.
    """
    table = system.tables["table1"]
    figure, axes = canvas(1, 3, width=10)
    for axis in axes:
        axis.set_ylim(0.44, 0.62)
        axis.grid(axis="y", linewidth=0.3)
    axes[0].set_xticks(range(1, 6))
    axes[0].set_xlim(0.5, 5.5)
    axes[0].set_xlabel("most rounds", fontsize=8)
    axes[0].set_title("rounds (after Figure 2)", fontsize=9)
    ours = curve(system, "figure2-rounds", results)
    if ours:
        axes[0].set_xlim(min(ours) - 0.5, 5.5)
        axes[0].set_ylim(min(0.44, *ours.values()) - 0.02, max(0.62, *ours.values()) + 0.02)
        axes[0].plot(list(ours), list(ours.values()), "o-", color=COLOURS[2], label="our run, spearman")
        axes[0].legend(fontsize=7)
    else:
        unprinted(axes[0], 3, "no point is printed; the text says that\nit rises up to 4 and falls a little at 5")
    for axis, (title, entries) in zip(axes[1:], PANELS.items(), strict=True):
        for number, coefficient in enumerate(("spearman", "kendall")):
            shown = []
            for place, entry in enumerate(entries):
                if entry in PRINTED:
                    keys = {"benchmark": "SummEval", "model": "GPT-4", "method": PRINTED[entry]}
                    (cell,) = table.select_cells({**keys, "aspect": "average", "coefficient": coefficient})
                    shown.append((place, cell.value))
            axis.plot(*zip(*shown, strict=True), "o", color=COLOURS[number], label=coefficient)
        for place, entry in enumerate(entries):
            if entry not in PRINTED:
                unprinted(axis, place)
        axis.set_xticks(range(len(entries)), entries, rotation=20, ha="right", fontsize=7)
        axis.set_xlim(-0.5, len(entries) - 0.5)
        axis.set_title(f"{title} (after Figure 2)", fontsize=9)
    axes[0].set_ylabel("correlation with people", fontsize=8)
    axes[1].legend(fontsize=7)
    save(
        figure,
        folder / "debate-figure2.png",
        "The paper's figures, Table 1 (GPT-4, SummEval, average of aspects)"
        + ("; by rounds our run." if ours else "."),
    )


if __name__ == "__main__":
    app(["repro", "debate", *sys.argv[1:]])
