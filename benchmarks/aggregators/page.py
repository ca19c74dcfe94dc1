"""The page of the results, and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.aggregators.task import Table

OURS = "voirdire"
ALSO_OURS = "voirdire, "
NOISE = 2.0  # standard errors
HEAD = """# Aggregators compared

This page (made by `make aggregators`) compares methods that combine the answers of many judges. It uses public
tables; the truth is from people or from a judge that was left out. Smaller log loss is better. How to add a table
or a method: [benchmarks/aggregators](../benchmarks/aggregators/README.md).

"""
NOTES = """## How it is measured

- A method sees the judges' answers to all items and the class of 0, 20, 50 or 200 random items, and predicts the
  probability of every class for the others. Measures are accuracy, log loss (mean -log P(true class), P kept within
  1e-6 of 0 and 1) and calibration error (mean distance of accuracy and stated probability over ten bins). They are
  means over draws of known items (up to {draws}, fewer for slow methods; blank if not measured or impossible); for
  AlpacaEval 2 over draws of the half that is seen.
- Noise is the standard error of a difference between two methods, over items (clustered by prompt if there are
  prompts) and over draws. Two methods are distinguishable if they differ by more than two standard errors.
- Pairs: a judge asked in both orders counts as two judges. Ties are half a vote for each side; methods for classes
  only leave them out. Scores are compared pair by pair within a prompt.
