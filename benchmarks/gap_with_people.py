"""The gap between panels and people with people's answers about some items, on public tables.

Each table is said by the prior that the other sources teach (:mod:`panel_gaps`), alone and with people's answers about
20 and 60 of its items; what is said of pairs of other items is held against people.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from common import show
from panel_gaps import PAIRS, Table, by_source, tables

from voirdire.kinds.gap_posterior import GapPosterior
from voirdire.kinds.panel_gap import Gap
from voirdire.model.target_answers import ScoredByPeople

KNOWN = 0, 20, 60  # items about which people answered
TRIES = 8


def taught(table: Table, prior: Gap) -> dict[str, Any]:
    """One table with people's answers about some items: what is said of pairs of items that they did not answer."""
    names = tuple(map(str, range(len(table.panel))))
    places = dict(zip(names, range(len(names)), strict=True))
    found: dict[int, list[tuple[float, ...]]] = {count: [] for count in KNOWN}
    for seed in range(TRIES):
        rng = np.random.default_rng(seed)
        noise = float(table.panel.std()) * np.sqrt(1.0 - table.reliable)
        drawn = table.panel + noise * rng.normal(size=(400, len(names)))
        order = rng.permutation(len(names))
        first, second = rng.choice(order[max(KNOWN) :], (2, PAIRS))
        differ = table.people[first] != table.people[second]
        first, second = first[differ], second[differ]
        truth = table.people[first] > table.people[second]
        for count in KNOWN:
            some = order[:count]
            answers = ScoredByPeople(tuple(names[k] for k in some), tuple(table.people[some].tolist()))
            gap = GapPosterior(answers, places, drawn, prior.mean, prior.sd) if count else prior
            target = gap.to_target(drawn)
            p = (target[:, first] > target[:, second]).mean(axis=0)
            sure = np.maximum(p, 1.0 - p) > 0.95
            right = (p > 0.5) == truth
            says = float(np.maximum(p, 1.0 - p).mean())
            loss = float(-np.log(np.clip(np.where(truth, p, 1.0 - p), 1e-3, 1.0)).mean())
            found[count].append((says - float(right.mean()), float(sure.mean()), float((sure & ~right).mean()), loss))
    row: dict[str, Any] = {"table": f"{table.source}: {table.name}"}
    for place, name in enumerate(("said minus right", "P > .95", "of these otherwise", "log loss")):
        row |= {f"{name}, {n} known": float(np.mean([one[place] for one in found[n]])) for n in KNOWN}
    for n in KNOWN:
        sure = row[f"P > .95, {n} known"]
        row[f"of these otherwise, {n} known"] = row[f"of these otherwise, {n} known"] / sure if sure else None
    return row


def main() -> None:
    every = list(tables())
    rows = [
        taught(table, by_source([one for one in every if one.source != table.source]))
        for table in every
        if len(table.panel) >= 5 * max(KNOWN)
    ]
    show(
        "The gap as people's answers about 20 and 60 items teach it",
        [{name: round(x, 3) if isinstance(x, float) else x for name, x in one.items()} for one in rows],
        [
            "Pairs of other items that people see differently, the prior of the other sources, mean of "
            f"{TRIES} draws of items: the stated probability less the share that is right, the share of pairs at "
            "P > .95 and how many of these are otherwise, and log loss."
        ],
    )


if __name__ == "__main__":
    main()
