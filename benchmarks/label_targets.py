"""How far panels of labels are from their target: the prior that is shipped, learned across public tables.

Of every table the model's P(class) without any known item and the shares of labels are combined at each point of a grid
of dependence and share (:mod:`voirdire.kinds.labels.target`). What suits a table is a weight on the grid: as likely as
each point makes the classes of ``ITEMS`` of its items. Moments of the weights, averaged over tables (those of one
source together count as one), are the prior; each table is predicted by the moments of the others. Alternatives are
measured the same way: language models and crowds apart, and one power for all items whatever their number of labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from common import labelled, shared, show

import voirdire
from voirdire.kinds.labels.class_probabilities import collect_panel_probabilities, panel_probabilities
from voirdire.kinds.labels.target import DEPENDENCE_GRID, SHARE_GRID, Panel, Target
from voirdire.typing import Floats, Ints

Moments: TypeAlias = tuple[float, float, float, float]

ITEMS = 10  # a table's say: as much as so many of its items would teach
CROWDS = ("products", "music", "dogs", "zencrowd")
MODELS = ("framing", "aspects")
KNOWN, DRAWS = (20, 50), 20
LEAST = 1e-4  # probability in log loss


class Table(NamedTuple):
    """A table with known classes: its source, who judged, what the panel says, and the classes."""

    name: str
    source: str
    judges: str
    panel: Panel
    answer: Ints


def tables() -> Iterator[Table]:
    """All tables, with those items whose class is known and is a label."""
    for name in (*CROWDS, *MODELS):
        yield encoded(name, name, CROWDS, f"{name}_labels.csv", f"{name}_gold.csv")
    yield encoded("dices", "dices", ("dices",), "dices350_labels.csv", "dices350_expert.csv", ["No", "Yes"])
    yield encoded("llmbar", "llmbar", (), "llmbar_votes.csv", "llmbar_gold.csv")
    yield encoded("llmjudge", "llmjudge", (), "llmjudge_dev_labels.csv", "llmjudge_dev_gold.csv")
    scores, people = (
        pd.read_csv(shared(name), dtype=str) for name in ("dialsum_scores.csv", "dialsum_students_scores.csv")
    )
    for criterion, of_crowd in scores.groupby("criterion"):
        of_people = people[people["criterion"] == criterion]
        items = of_people["context"] + " " + of_people["system"]
        middle = of_people["score"].astype(float).groupby(items).median().round().astype(int).astype(str)
        labels = of_crowd.assign(item=of_crowd["context"] + " " + of_crowd["system"], label=of_crowd["score"])
        gold = middle.rename("label").rename_axis("item").reset_index()
        yield of(f"dialsum {criterion}", "dialsum", "crowd", labels[["judge", "item", "label"]], gold, None)


def encoded(
    name: str, source: str, crowds: tuple[str, ...], labels: str, gold: str, classes: list[str] | None = None
) -> Table:
    found = (labelled(pd.read_csv(shared(file), dtype=str).dropna()) for file in (labels, gold))
    judges = "crowd" if name in crowds else "models"
    table, people = found
    return of(name, source, judges, table[["judge", "item", "label"]], people[["item", "label"]], classes)


def of(
    name: str, source: str, judges: str, labels: pd.DataFrame, gold: pd.DataFrame, classes: list[str] | None
) -> Table:
    fit: Any = voirdire.fit(labels, method="map", classes=classes)
    problem = fit.problem
    names, people = problem.labels[: problem.classes], gold.set_index("item")["label"]
    of_item = np.array([names.index(x) if x in names else -1 for x in people.reindex(problem.items)])
    answer = of_item[problem.unit_item]
    known = np.flatnonzero(answer >= 0)
    panel = collect_panel_probabilities(problem, panel_probabilities(problem, fit.posterior)).select_rows(known)
    return Table(name, source, judges, panel, answer[known])


def moments(some: list[Table]) -> Moments:
    """Of the weights that suit tables: mean and sd of log dependence, and the beta distribution of the share."""
    weights: dict[str, list[Floats]] = {}
    for table in some:
        flat = Target(np.zeros((len(DEPENDENCE_GRID), len(SHARE_GRID))))
        log = flat.update(table.panel, table.answer).log_weight * (ITEMS / len(table.answer))
        weight = np.exp(log - log.max())
        weights.setdefault(table.source, []).append(weight / weight.sum())
    weight = np.mean([np.mean(of_source, axis=0) for of_source in weights.values()], axis=0)
    dependence, share = weight.sum(axis=1), weight.sum(axis=0)
    mean = float(dependence @ np.log(DEPENDENCE_GRID))
    sd = float(np.sqrt(dependence @ (np.log(DEPENDENCE_GRID) - mean) ** 2))
    middle = float(share @ SHARE_GRID)
    size = middle * (1.0 - middle) / float(share @ (SHARE_GRID - middle) ** 2) - 1.0
    return mean, sd, middle * size, (1.0 - middle) * size


def losses(chance: Floats, answer: Ints) -> Floats:
    return np.asarray(-np.log(np.maximum(chance[np.arange(len(answer)), answer], LEAST)))


def one_power(panel: Panel) -> Panel:
    """The panel where all its items count as if they had as many labels as they have on average."""
    return Panel(panel.chance, panel.labels, np.full(len(panel.count), panel.count.mean()))


def row(table: Table, prior: Target) -> dict[str, Any]:
    """One table by the prior of the others, without known items and with some."""
    chance, answer = prior.to_target(table.panel), table.answer
    loss, shares = losses(chance, answer), losses(table.panel.shares, answer)
    right, sure = chance.argmax(axis=1) == answer, chance.max(axis=1)
    gain = loss - shares
    found: dict[str, Any] = {
        "table": table.name,
        "judges": table.judges,
        "shares": shares.mean(),
        "panel": losses(table.panel.chance, answer).mean(),
        "target": loss.mean(),
        "less shares, se": gain.mean() / (gain.std(ddof=1) / np.sqrt(len(gain))),
        "stated less right": sure.mean() - right.mean(),
        "P > .95 wrong": (~right[sure > 0.95]).mean() if (sure > 0.95).any() else 0.0,
    }
    for count in KNOWN:
        of_draw = []
        for seed in range(DRAWS):
            order = np.random.default_rng(seed).permutation(len(answer))
            some, rest = order[:count], order[count:]
            learned = prior.update(table.panel.select_rows(some), answer[some])
            of_draw.append(losses(learned.to_target(table.panel.select_rows(rest)), answer[rest]).mean())
        found[f"{count} known"] = np.mean(of_draw)
    return found


def main() -> None:
    every = list(tables())
    rows = []
    for table in every:
        others = [one for one in every if one.source != table.source]
        found = row(table, Target.from_prior(*moments(others)))
        alike = [one for one in others if one.judges == table.judges]
        found["own kind"] = losses(Target.from_prior(*moments(alike)).to_target(table.panel), table.answer).mean()
        flat = [one._replace(panel=one_power(one.panel)) for one in others]
        power = Target.from_prior(*moments(flat)).to_target(one_power(table.panel))
        found["one power"] = losses(power, table.answer).mean()
        rows.append({name: round(x, 3) if isinstance(x, float) else x for name, x in found.items()})
    mean = [name for name in rows[0] if name not in ("table", "judges", "less shares, se")]
    first = [one for one in rows if one["table"] in (*CROWDS, *MODELS)]
    rows.append(
        {"table": "mean of the first six", "judges": ""}
        | {name: round(float(np.mean([one[name] for one in first])), 3) for name in mean}
    )
    shipped = moments(every)
    show(
        "Labels: certainty about the target",
        rows,
        [
            "Log loss of classes that people know. shares: of labels, one more shared out evenly; panel: Bayes' rule; "
            "target: the default, by the prior of the other tables; own kind: of those with judges of the same kind "
            "alone (crowds, language models); one power: as if all items of a table had as many labels.",
            f"Known items update the same prior; means over {DRAWS} draws of them.",
            "The prior of all tables, which is shipped: log dependence has mean "
            f"{shipped[0]:.2f} and sd {shipped[1]:.2f}, the share is beta({shipped[2]:.2f}, {shipped[3]:.2f}).",
        ],
    )


if __name__ == "__main__":
    main()
