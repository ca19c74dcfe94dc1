"""How far panels that score and compare are from people: the prior of the gap that is shipped.

A panel sees an item as s = theta + b: what people make of it, and what the panel alone does. The gap is sd(b) over
sd(theta); it leaves a correlation of 1 / sqrt(1 + gap^2) between s and theta. Of tables of scores that is the
correlation of the panel's means with people's, over the root of how reliable either are (severities taken off: noise of
judges is no gap). Of labels with two classes s is the log-odds of the shares, theta decides the class, and the gap
is that of a probit regression. Tables of one source together count as one; each source is predicted by the others: of
pairs of items that the panel tells apart (P > .95 about the panel), how many people see the other way.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from common import labelled, shared, show

from voirdire.kinds.panel_gap import Gap
from voirdire.typing import Floats

LEAST = 0.05, 0.99  # correlations that are taken for less or more are taken for these
RELIABLE = 0.2  # share of the variance of a panel's means that its judges must share
PAIRS = 20_000
NORMAL = NormalDist()


class Table(NamedTuple):
    """A table with people's answers: what the panel (and how reliably) and people make of each item."""

    source: str
    name: str
    panel: Floats
    people: Floats
    reliable: float
    gap: float


def tables() -> Iterator[Table]:
    """All tables; of those of systems over contexts the systems, too."""
    topical = pd.read_csv(shared("topicalchat_scores.csv"))
    crowd, students = (
        pd.read_csv(shared(name), dtype={"context": str})
        for name in ("dialsum_scores.csv", "dialsum_students_scores.csv")
    )
    for by in (["context", "system"], ["system"]):
        level = "answers" if len(by) == 2 else "systems"
        for criterion, rows in topical.groupby("criterion"):
            human = rows["judge"] == "human"
            yield from scored("topicalchat", f"{criterion}, {level}", rows[~human], rows[human], by)
        for criterion, rows in crowd.groupby("criterion"):
            own = students[students["criterion"] == criterion]
            yield from scored("dialsum", f"{criterion}, {level}", rows, own, by)
    graded = pd.read_csv(shared("llmjudge_dev_labels.csv"), dtype={"label": float})
    gold = pd.read_csv(shared("llmjudge_dev_gold.csv"), dtype={"label": float}).assign(judge="people")
    graded, gold = (one.rename(columns={"label": "score"}) for one in (graded, gold))
    yield from scored("llmjudge", "grades", graded, gold, ["item"])
    for name, labels, known in (
        ("llmbar", "llmbar_votes", "llmbar_gold"),
        ("framing", "framing_labels", "framing_gold"),
        ("aspects", "aspects_labels", "aspects_gold"),
        ("dices", "dices350_labels", "dices350_expert"),
    ):
        read = (labelled(pd.read_csv(shared(f"{one}.csv"), dtype=str).dropna()) for one in (labels, known))
        yield decided(name, *read)


def scored(source: str, name: str, panel: pd.DataFrame, people: pd.DataFrame, by: list[str]) -> Iterator[Table]:
    """Means of both, of the items that both scored; nothing where the judges of either share too little."""
    (one, of_panel), (other, of_people) = means(panel, by), means(people, by)
    both = one.index.intersection(other.index)
    if min(of_panel, of_people) >= RELIABLE:
        panel, said = one[both].to_numpy(), other[both].to_numpy()
        rho = np.clip(np.corrcoef(panel, said)[0, 1] / np.sqrt(of_panel * of_people), *LEAST)
        yield Table(source, name, panel, said, of_panel, gap_of(float(rho)))


def gap_of(correlation: float) -> float:
    return float(np.sqrt(correlation**-2 - 1.0))


def means(rows: pd.DataFrame, by: list[str]) -> tuple[pd.Series, float]:
    """Means of items without severities, and the share of their variance that is not the noise of single scores."""
    left = rows["score"] - rows.groupby("judge")["score"].transform("mean")
    groups = left.groupby([rows[name] for name in by])
    mean, count = groups.mean(), groups.count()
    repeated = int((count - 1).sum())
    if len(rows["judge"].unique()) == 1 and len(by) > 1:
        return mean, 1.0  # one judge: its own taste is in the gap
    within = float(((left - groups.transform("mean")) ** 2).sum()) / max(repeated, 1)
    return mean, max(1.0 - within * float((1.0 / count).mean()) / float(mean.var()), 0.0)


