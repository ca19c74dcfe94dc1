"""Modes of tables that are hard to fit: few of many levels used, judges turned round, pure noise, perfect agreement."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer import Derivatives, find_mode
from voirdire.infer.search import search_minimum
from voirdire.kinds import encode_scores
from voirdire.model import load_model
from voirdire.tables import read_scores


def few_levels(seed: int, items: int) -> pd.DataFrame:
    """24 judges on ten levels, of which some use two or three; two judges are turned round."""
    rng = np.random.default_rng(seed)
    value, rows = rng.normal(size=items), []
    for judge in range(24):
        slope = rng.uniform(0.3, 2.0) * (-1 if judge in (3, 11) else 1)
        seen = slope * value + 0.5 * rng.logistic(size=items) + rng.uniform(-3.0, 1.5)
        score = np.clip(np.round(seen * rng.uniform(0.5, 2.5) + 1.0), 0, 9).astype(int)
        if judge % 6 == 2:
            score = np.where(score < 5, 0, 9)
        if judge % 7 == 4:
            score = np.minimum(score, 2)
        rows.append(_of(judge, np.arange(items), score))
    return pd.concat(rows, ignore_index=True)


def odd(
    seed: int,
    judges: int,
    items: int,
    levels: int,
    *,
    share: float = 1.0,
    each: int = 0,
    turned: int = 0,
    noise: Sequence[int] = (),
    constant: Sequence[int] = (),
    two_levels: Sequence[int] = (),
    skew: float = 0.0,
    spread: float = 1.0,
    coarse: int = 1,
    error: float = 0.5,
    copies: bool = False,
    criteria: int = 1,
) -> pd.DataFrame:
    """Judges of which the first are turned round and some say nothing, one thing, or only the ends of the scale.

    Every judge scores a ``share`` of the items, or every item has ``each`` judges.
    """
    rng, parts, top = np.random.default_rng(seed), [], levels - 1
    for criterion in range(criteria):
        value = spread * rng.normal(size=items)
        first = value + error * rng.logistic(size=items)
        for judge in range(judges):
            slope = 0.0 if judge in noise else rng.uniform(0.3, 2.0) * (-1 if judge < turned else 1)
            seen = first if copies else slope * value + error * rng.logistic(size=items)
            seen = (seen + rng.uniform(-1.0, 1.0) + skew) * rng.uniform(0.3, 1.2) * top / 4.0
            score = np.clip(np.round(0.5 * top + seen), 0, top).astype(int) // coarse * coarse
            if judge in two_levels:
                score = np.where(score < 0.5 * top, 0, top)
            if judge in constant:
                score = np.full(items, top if judge % 2 else 0)
            kept = rng.random(items) < share
            if each:
                kept = (judge - np.arange(items) * each) % judges < each
            part = _of(judge, np.flatnonzero(kept), score[kept])
            parts.append(part.assign(criterion=f"c{criterion}") if criteria > 1 else part)
    return pd.concat(parts, ignore_index=True)


def _of(judge: int, item: np.ndarray, score: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"judge": f"j{judge:02d}", "item": [f"i{i:04d}" for i in item], "score": score})


Table = tuple[int, Callable[[], pd.DataFrame]]  # levels, and what makes it

SMALL: dict[str, Table] = {
    "three judges": (3, lambda: odd(3, 3, 30, 3)),
    "one level each": (7, lambda: odd(8, 10, 200, 7, constant=(0, 1, 2, 3))),
    "one judge an item": (5, lambda: odd(13, 30, 150, 5, each=1)),
    "a hundred levels in tens": (100, lambda: odd(7, 6, 100, 100, coarse=10, noise=(1, 2), turned=1)),
    "half turned round": (10, lambda: odd(15, 12, 200, 10, turned=6)),
    "no error": (10, lambda: odd(17, 6, 150, 10, error=0.0)),
    "noise": (5, lambda: odd(9, 10, 300, 5, noise=range(10))),
    "nearly all at the top": (8, lambda: odd(14, 8, 300, 8, skew=6.0)),
}
LARGE: dict[str, Table] = {
    "few levels, 2,500 items": (10, lambda: few_levels(0, 2500)),
    "few levels, another panel": (10, lambda: few_levels(1, 2500)),
    "few levels, 5,000 items": (10, lambda: few_levels(2, 5000)),
    "three judges, 5,000 items": (5, lambda: odd(4, 3, 5000, 5, turned=1)),
    "a hundred levels, 3,000 items": (100, lambda: odd(5, 20, 3000, 100, turned=2, two_levels=(5, 6))),
    "a hundred levels, 200 items": (100, lambda: odd(6, 30, 200, 100, constant=(3,))),
    "24 judges guess": (10, lambda: odd(10, 24, 5000, 10, noise=range(24))),
    "25 of 30 guess": (10, lambda: odd(11, 30, 2000, 10, noise=range(25))),
    "two judges an item": (10, lambda: odd(12, 30, 4000, 10, each=2, turned=2)),
    "nearly all at the top, 3,000 items": (10, lambda: odd(14, 16, 3000, 10, skew=6.0)),
    "copies": (10, lambda: odd(16, 8, 1500, 10, copies=True)),
    "no error, 1,500 items": (10, lambda: odd(17, 12, 1500, 10, error=0.0)),
    "three criteria": (10, lambda: odd(19, 12, 1000, 10, criteria=3, turned=1, constant=(2,))),
    "a twentieth answered": (50, lambda: odd(20, 25, 3000, 50, share=0.05, two_levels=(3,), noise=(7,))),
}


def fitted(table: pd.DataFrame, levels: int, model: str = "rating-discrimination") -> voirdire.Fit:
    """The mode, found to its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        fit = voirdire.fit(table, model=model, method="map", levels=list(range(levels)))
    assert fit.checks().set_index("check").loc["convergence", "level"] == "ok"
    assert np.isfinite(fit.ranking()["score"]).all()
    return fit


QUICK = ("three judges", "one judge an item", "nearly all at the top")  # for a search without second derivatives


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_modes_of_small_odd_tables(name: str) -> None:
    levels, make = SMALL[name]
    fitted(make(), levels)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in SMALL]
)
def test_modes_of_small_odd_tables_are_the_highest_that_a_plain_search_finds(name: str) -> None:
    levels, make = SMALL[name]
    model, scores = load_model("rating-discrimination"), read_scores(make())
    problem = encode_scores(model, scores, levels=list(range(levels)))
    mode, density = find_mode(problem), problem.density
    plain = Derivatives(density, problem.data)
    plain.closed_form = None  # the density as it is written, and a search that knows its gradient alone
    ends = [search_minimum(plain.value_gradient, start, max_iterations=400) for start in density.starts(problem.data)]
    assert mode.log_density >= -min(end.value for end in ends) - 1e-6
    assert np.abs(plain.value_gradient(mode.x)[1]).max() < 1e-5


@pytest.mark.slow
def test_judges_that_are_turned_round_are_found() -> None:
    table = few_levels(4, 300)
    discrimination = fitted(table, 10).judges().set_index("judge")["discrimination"]
    assert (discrimination < -0.1).sum() == 2
    assert set(discrimination.index[discrimination < 0]) == {"j03", "j11"}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["rating-severity", "rating-cutpoints", pytest.param("rating-maple", marks=pytest.mark.slow)]
)
def test_other_models_of_levels_take_odd_tables(model: str) -> None:
    for levels, make in SMALL.values():
        fitted(make(), levels, model)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_modes_of_large_odd_tables(name: str) -> None:
    levels, make = LARGE[name]
    fitted(make(), levels)
