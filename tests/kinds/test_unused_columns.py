"""Columns of a table that a named model leaves out: a note says which, and what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire

VOTES = pd.DataFrame(
    [
        (judge, *pair, context, pair[(place + len(judge + context)) % 2])
        for judge in ("ann", "bob")
        for place, context in enumerate("pqr")
        for pair in (("x", "y"), ("y", "z"), ("z", "x"))
    ],
    columns=["judge", "first", "second", "context", "winner"],
)
RATED = pd.DataFrame(
    [
        (judge, group, item, context, run, 1 + (ord(item) + ord(context) * run + len(group)) % 4)
        for judge, group in (("ann", "old"), ("bob", "younger"))
        for context in "pqr"
        for item in "xyz"
        for run in (1, 2)
    ],
    columns=["judge", "group", "item", "context", "run", "score"],
)
LABELS = RATED.rename(columns={"score": "label"}).assign(label=lambda t: "c" + t["label"].astype(str))
RANKED = pd.DataFrame(
    [(judge, item, context, 1 + place) for judge in "ab" for context in "pq" for place, item in enumerate("xyz")],
    columns=["judge", "item", "context", "rank"],
)


def unused(table: pd.DataFrame, **asked: Any) -> dict[str, str]:
    """Notes by the column that they are about."""
    notes = voirdire.fit(table, method="map", **asked).notes
    return {note.split()[1]: note for note in notes if "is not part of model" in note}


@pytest.mark.parametrize(
    ("table", "model", "columns"),
    [
        (VOTES, "crowd-bt", {"context"}),
        (VOTES.assign(time=range(len(VOTES))), "bradley-terry", {"context", "time"}),
        (VOTES, "crowd-bt-contexts", set()),
        (RATED, "rating-severity", {"context", "run"}),
        (RATED, "rating-contexts", {"run"}),
        (RATED, "rating-continuous", {"context", "run"}),
        (LABELS, "hierarchical-dawid-skene", {"context", "run"}),
        (LABELS.drop(columns="run").assign(time=np.arange(36.0)), "one-coin-label", {"context", "time"}),
        (RANKED, "plackett-luce", {"context"}),
        (RANKED, "plackett-luce-contexts", set()),
    ],
)
def test_a_named_model_says_what_it_leaves_out(table: pd.DataFrame, model: str, columns: set[str]) -> None:
    found = unused(table, model=model)
    assert set(found) == columns
    if "context" in columns:
        assert f"({table['context'].nunique()} values) is not part of model {model}" in found["context"]
        assert "intervals are too narrow for other contexts" in found["context"]
        assert ("terms=" in found["context"]) == ("label" not in table)


def test_a_sum_says_so_too_and_a_term_of_the_column_ends_it() -> None:
    assert set(unused(RATED, terms="item + judge")) == {"context", "run"}
    assert set(unused(RATED, terms="item + item:context + judge:run")) == set()
    assert set(unused(RATED, terms="item + item:context + judge:time")) == set()


def test_columns_that_say_nothing_are_not_named() -> None:
    """One value alone; contexts of which each has its own items."""
    once = RATED[RATED["run"] == 1]
    assert not unused(once[once["context"] == "p"], model="rating-severity")
    own = once.assign(item=once["item"] + once["context"])
    assert not unused(own, model="rating-severity")
    apart = VOTES.assign(**{name: VOTES[name] + VOTES["context"] for name in ("first", "second", "winner")})
    one = pd.concat([apart, apart.head(3).assign(first="xp", second="yp", winner="xp", context="p")])
    assert "context" not in unused(one, model="crowd-bt")


def test_votes_and_scores_together_say_it_once() -> None:
    scores = RATED[["judge", "item", "context", "score"]]
    notes = voirdire.fit([VOTES, scores], model="joint-severity", method="map").notes
    assert sum("Column context (3 values) is not part of model joint-severity" in note for note in notes) == 1


def test_spreads_of_votes_without_contexts_are_in_json() -> None:
    found = voirdire.fit(VOTES.drop(columns="context"), model="learned-crowd-bt", method="map").as_dict()
    assert "over" not in found
    assert next(row["name"] for row in found["spreads"]) == "item"
