"""Ours as it comes: no option but the known items and the classes.

Of labels the classes of the items; of votes the strengths (over contexts, where things meet in several), known items
being one more judge's votes; of votes on pairs that share no items, some of them known, the preferences of people.
"""

from __future__ import annotations

import pandas as pd
from benchmarks.aggregators.methods import as_shown, by_strength, duels, sides

NAME = "voirdire"
USES_KNOWN = True


def answer(task):
    import voirdire

    linked = task.votes is not None and _linked(task)
    if task.votes is not None and (linked or task.known.empty):
        votes = duels(task)
        ranking = voirdire.fit(votes if linked else votes.drop(columns="context"), method="map").ranking()
        return by_strength(task, dict(zip(ranking["item"], ranking["score"], strict=True)))
    if task.votes is not None:
        people = task.questions.loc[task.known.index, ["first", "second"]].assign(winner=task.known)
        pairs = voirdire.fit(as_shown(task.votes).drop(columns="context"), method="map", anchors=people).pairs()
        p = pairs.set_index(["first", "second"])["p_first"]
        both = pd.concat([p, 1 - p.swaplevel()])
        return sides(task, both.loc[pd.MultiIndex.from_frame(task.questions[["first", "second"]])])
    return of_labels(task)


def of_labels(task):
    """Classes of the items from their labels; ties are answers, and no class."""
    import voirdire

    people = None if task.known.empty else task.known.rename("label").rename_axis("item").reset_index()
    labels = task.labels.drop_duplicates(["item", "judge"])
    levels = task.classes if task.ordered else None
    classes = None if {*labels["label"]} == {*task.classes} else task.classes
    found = voirdire.fit(labels, method="map", classes=classes, levels=levels, anchors=people).classes()
    found = found.set_index("item")[[f"p_{name}" for name in task.classes]].set_axis(task.classes, axis=1)
    return found.reindex(task.questions.index)


def _linked(task):
    """Whether a thing stands in two pairs."""
    pairs = task.questions[["first", "second"]].drop_duplicates()
    return bool(pd.concat([pairs["first"], pairs["second"]]).duplicated().any())


def ranking(votes):
    import voirdire

    return voirdire.fit(as_shown(votes), method="laplace").ranking().set_index("item")[["score", "sd"]]