def decided(name: str, labels: pd.DataFrame, known: pd.DataFrame) -> Table:
    """Log-odds of the shares of two classes; what people know is as sure as the gap leaves it."""
    classes = known["label"].value_counts().index[:2]
    one, other = ((labels["label"] == c).groupby(labels["item"]).sum() for c in classes)
    log_odds, gold = np.log((one + 0.5) / (other + 0.5)), known.set_index("item")["label"]
    gold = gold[gold.isin(classes)]
    both = log_odds.index.intersection(gold.index)
    s, y = log_odds[both].to_numpy(), np.where(gold[both] == classes[0], 1.0, -1.0)
    # E of sign(theta) given s by a grid of probits; a correlation of normals has the probit of the same gap
    z = (s - s.mean()) / s.std()
    grid = np.linspace(*LEAST, 95)
    middles = np.linspace(-2.0, 2.0, 41)
    cdf = np.vectorize(NORMAL.cdf)
    loss = [
        min(-np.log(np.maximum(cdf(y * (z * rho + middle) / np.sqrt(1.0 - rho**2)), 1e-9)).sum() for middle in middles)
        for rho in grid
    ]
    rho = float(grid[int(np.argmin(loss))])
    return Table(name, "classes", s, y, 1.0, gap_of(rho))


def by_source(some: list[Table]) -> Gap:
    """Mean and sd of the log gap, sources alike."""
    each = {source: [np.log(t.gap) for t in some if t.source == source] for source in {t.source for t in some}}
    within = float(np.mean([np.var(of) for of in each.values()]))
    middle = [float(np.mean(of)) for of in each.values()]
    return Gap(float(np.mean(middle)), float(np.sqrt(np.var(middle, ddof=1) + within)))


def row(table: Table, prior: Gap) -> dict[str, Any]:
    """One table, by the prior of the others."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, len(table.panel), (2, PAIRS))
    noise = float(table.panel.std()) * np.sqrt(1.0 - table.reliable)
    sure = np.abs(table.panel[first] - table.panel[second]) > max(1.645 * np.sqrt(2.0) * noise, 1e-9)
    told = sure & (table.people[first] != table.people[second])
    first, second = first[told], second[told]
    right = np.sign(table.panel[first] - table.panel[second]) == np.sign(table.people[first] - table.people[second])
    spread = float(table.panel.std()) * np.sqrt(table.reliable)
    drawn = table.panel + noise * rng.normal(size=(1000, len(table.panel)))
    target = prior.to_target(drawn, np.full(1000, spread))
    lead = np.sign(table.panel[first] - table.panel[second])[None] * (target[:, first] - target[:, second])
    p = (lead > 0.0).mean(axis=0)
    return {
        "table": f"{table.source}: {table.name}",
        "items": len(table.panel),
        "gap": table.gap,
        "pairs": len(p),
        "panel sure, people otherwise": 1.0 - right.mean(),
        "P(people otherwise)": 1.0 - p.mean(),
        "P > .95, people otherwise": float((~right)[p > 0.95].mean()) if (p > 0.95).any() else None,
    }


def main() -> None:
    every = list(tables())
    rows = [row(table, by_source([one for one in every if one.source != table.source])) for table in every]
    shipped = by_source(every)
    show(
        "Scores, votes and rankings: the gap between panels and people",
        [{name: round(x, 3) if isinstance(x, float) else x for name, x in one.items()} for one in rows],
        [
            "gap: sd of what the panel alone sees in items over that of what people see. Pairs of items that the panel "
            "tells apart (P > .95): the share that people see the other way, what the prior of the other sources says "
            "of it, and the share among pairs that it leaves at P > .95. Classes: people's single answers, with "
            "their noise.",
            f"The prior of all, which is shipped: log gap has mean {shipped.mean:.2f} and sd {shipped.sd:.2f}.",
        ],
    )


if __name__ == "__main__":
    main()
