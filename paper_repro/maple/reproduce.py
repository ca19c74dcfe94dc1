"""MAPLE: claims, figures and runs.

    voirdire repro maple                     the claims
    voirdire repro maple --figures DIR       Figures 1 to 6
    voirdire repro maple --tables DIR   its tables as CSV, LaTeX and HTML; with --results also our run's
    voirdire repro maple --run asap2 --data FILE --out DIR

Bars of Figures 1, 2 and 4 are not printed as numbers in the paper: they are drawn from a synthetic panel
(runs/synthetic/study.toml), Figure 5 from runs/position/study.toml; ``--simulate`` makes their results anew.
"""

from __future__ import annotations

import csv
import shutil
import statistics
import sys
from collections import defaultdict
from pathlib import Path

from voirdire.cli import app
from voirdire_repro.checks.studies import rows_of
from voirdire_repro.claims import System
from voirdire_repro.draw import COLOURS, canvas, column, points, save

HERE = Path(__file__).resolve().parent
SYNTHETIC = HERE / "runs" / "synthetic"
POSITION, SPREAD, TARGETS = (HERE / "runs" / name for name in ("position", "spread", "targets"))
OURS = "Our run: synthetic panel (paper_repro/maple/runs/synthetic), 20 replicates of 30 items; not the paper's models."


def simulate() -> None:
    """Run the synthetic panels; keep each replicate's concordance of one, the means of the other."""
    from voirdire_studies import run_study

    for folder in (POSITION, SPREAD, TARGETS):
        kept = HERE.parents[1] / "runs" / folder.name  # finished batches, so that a stopped one goes on
        run_study(folder / "study.toml", out=kept)
        for name in ("results.csv", "first.csv", "run.json"):
            shutil.copy(kept / name, folder / name)

    result = run_study(SYNTHETIC / "study.toml")
    result.replicates[["panel", "model", "replicate", "value"]].to_csv(
        SYNTHETIC / "replicates.csv", index=False, lineterminator="\n", float_format="%.6f"
    )


