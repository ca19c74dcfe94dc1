"""What a fit must not depend on: names, the order of rows, how a table was cut, which item was shown first.

Every judge gives every answer to every ordered pair at least once, so that all tables have one shape and share their
compilations; how often is drawn, with the later letter winning most of the time, so that there is one mode to find.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from voirdire import Fit, fit
from voirdire.model import load_model

ITEMS, JUDGES, OUTCOMES = ["w", "x", "y"], ["ann", "bob"], ["first", "second", "tie"]
CELLS = [(j, f, s, o) for j in JUDGES for f in ITEMS for s in ITEMS if f != s for o in OUTCOMES]
ONE_COIN, TWO_COIN = "crowd-bt", "crowd-bt-position"
SHIFT = "bt-sigma-position"
MODELS = ["bradley-terry", ONE_COIN, TWO_COIN, SHIFT]

BASE = [8 if outcome == ("first" if first > second else "second") else 1 for _, first, second, outcome in CELLS]

counts = st.lists(st.integers(0, 4), min_size=len(CELLS), max_size=len(CELLS))
few = settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])


def table(numbers: list[int]) -> pd.DataFrame:
    rows = [cell for cell, base, more in zip(CELLS, BASE, numbers, strict=True) for _ in range(base + more)]
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


def fitted(votes: pd.DataFrame, model: str, priors: Any = None) -> Fit:
    # duplicate judges, whom more votes make clearer, are left alone
    return fit(votes, model=model, method="map", priors=priors, families={})


def values(result: Fit) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in result.posterior.central_values.items()}


def assert_same(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> None:
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        # two searches end within the tolerance of the gradient, 1e-6, over a curvature of 0.05 or more
        np.testing.assert_allclose(value, theirs[name], atol=1e-4, err_msg=name)


def reordered(found: dict[str, np.ndarray], items: list[int], judges: list[int]) -> dict[str, np.ndarray]:
    """The same estimates with item i and judge k moved to the places that their new names sort to."""
    return {
        name: value[..., items] if name == "strength" else value[judges] if value.shape else value
        for name, value in found.items()
    }


@pytest.mark.parametrize("model", MODELS)
@few
@given(numbers=counts, items=st.permutations(range(3)), judges=st.permutations(range(2)))
def test_names_do_not_matter(model: str, numbers: list[int], items: list[int], judges: list[int]) -> None:
    votes = table(numbers)
    new_item = {name: f"item {items[place]}" for place, name in enumerate(ITEMS)}
    new_judge = {name: f"judge {judges[place]}" for place, name in enumerate(JUDGES)}
    renamed = votes.assign(
        judge=votes["judge"].map(new_judge), first=votes["first"].map(new_item), second=votes["second"].map(new_item)
    )
    back_items, back_judges = [items.index(place) for place in range(3)], [judges.index(k) for k in range(2)]
    expected = reordered(values(fitted(votes, model)), back_items, back_judges)
    assert_same(values(fitted(renamed, model)), expected)


@pytest.mark.parametrize("model", MODELS)
@few
@given(numbers=counts, seed=st.integers(0, 2**32 - 1), cut=st.integers(1, 30))
def test_the_order_of_rows_and_the_cut_of_the_table_do_not_matter(
    model: str, numbers: list[int], seed: int, cut: int
) -> None:
    votes = table(numbers)
    shuffled = votes.sample(frac=1, random_state=np.random.default_rng(seed))
    joined = pd.concat([shuffled[cut:], shuffled[:cut]], ignore_index=True)
    ours, theirs = fitted(votes, model), fitted(joined, model)
    # the counts are the same integers, so the answer is the same to the last bit
    np.testing.assert_array_equal(ours.posterior.centre, theirs.posterior.centre)
    np.testing.assert_array_equal(ours.problem.judge_votes, theirs.problem.judge_votes)


def swapped(votes: pd.DataFrame) -> pd.DataFrame:
    """Every pair shown the other way round, with the same item winning."""
    other = {"first": "second", "second": "first", "tie": "tie"}
    return votes.assign(first=votes["second"], second=votes["first"], winner=votes["winner"].map(other))


@pytest.mark.parametrize("model", ["bradley-terry", ONE_COIN, "bt-sigma"])
@few
@given(numbers=counts)
def test_without_position_effects_it_does_not_matter_who_was_shown_first(model: str, numbers: list[int]) -> None:
    votes = table(numbers)
    ours, theirs = fitted(votes, model), fitted(swapped(votes), model)
    np.testing.assert_array_equal(ours.posterior.centre, theirs.posterior.centre)


@few
@given(numbers=counts)
def test_swapping_turns_position_bias_round_and_nothing_else(numbers: list[int]) -> None:
    votes = table(numbers)
    ours, theirs = (fitted(each, TWO_COIN) for each in (votes, swapped(votes)))
    exchanged = values(theirs)
    exchanged |= {"coin_first": exchanged["coin_second"], "coin_second": exchanged["coin_first"]}
    assert_same(values(ours), exchanged)
    left, right = ours.judges(), theirs.judges()
    np.testing.assert_allclose(left["reliability"], right["reliability"], atol=1e-5)
    np.testing.assert_allclose(left["position_bias"], -right["position_bias"], atol=1e-5)
    np.testing.assert_allclose(left["first_rate"] - 0.5, 0.5 - right["first_rate"], atol=1e-5)


@few
@given(numbers=counts)
def test_swapping_turns_shifts_round_and_nothing_else(numbers: list[int]) -> None:
    votes = table(numbers)
    ours, theirs = (fitted(each, SHIFT) for each in (votes, swapped(votes)))
    exchanged = values(theirs)
    assert_same(values(ours), exchanged | {"shift": -exchanged["shift"]})
    left, right = ours.judges(), theirs.judges()
    np.testing.assert_allclose(left["position_bias"], -right["position_bias"], atol=1e-5)


def halved(model: str) -> dict[str, dict[str, float]]:
    """The prior whose log density is half the model's, up to a constant: sd times sqrt 2, a and b halved."""
    spec = load_model(model)
    out: dict[str, dict[str, float]] = {}
    for name in ("strength", "reliability", "ties"):
        numbers = getattr(spec, name).numbers
        out[name] = {key: value * np.sqrt(2.0) for key, value in numbers.items() if key.endswith("sd")}
        out[name] |= {key: numbers[key] / 2 for key in ("a", "b") if key in numbers}
        if "reversed" in numbers:
            out[name]["reversed"] = 0.0
    return out


@pytest.mark.parametrize("model", MODELS)
@few
@given(numbers=counts)
def test_every_vote_twice_is_half_the_prior(model: str, numbers: list[int]) -> None:
    """log L^2 p = 2 (log L + (log p) / 2): the mode under doubled votes is that of a prior of half the weight."""
    votes = table(numbers)
    coins = load_model(model).reliability.numbers
    plain = {"reliability": {"reversed": 0.0}} if "reversed" in coins else None
    twice = fitted(pd.concat([votes, votes]), model, plain)
    once = fitted(votes, model, halved(model))
    assert twice.problem.judge_votes.sum() == 2 * once.problem.judge_votes.sum()
    assert_same(values(twice), values(once))


@few
@given(numbers=counts)
def test_winners_may_be_named_or_told_by_position(numbers: list[int]) -> None:
    votes = table(numbers)
    named = votes["winner"].where(votes["winner"] != "first", votes["first"])
    named = named.where(votes["winner"] != "second", votes["second"])
    ours, theirs = fitted(votes, TWO_COIN), fitted(votes.assign(winner=named), TWO_COIN)
    np.testing.assert_array_equal(ours.posterior.centre, theirs.posterior.centre)
