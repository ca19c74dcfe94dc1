"""MAJ-EVAL: claims, figures and runs.

voirdire repro maj_eval                  the claims
voirdire repro maj_eval --figures DIR    Figures 3 to 5
voirdire repro maj_eval --tables DIR   its tables as CSV, LaTeX and HTML; with --results also our run's
voirdire repro maj_eval --run storysparkqa --data FILE --out DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from voirdire.cli import app
from voirdire_repro.claims import System
from voirdire_repro.draw import canvas, column, grouped_bars, save

DATA_SETS = {"table3": "StorySparkQA", "table4": "MSLR-COCHRANE"}
METHODS = {
    "ROUGE-L": ("ROUGE-L", "none"),
    "BERTScore": ("BERTScore", "none"),
    "G-Eval, GPT-4": ("G-Eval", "GPT-4"),
    "ChatEval, GPT-4": ("ChatEval", "GPT-4"),
    "MAJ-EVAL, Qwen": ("MAJ-EVAL", "Qwen-3-235B"),
    "MAJ-EVAL, Claude": ("MAJ-EVAL", "Claude-3.7-Sonnet"),
}


def by_dimension(path: Path, system: System) -> None:
    """Spearman correlations by dimension and method (Figure 3)."""
    figure, axes = canvas(1, 2, width=10, height=4)
    for axis, (name, data) in zip(axes, DATA_SETS.items(), strict=True):
        table = system.tables[name]
        dimensions = list(dict.fromkeys(cell.by["dimension"] for cell in table.cells))
        series = {
            label: column(
                table, "dimension", dimensions, method=method, model=model, group="all", coefficient="spearman"
            )
            for label, (method, model) in METHODS.items()
        }
        grouped_bars(axis, dimensions, series, "Spearman's coefficient")
        axis.axhline(0, color="black", linewidth=0.6)
        axis.set_title(f"{data} (after Figure 3)", fontsize=9)
        axis.set_ylim(-0.22, 0.55)
        axis.grid(axis="y", linewidth=0.3)
        axis.set_axisbelow(True)
    axes[0].legend(fontsize=6, ncols=2, loc="lower left", bbox_to_anchor=(0.38, 0))
    save(figure, path, "The paper's figures, Tables 3 and 4.")


def by_group(path: Path, system: System, model: str, number: int) -> None:
    """Each stakeholder group's final correlation, and its alpha before and after the debate (Figures 4 and 5)."""
    figure, axes = canvas(2, 2, width=10, height=6)
    for place, (name, data) in enumerate(DATA_SETS.items()):
        table, alphas = system.tables[name], system.tables["table8"]
        keys = {"method": "MAJ-EVAL", "model": model, "dimension": "overall", "coefficient": "spearman"}
        groups = [cell.by["group"] for cell in table.select_cells(keys) if cell.by["group"] != "all"]
        grouped_bars(
            axes[place],
            groups,
            {"before the debate (not printed)": [None] * len(groups), "after": column(table, "group", groups, **keys)},
            "Spearman, overall",
        )
        axes[place].set_title(f"{data}, {model} (after Figure {number})", fontsize=9)
        groups = list(
            dict.fromkeys(cell.by["group"] for cell in alphas.select_cells({"dataset": data, "model": model}))
        )
        series = {
            label: column(alphas, "group", groups, dataset=data, model=model, phase=phase)
            for label, phase in (("before the debate", "initial"), ("after", "final"))
        }
        grouped_bars(axes[2 + place], groups, series, "Krippendorff's alpha")
    for place in (0, 1):
        axes[place].set_ylim(0, 0.6)
        axes[2 + place].set_ylim(0, 1)
    for axis in axes:
        axis.grid(axis="y", linewidth=0.3)
        axis.set_axisbelow(True)
    axes[0].legend(fontsize=6, loc="upper left", ncols=2)
    axes[2].legend(fontsize=6, loc="upper left", ncols=2)
    save(
        figure,
        path,
        "The paper's figures, Tables 3, 4 and 8. Correlations before the debate are drawn there and not printed.",
    )


def draw(system: System, folder: Path, results: Path | None = None) -> None:
    """Figures 3 to 5."""
    by_dimension(folder / "maj_eval-figure3.png", system)
    by_group(folder / "maj_eval-figure4.png", system, "Claude-3.7-Sonnet", 4)
    by_group(folder / "maj_eval-figure5.png", system, "Qwen-3-235B", 5)


if __name__ == "__main__":
    app(["repro", "maj_eval", *sys.argv[1:]])