def synthetic() -> dict[tuple[str, str], list[float]]:
    """Concordance by panel and model, one entry a replicate."""
    found = defaultdict(list)
    with (SYNTHETIC / "replicates.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["panel"], row["model"]].append(float(row["value"]))
    return dict(found)


def against_singles(path: Path, model: str, title: str) -> None:
    """All judges by MAPLE beside each judge alone by ``model`` (Figures 1 and 2)."""
    found = synthetic()
    singles = [panel for panel, name in found if name == model and panel != "all models"]
    together = found["all models", "maple"]
    figure, (axis,) = canvas()
    bars = {**{panel: found[panel, model] for panel in singles}, "all judges, MAPLE": together}
    means = [sum(values) / len(values) for values in bars.values()]
    sds = [statistics.stdev(values) for values in bars.values()]
    colours = [COLOURS[0]] * len(singles) + [COLOURS[1]]
    axis.bar(range(len(bars)), means, yerr=sds, color=colours, error_kw={"linewidth": 0.8})
    axis.axhline(means[-1], color=COLOURS[1], linewidth=0.8)
    axis.set_xticks(range(len(bars)), list(bars), rotation=30, ha="right", fontsize=7)
    axis.set_ylim(0.5, 1)
    axis.set_ylabel("concordance index (0.5: chance)", fontsize=8)
    axis.set_title(title, fontsize=9)
    save(figure, path, f"{OURS} Whiskers: one sd over replicates.")


def by_theme(path: Path, system: System) -> None:
    """Methods that use all models, by theme (Figure 3 without its single models, which are not printed)."""
    table3, table5 = system.tables["table3"], system.tables["table5"]
    themes = list(dict.fromkeys(cell.by["theme"] for cell in table3.cells))
    shown = {f"{name} (Table 3)": (table3, {"method": name}) for name in ("MAPLE", "Crowd-BT", "Majority Vote")}
    shown["MAPLE (Full) (Table 5)"] = (table5, {"variant": "MAPLE (Full)"})
    series = {}
    for name, (table, keys) in shown.items():
        mean, sd = (column(table, "theme", themes, **keys, statistic=one) for one in ("mean", "sd"))
        series[name] = [(m, m - s, m + s) for m, s in zip(mean, sd, strict=True)]
    figure, (axis,) = canvas(height=4.2)
    points(axis, themes, series, "concordance index")
    axis.set_ylim(0.65, 0.99)
    axis.set_title("By theme, all models (after Figure 3)", fontsize=9)
    axis.legend(fontsize=7, ncols=2)
    save(
        figure,
        path,
        "The paper's figures, Tables 3 and 5, with one sd over samples. Single models are not printed as numbers.",
    )


def ranks(path: Path) -> None:
    """How MAPLE with all judges ranks among MAPLE with each alone, per replicate (Figure 4)."""
    found = synthetic()
    singles = [values for (panel, model), values in found.items() if model == "maple" and panel != "all models"]
    together = found["all models", "maple"]
    places = [1 + sum(values[k] > one for values in singles) for k, one in enumerate(together)]
    figure, (axis,) = canvas(width=5)
    axis.bar(range(1, len(singles) + 2), [places.count(k) for k in range(1, len(singles) + 2)], color=COLOURS[0])
    axis.set_xlabel("rank of all judges together", fontsize=8)
    axis.set_ylabel("replicates", fontsize=8)
    axis.yaxis.get_major_locator().set_params(integer=True)
    axis.set_xticks(range(1, len(singles) + 2))
    axis.set_title("Rank among single judges (after Figure 4)", fontsize=9)
    save(figure, path, OURS)


def bad_judges(path: Path) -> None:
    """Concordance against the number of bad judges added (Figure 5), in all panels of runs/position."""
    kinds = {"random": "random", "always-first": "always first", "always-second": "always second"}
    every = rows_of("maple/position")
    panels = list(dict.fromkeys(row["panel"] for row in every))
    figure, axes = canvas(2, 3, width=11, height=6)
    for axis, panel in zip(axes, panels, strict=True):
        for design, style in (("fixed order", "-"), ("random order", "--")):
            for number, (kind, name) in enumerate(kinds.items()):
                rows = [
                    row
                    for row in every
                    if (row["panel"], row["model"], row["design"]) == (panel, "maple", design)
                    and row["added"] in ("none", kind)
                ]
                shift = (number - 1) / 12
                axis.errorbar(
                    [int(row["count"]) + shift for row in rows],
                    [float(row["mean"]) for row in rows],
                    [2 * float(row["mcse"]) for row in rows],
                    color=COLOURS[number],
                    linestyle=style,
                    marker="o",
                    markersize=3,
                    linewidth=1,
                    label=f"{name}, {design}",
                )
        axis.set_title(panel, fontsize=9)
        axis.set_xlabel("bad judges beside ten", fontsize=8)
        axis.set_ylim(0.4, 1)
        axis.grid(axis="y", linewidth=0.3)
    axes[0].set_ylabel("concordance index", fontsize=8)
    axes[0].legend(fontsize=6, loc="lower left")
    source = (
        "Our run: MAPLE on all six panels of runs/position, 20 replicates, two Monte Carlo errors (after Figure 5, "
        "which adds 1 to 5 judges). Only coins of 0.85 to 0.97 agree with the figure; how much the paper's models "
        "agree is not published."
    )
    save(figure, path, source)


def first_picks(path: Path) -> None:
    """How often each judge of the synthetic panel picks the item shown first (Figure 6)."""
    from voirdire.simulate.votes import simulate_votes
    from voirdire_studies import load_study

    panel = load_study(SYNTHETIC / "study.toml").settings["panels"][0]["judges"]
    votes = simulate_votes(panel, items=30, criteria=4, design={"kind": "all-pairs", "order": "random"}, seed=6).votes
    shares = votes.assign(first=votes["winner"] == "first").groupby("judge")["first"].mean()
    figure, (axis,) = canvas()
    axis.bar(range(len(shares)), shares, color=COLOURS[0])
    axis.axhline(0.5, color=COLOURS[7], linewidth=0.8)
    axis.set_xticks(range(len(shares)), shares.index, rotation=30, ha="right", fontsize=7)
    axis.set_ylabel("share of first picks", fontsize=8)
    axis.set_ylim(0, 1)
    axis.set_title("Position 1 chosen (after Figure 6)", fontsize=9)
    save(figure, path, "Our run: one synthetic panel (paper_repro/maple/runs/synthetic), random order of showing.")


def draw(system: System, folder: Path, results: Path | None = None) -> None:
    """Figures 1 to 6."""
    against_singles(folder / "maple-figure1.png", "maple", "Each judge alone by MAPLE (after Figure 1)")
    against_singles(folder / "maple-figure2.png", "bradley-terry", "Each judge alone by Bradley-Terry (after Figure 2)")
    by_theme(folder / "maple-figure3.png", system)
    ranks(folder / "maple-figure4.png")
    bad_judges(folder / "maple-figure5.png")
    first_picks(folder / "maple-figure6.png")


if __name__ == "__main__":
    if sys.argv[1:] == ["--simulate"]:
        simulate()
    else:
        app(["repro", "maple", *sys.argv[1:]])