- Methods without probabilities get simple ones: shares of votes with one vote spread over the classes (majority,
  crowd-kit's Wawa), how often the best judge was right with this answer, a normal with the spread of scores within
  an item (mean), the Bradley-Terry probability from strengths (choix, evalica, arena-rank, NoisyBradleyTerry).
- Known items: crowd-kit's DawidSkene gets their labels; choix and evalica get them as the votes of an additional
  judge; majority, mean, GLAD, MACE, Wawa, NoisyBradleyTerry and arena-rank (slow to refit) do not use them.
- crowd-kit's methods have their defaults (DawidSkene and GLAD: at most 100 iterations), choix has alpha 0.01. L2
  stacking chooses its penalty by five-fold cross-validation.
- voirdire is the default model at its mode, without tuning: classes for labels; for votes the strengths over
  prompts, with known items as the votes of an additional judge; for unconnected pairs, some of them known, people's
  preference. "voirdire, pairs as labels" uses only the answers to the pair itself; it is shown, but not ranked.
- Seconds are on one core of a shared machine, including imports: an order of magnitude.
"""


def write(rows: list[dict[str, Any]], held: list[dict[str, Any]], tables: Sequence[Table], path: Path) -> None:
    """Write the page, and its picture beside it."""
    found = pd.DataFrame(rows)
    answered = found[found["log_loss"].notna()] if "log_loss" in found else found.iloc[:0]
    if answered.empty:
        raise SystemExit("error: no method has an answer yet: nothing to show")
    verdicts = compared(answered)
    picture = path.with_suffix(".svg")
    parts = [HEAD]
    if OURS in set(answered["method"]):
        draw(verdicts, tables, picture)
        parts += [f"![How much higher each rival's log loss is than ours, by table]({picture.name})\n\n"]
        parts += [_summary(verdicts, tables)]
    parts += [_table(answered, found, table) for table in tables if table.name in set(found["table"])]
    parts += [_halves(held, tables)] if held else []
    parts += [NOTES.format(draws=int(answered["draw"].max()) + 1)]
    path.write_text("".join(parts), encoding="utf-8")


def compared(answered: pd.DataFrame) -> pd.DataFrame:
    """Ours less each rival's log loss: table, known, method, loss, difference, noise (standard error)."""
    kept = []
    for (table, known), part in answered.groupby(["table", "known"], sort=False):
        losses = {
            (method, draw): loss
            for method, draw, loss in part[["method", "draw", "losses"]].itertuples(index=False, name=None)
        }
        for method in part["method"].unique():
            draws = [draw for name, draw in losses if name == method and (OURS, draw) in losses]
            if not draws or method == OURS or method.startswith(ALSO_OURS):
                continue
            apart = [losses[OURS, draw] - losses[method, draw] for draw in draws]
            means = np.array([one.mean() for one in apart])
            over_items = float(np.mean([_clustered(one) for one in apart]))
            over_draws = float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else 0.0
            kept.append((table, known, method, float(means.mean()), float(np.hypot(over_items, over_draws))))
    return pd.DataFrame(kept, columns=["table", "known", "method", "difference", "noise"])


def _clustered(losses: pd.Series) -> float:
    """Standard error of a mean over items, by the clusters that their index names."""
    left = (losses - losses.mean()).groupby(losses.index).sum()
    groups = len(left)
    return float(np.sqrt((left**2).sum() * groups / max(groups - 1, 1)) / len(losses))


def verdict(part: pd.DataFrame) -> tuple[str, pd.Series]:
    """How ours stands beside the rivals, and beside which: the one it is least ahead of."""
    nearest = part.loc[part["difference"].idxmax()]
    if (part["difference"] < -NOISE * part["noise"]).all():
        return "ahead", nearest
    lost = part[part["difference"] > NOISE * part["noise"]]
    return ("behind", lost.loc[lost["difference"].idxmax()]) if len(lost) else ("level", nearest)


def _summary(verdicts: pd.DataFrame, tables: Sequence[Table]) -> str:
    lines = [
        "| table | known | voirdire is | nearest or better rival | log loss, ours minus theirs | minus the majority's |"
    ]
    lines += ["|---|---|---|---|---|---|"]
    counts: dict[str, list[str]] = {"ahead": [], "level": [], "behind": []}
    names = {table.name: table for table in tables}
    why: dict[str, list[str]] = {}
    worse = []
    for name in names:
        mine = verdicts[verdicts["table"] == name]
        if mine.empty:
            continue
        words = []
        for known, part in mine.groupby("known"):
            word, rival = verdict(part)
            words.append(word)
            majority = part[part["method"] == "majority"]
            beside = "" if majority.empty else _pm(majority.iloc[0])
            if not majority.empty and majority.iloc[0]["difference"] > NOISE * majority.iloc[0]["noise"]:
                worse.append(f"{names[name].title} ({known} known)")
            lines.append(f"| {names[name].title} | {known} | {word} | {rival['method']} | {_pm(rival)} | {beside} |")
            if word == "behind":
                why.setdefault(name, []).append(f"{rival['method']} ({known} known)")
        all_of_it = "ahead" if set(words) == {"ahead"} else "behind" if "behind" in words else "level"
        counts[all_of_it].append(names[name].title)
    total = sum(map(len, counts.values()))
    said = (
        f"On {total} tables, voirdire has the lowest log loss, by more than noise and for any number of known items, "
        f"on {_named(counts['ahead'])}; it is level with a rival at some number on {_named(counts['level'])}; "
        f"a rival is better at some number on {_named(counts['behind'])}. "
    )
    said += f"Worse than the majority: {', '.join(worse)}." if worse else "Nowhere is it worse than the majority."
    reasons = [
        f"- {names[name].title}, {', '.join(where)}: {names[name].settings.get('why', 'not looked into')}."
        for name, where in why.items()
    ]
    lost = "\nWhere a rival is better, and why:\n\n" + "\n".join(reasons) + "\n" if reasons else ""
    return said + "\n\n" + "\n".join(lines) + "\n" + lost + "\n"


def _named(titles: list[str]) -> str:
    return f"{len(titles)} ({', '.join(titles)})" if titles else "none"


def _pm(row: pd.Series) -> str:
    return f"{row['difference']:+.3f} ({row['noise']:.3f})"


def _table(answered: pd.DataFrame, found: pd.DataFrame, table: Table) -> str:
    mine = answered[answered["table"] == table.name]
    settings = table.settings
    lines = [f"## {table.title}", "", f"Question: {settings.get('says', 'the class of each item')}."]
    source = [str(settings[key]) for key in ("cite", "licence") if key in settings]
    lines += [f"Source: {'; '.join(source)}." if source else "", ""]
    levels = [known for known in table.known if known in set(mine["known"])]
    heads = [f"{what}, {known} known" for what in ("log loss", "accuracy", "calibration error") for known in levels]
    lines += ["| method | " + " | ".join(heads) + " | s |", "|---" * (len(heads) + 2) + "|"]
    cells = mine.groupby(["method", "known"])
    mean, error = (
        cells[["log_loss", "accuracy", "calibration", "seconds"]].mean(),
        cells[["log_loss", "accuracy", "calibration"]].sem(),
    )
    first = mine.groupby("method")["log_loss"].mean().sort_values().index
    for method in first:
        row = [f"**{method}**" if method == OURS else method]
        for what in ("log_loss", "accuracy", "calibration"):
            for known in levels:
                if (method, known) not in mean.index:
                    row.append("")
                    continue
                shown, se = mean.loc[(method, known), what], error.loc[(method, known), what]
                row.append(f"{shown:.3f}" + (f" ({se:.3f})" if np.isfinite(se) and se > 0 else ""))
        row.append(f"{mean.loc[method]['seconds'].mean():.1f}")
        lines.append("| " + " | ".join(row) + " |")
    if "cannot" in found:
        gone = found[(found["table"] == table.name) & ~found["method"].isin(first) & found["cannot"].notna()]
        said = [f"{name} ({part['cannot'].iloc[0]})" for name, part in gone.groupby("method")]
        lines += ["", f"No answer: {'; '.join(said)}."] if said else []
    return "\n".join(lines) + "\n\n"


def _halves(held: list[dict[str, Any]], tables: Sequence[Table]) -> str:
    titles = {table.name: table.title for table in tables}
    lines = [
        "## Intervals on other prompts",
        "",
        "Rankings from two random halves of the prompts: the share of the items' differences within 90% intervals,",
        "and their standard deviation in standard errors (1 if intervals are valid on other prompts).",
        "Win rates have the interval of independent votes.",
        "",
        "| table | method | within 90% intervals | standard deviation | draws |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {titles[one['table']]} | {'win rate' if one['method'] == 'majority' else one['method']} | "
        f"{one['coverage']:.2f} | {one['sd']:.2f} | {one['halves']} |"
        for one in held
    ]
    return "\n".join(lines) + "\n\n"


def draw(verdicts: pd.DataFrame, tables: Sequence[Table], path: Path) -> None:
    """One line a table: how much lower or higher than ours each rival's log loss is, least and most known."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "aggregators"
    mpl.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt

    names = [table for table in tables if table.name in set(verdicts["table"])]
    rivals = sorted(verdicts["method"].unique())
    colours = dict(zip(rivals, plt.get_cmap("tab20").colors, strict=False))
    marks = dict(zip(rivals, "osD^v<>Pp*hXd", strict=False))
    fig, axes = plt.subplots(1, 2, figsize=(9.5, 0.52 * len(names) + 2.4), sharey=True)
    for ax, pick, title in zip(axes, (min, max), ("no item known", "most items known"), strict=True):
        for y, table in enumerate(names):
            part = verdicts[verdicts["table"] == table.name]
            part = part[part["known"] == pick(part["known"])]
            for one in part.itertuples():
                ax.plot(min(-one.difference, 1.0), -y, marks.get(one.method, "o"), color=colours.get(one.method), ms=6)
        ax.axvline(0, color="black", lw=1)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("log loss above voirdire's (at 1: or more)")
        ax.set_xscale("symlog", linthresh=0.1)
        ax.set_xticks([-0.1, 0, 0.1, 0.3, 1], ["-0.1", "0", "0.1", "0.3", "1"])
    axes[0].set_yticks([-y for y in range(len(names))], [table.title for table in names])
    handles = [
        plt.Line2D([], [], marker=marks.get(name, "o"), color=colours.get(name), ls="", label=name) for name in rivals
    ]
    fig.legend(handles=handles, loc="lower center", ncols=4, fontsize=8, frameon=False)
    fig.tight_layout(rect=(0, 0.06 + 0.02 * len(rivals) / 4, 1, 1))
    fig.savefig(path, metadata={"Date": None})
    plt.close(fig)
