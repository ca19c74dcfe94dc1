"""Terms of which a table says nothing, and such as no model has, are refused with the reason, of whatever kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError

RNG = np.random.default_rng(0)
SCORES = pd.DataFrame(
    [(j, i, c, r, RNG.normal(), RNG.integers(1, 6)) for j in "abc" for i in "xyz" for c in "pq" for r in (1, 2)],
    columns=["judge", "item", "context", "run", "length", "score"],
)
RANKINGS = pd.DataFrame(
    [
        (j, c, i, rank, RNG.normal())
        for j in "abc"
        for c in "pqrs"
        for rank, i in enumerate(RNG.permutation(list("xyz")))
    ],
    columns=["judge", "context", "item", "rank", "length"],
)
VOTES = pd.DataFrame(
    [(j, "x", second, winner) for j in "abc" for second in "yz" for winner in ("first", "second")],
    columns=["judge", "first", "second", "winner"],
)
ALONE = {"a": "one", "b": "two", "c": "three"}


@pytest.mark.parametrize("table", [SCORES, RANKINGS, VOTES], ids=["scores", "rankings", "votes"])
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"terms": ["item", "judge:item"]}, r"terms=\['item', 'judge:item'\] is no text"),
        ({"terms": "Item + judge"}, "no term item; did you mean 'item'"),
        ({"terms": "item - length"}, r"write \+ between terms and ':' between the names of a term"),
        ({"by": ["context"]}, r"by=\['context'\] is no name of a column"),
        ({"by": "context"}, r"by= \(--by\): contexts\(\) \(--contexts --json\) has the results of items in each"),
        ({"by": "nope"}, r"by= \(--by\): the \w+ have no column 'nope'; further columns are"),
        ({"terms": "item + item:context", "by": "context"}, r"contexts\(\) \(--contexts --json\)|no column context"),
    ],
)
def test_what_is_no_sum_of_terms(table: pd.DataFrame, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        voirdire.fit(table, method="map", **asked)


@pytest.mark.parametrize("table", [SCORES, RANKINGS], ids=["scores", "rankings"])
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"terms": "item + group:item"}, "no column 'group'"),
        ({"terms": "item + family:item"}, "family"),
        ({"terms": "item + family:length"}, "family"),
        ({"terms": "item + own-family"}, "own-family needs families=, item_families="),
        ({"by": "item"}, r"by= \(--by\): models separate answers by 'item' already"),
        ({"by": "judge"}, r"by= \(--by\): models separate answers by 'judge' already"),
        ({"covariates": ["judge"]}, "'judge' is one of the columns that say who answered what"),
        ({"covariates": ["item", "length"]}, "'item' is one of the columns that say who answered what"),
    ],
)
def test_what_a_table_says_nothing_of(table: pd.DataFrame, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        voirdire.fit(table, method="map", **asked)


@pytest.mark.parametrize("table", [SCORES[SCORES["run"] == 1], RANKINGS.assign(run=1)], ids=["scores", "rankings"])
@pytest.mark.parametrize("name", ["run", "criterion"])
def test_a_factor_of_one_level(table: pd.DataFrame, name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is the same in every row"):
        voirdire.fit(table.assign(criterion="c"), terms=f"item + judge:item:{name}", method="map")


@pytest.mark.parametrize(
    ("families", "said"),
    [(None, "needs families="), (ALONE, "no family has several judges"), ({"a": "one", "b": "one"}, None)],
)
@pytest.mark.parametrize("term", ["family:item", "family:length", "family:judge:item"])
def test_families_of_judges_in_a_term_must_be_known(families: Any, said: str | None, term: str) -> None:
    if said is None:
        found = voirdire.fit(SCORES, terms=f"item + {term}", families=families, method="map")
        assert ("family" if term == "family:item" else term) in found.spreads()["name"].tolist()
        return
    with pytest.raises(InputError, match=said):
        voirdire.fit(SCORES, terms=f"item + {term}", families=families, method="map")


def test_numbers_alike_for_all_items_of_each_ranking() -> None:
    table = RANKINGS.assign(when=RANKINGS["context"].map({c: n for n, c in enumerate("pqrs")}))
    for asked in ({"terms": "item + when"}, {"terms": "item + judge:when"}, {"covariates": ["when"]}):
        with pytest.raises(InputError, match="when is the same for all items of a ranking"):
            voirdire.fit(table, method="map", **asked)
    assert "item:when" in voirdire.fit(table, terms="item + item:when", method="map").spreads()["name"].tolist()


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (SCORES, "judge, item, context, run, time, length"),
        (SCORES.assign(time=range(len(SCORES)), group="g"), "judge, item, context, run, time, group, length"),
        (RANKINGS, "judge, item, context, length"),
        (VOTES, "judge, item, position"),
        (
            VOTES.assign(chars_first=1.0, chars_second=range(len(VOTES)), topic="t"),
            "judge, item, position, chars, topic",
        ),
    ],
    ids=["scores", "scores with time", "rankings", "votes", "votes with columns"],
)
def test_a_name_that_no_column_has_is_answered_by_those_that_there_are(table: pd.DataFrame, names: str) -> None:
    with pytest.raises(InputError, match=f"no column 'nosuch'; terms of this table may name {names}$"):
        voirdire.fit(table, terms="item + nosuch", method="map")
    *_, last = names.split(", ")
    with pytest.raises(InputError, match=f"; did you mean '{last}'"):
        voirdire.fit(table, terms=f"item + {last}s", method="map")


@pytest.mark.parametrize("table", [SCORES, RANKINGS, VOTES], ids=["scores", "rankings", "votes"])
def test_a_term_that_every_model_has_needs_its_column_too(table: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="'criterion' is the same in every row of the"):
        voirdire.fit(table, terms="item + item:criterion", method="map")
    with pytest.raises(InputError, match="no column 'group'"):
        voirdire.fit(table, terms="item + group", method="map")


def test_runs_of_votes_are_called_their_times() -> None:
    votes = VOTES.assign(run=range(len(VOTES)))
    with pytest.raises(InputError, match="runs of votes are the times of their answers; name time"):
        voirdire.fit(votes, terms="item + item:run", method="map")
    assert "item:time" in voirdire.fit(votes, terms="item + item:time", method="map").spreads()["name"].tolist()
    notes = voirdire.fit(votes, model="bradley-terry", method="map").notes
    assert any("Column time or run (12 values) is not part of model bradley-terry" in note for note in notes)


def test_an_empty_cell_is_not_called_a_column_of_one_value() -> None:
    table = SCORES.assign(flag=["yes", None] * (len(SCORES) // 2))
    with pytest.raises(InputError, match=r"^terms of scores: rows .* flag is empty$"):
        voirdire.fit(table, terms="item + flag", method="map")
