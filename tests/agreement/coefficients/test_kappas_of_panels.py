"""Fleiss' kappa with weights and of counts, Conger's kappa: by their definitions, and by other software."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

import voirdire
from voirdire.agreement.coefficients.panel import Scheme, agreement_weights, fleiss_kappa
from voirdire.agreement.coefficients.ratings import Ratings, ratings_from_matrix
from voirdire.agreement.coefficients.two import cohen_kappa, conger_kappa
from voirdire.errors import InputError

LEVELS = [1, 2, 4]
SCHEMES: list[Scheme] = ["identity", "linear", "quadratic", "ordinal"]
complete = st.integers(2, 4).flatmap(
    lambda judges: st.lists(
        st.lists(st.sampled_from(LEVELS), min_size=judges, max_size=judges), min_size=2, max_size=10
    )
)
gappy = st.integers(2, 4).flatmap(
    lambda judges: st.lists(
        st.lists(st.sampled_from([*LEVELS, None]), min_size=judges, max_size=judges), min_size=2, max_size=10
    )
)


def ratings_of(rows: list[list[int | None]]) -> Ratings:
    return ratings_from_matrix(rows, levels=LEVELS)


def value(statistic: Any) -> float:
    fixed = statistic.fixed() if hasattr(statistic, "fixed") else statistic
    return float(fixed.values(np.ones((1, len(fixed.support))))[0])


def same(a: float, b: float) -> bool:
    return bool(np.isclose(a, b, rtol=0, atol=1e-9, equal_nan=True))


def by_definition(rows: list[list[int | None]], scheme: Scheme, columns: list[int], *, conger: bool) -> float:
    """Pair by pair of judges, a judge who stands twice among the columns not being compared with itself."""
    weight = agreement_weights(scheme, len(LEVELS), np.array(LEVELS, float))
    pairs = [(g, h) for g, h in combinations(range(len(columns)), 2) if columns[g] != columns[h]]
    codes = [[None if row[c] is None else LEVELS.index(row[c]) for c in columns] for row in rows]
    agreed = []
    for row in codes:
        both = [weight[row[g], row[h]] for g, h in pairs if row[g] is not None and row[h] is not None]
        agreed += [np.mean(both)] if both else []
    if not agreed:
        return float("nan")
    if conger:
        shares = []
        for given_by in zip(*codes, strict=True):
            counts = np.array([given_by.count(level) for level in range(len(LEVELS))], float)
            shares.append(counts / counts.sum() if counts.sum() else None)
        chance = [shares[g] @ weight @ shares[h] for g, h in pairs if shares[g] is not None and shares[h] is not None]
        expected = float(np.mean(chance))
    else:
        of_units = [
            np.mean([np.arange(len(LEVELS)) == code for code in row if code is not None], axis=0)
            for row in codes
            if any(code is not None for code in row)
        ]
        pi = np.mean(of_units, axis=0)
        expected = float(pi @ weight @ pi)
    return float("nan") if expected > 1 - 1e-12 else (float(np.mean(agreed)) - expected) / (1 - expected)


@given(gappy, st.sampled_from(SCHEMES))
def test_both_are_what_their_definitions_say(rows: list[list[int | None]], scheme: Scheme) -> None:
    columns = list(range(len(rows[0])))
    for make, conger in ((fleiss_kappa, False), (conger_kappa, True)):
        ours = value(make(ratings_of(rows), scheme))
        assert same(ours, by_definition(rows, scheme, columns, conger=conger)), make


@given(gappy, st.sampled_from(SCHEMES), st.data())
def test_a_judge_drawn_twice_is_not_compared_with_itself(
    rows: list[list[int | None]], scheme: Scheme, data: st.DataObject
) -> None:
    judges = len(rows[0])
    drawn = data.draw(st.lists(st.integers(0, judges - 1), min_size=judges, max_size=judges))
    v = np.bincount(drawn, minlength=judges).astype(float)
    for make, conger in ((fleiss_kappa, False), (conger_kappa, True)):
        ours = float(make(ratings_of(rows), scheme).two_way(np.ones((1, len(rows))), v[None])[0])
        if len(set(drawn)) > 1:
            assert same(ours, by_definition(rows, scheme, sorted(drawn), conger=conger)), make
        else:
            assert np.isnan(ours)


@given(complete, st.sampled_from(SCHEMES[:3]))
def test_congers_of_two_judges_is_cohens(rows: list[list[int | None]], scheme: Scheme) -> None:
    pair = ratings_of([row[:2] for row in rows])
    assert same(value(conger_kappa(pair, scheme)), value(cohen_kappa(pair, scheme)))


@given(complete)
def test_congers_is_not_below_fleiss_by_its_definition(rows: list[list[int | None]]) -> None:
    # the shares of all answers agree by chance at least as often as the judges' own do two by two
    fleiss, conger = value(fleiss_kappa(ratings_of(rows))), value(conger_kappa(ratings_of(rows)))
    assert np.isnan(fleiss) or conger >= fleiss - 1e-12


def expanded(counts: np.ndarray, answers: list[str]) -> pd.DataFrame:
    """Labels of a table of counts, item by answer: its raters have no names, so they are numbered by item."""
    rows = [
        (f"rater {n}", f"item {item}", answer)
        for item, row in enumerate(counts)
        for n, answer in enumerate(np.repeat(answers, row))
    ]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


@pytest.mark.parametrize("seed", range(8))
def test_fleiss_of_counts_is_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers = ["neg", "neu", "pos", "unsure"][: 2 + seed % 3]
    counts = rng.multinomial(3 + seed, rng.dirichlet(np.ones(len(answers)), 12))
    row = voirdire.agreement(expanded(counts, answers), measures="fleiss_kappa", pairs=False, resamples=50).iloc[0]
    assert row["value"] == pytest.approx(statsmodels_fleiss(counts), abs=1e-12)
    # which rating is called the first does not matter
    shuffled = expanded(counts, answers).sample(frac=1, random_state=seed)
    shuffled["judge"] = "rater " + shuffled.groupby("item").cumcount().astype(str)
    again = voirdire.agreement(shuffled, measures="fleiss_kappa", pairs=False, resamples=50).iloc[0]
    assert again["value"] == pytest.approx(row["value"], abs=1e-12)
    assert (again["low"], again["high"]) == (pytest.approx(row["low"]), pytest.approx(row["high"]))


def test_words_take_an_order_before_they_take_weights() -> None:
    table = expanded(np.array([[2, 1, 0], [0, 3, 0], [1, 1, 1]]), ["neg", "ind", "pos"])
    for measure in ("fleiss_kappa_linear", "conger_kappa_quadratic"):
        with pytest.raises(InputError, match=f"{measure} needs the order of the answers .*; declare it by levels"):
            voirdire.agreement(table, measures=measure)
    found = voirdire.agreement(
        table, measures=["fleiss_kappa_linear", "conger_kappa_quadratic"], levels=["neg", "ind", "pos"], pairs=False
    )
    assert found["value"].notna().all()
