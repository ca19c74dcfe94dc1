"""Trust checks of scores: dependence, duplicate judges, families, influence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds.scores.residuals import score_residuals
from voirdire.trust.checks import judges_changing_first

Simulate = Callable[..., tuple[pd.DataFrame, pd.DataFrame]]
LEVELS = [1, 2, 3, 4, 5]


@pytest.fixture(scope="module")
def scores(simulate: Simulate) -> pd.DataFrame:
    return simulate(np.zeros(7), 60, seed=3)[0].drop(columns=["run", "criterion"])


def with_copies(scores: pd.DataFrame, count: int) -> pd.DataFrame:
    own = scores[scores["judge"] == "judge-0"]
    return pd.concat([scores, *(own.assign(judge=f"copy-{n}") for n in range(count))])


def fitted(table: pd.DataFrame, **how: object) -> voirdire.Fit:
    return voirdire.fit(table, levels=LEVELS, method="map", **how)


def test_independent_judges_are_left_alone(scores: pd.DataFrame) -> None:
    found = fitted(scores)
    assert not [note for note in found.notes if note.startswith("Duplicate judges")]
    assert found.checks().set_index("check").loc["dependence", "level"] == "ok"


def test_duplicates_are_found_and_count_for_less(scores: pd.DataFrame) -> None:
    found = fitted(with_copies(scores, 2))
    note = next(note for note in found.notes if note.startswith("Duplicate judges"))
    assert "copy-0, copy-1, judge-0" in note
    answer_weight = dict(zip(found.problem.judges, found.problem.answer_weight, strict=True))
    assert answer_weight["copy-0"] < 0.6
    assert answer_weight["judge-1"] == 1.0
    taken = fitted(with_copies(scores, 2), families={})
    assert taken.checks().set_index("check").loc["dependence", "level"] != "ok"
    # weighed duplicates say less than copies taken as judges
    alone = fitted(scores).ranking().set_index("item")["score"].sort_index()
    apart = [
        float(np.abs(fit.ranking().set_index("item")["score"].sort_index() - alone).mean()) for fit in (found, taken)
    ]
    assert apart[0] < 0.6 * apart[1]


def graded(seed: int, items: int = 60) -> pd.DataFrame:
    """Seven judges alike, of whom two take the first one's score of 95 items in 100."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(0.0, 1.5, items) - rng.normal(0.0, 0.7, (7, 1)) + rng.logistic(size=(7, items))
    score = 1 + (seen[..., None] > [-2.5, -0.8, 0.8, 2.5]).sum(axis=-1)
    for copy in (1, 2):
        score[copy] = np.where(rng.random(items) < 0.95, score[0], score[copy])
    rows = [(f"j{k}", f"i{n}", int(score[k, n])) for k in range(7) for n in range(items)]
    return pd.DataFrame(rows, columns=["judge", "item", "score"])


def test_copies_are_found_where_they_would_be_the_sharpest_judges() -> None:
    """Counting in full they are the consensus of a model that learns discriminations, and share nothing beside it."""
    for seed in range(4):
        found = fitted(graded(seed), model="rating-discrimination")
        assert found.problem.answer_weight is not None
        assert (found.problem.answer_weight[:3] < 0.6).all()
        assert (found.problem.answer_weight[3:] == 1.0).all()
        judges = found.judges().set_index("judge")["discrimination"]
        assert judges[:3].mean() < 1.3 * judges[3:].mean()


def with_noise(scores: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    random = scores["judge"] == "judge-6"
    drawn = rng.integers(1, 6, int(random.sum()))
    return scores.assign(score=scores["score"].mask(random, pd.Series(drawn, scores.index[random])))


@pytest.mark.parametrize("model", ["rating-learned", pytest.param("rating-halo", marks=pytest.mark.slow)])
def test_a_judge_at_random_counts_nearly_not_at_all_and_is_named(scores: pd.DataFrame, model: str) -> None:
    table = with_noise(scores)
    if model == "rating-halo":
        table = pd.concat([table.assign(criterion="a"), with_noise(scores, 2).assign(criterion="b")])
    found = fitted(table)
    assert found.model.name == model
    assert found.problem.answer_weight is not None
    assert found.problem.answer_weight[-1] < 0.1
    assert (found.problem.answer_weight[:-1] == 1.0).all()
    (note,) = (note for note in found.notes if note.startswith("Noise"))
    assert "judge-6" in note
    check = found.checks().set_index("check").loc["noise"]
    assert (check["level"], "judge-6" in check["message"]) == ("warn", True)
    # as if it were not there
    score = found.ranking().set_index("item")["score"].sort_index()
    without, full = (
        fitted(part, **how).ranking().set_index("item")["score"].sort_index()
        for part, how in ((table[table["judge"] != "judge-6"], {}), (table, {"families": {}}))
    )
    assert np.abs(score - without).mean() < 0.3 * np.abs(score - full).mean()


def test_no_judge_counts_for_less_who_may_be_of_use(scores: pd.DataFrame) -> None:
    for found in (fitted(scores), fitted(with_noise(scores), model="rating-discrimination")):
        assert found.problem.answer_weight is None


def test_families_count_for_less_as_named_and_kept(scores: pd.DataFrame, tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = fitted(with_copies(scores, 1), families={"judge-0": "base", "copy-0": "base"})
    assert found.families is not None
    assert found.families["copy-0"] == "base"
    again = voirdire.load(found.save(tmp_path / "run"))
    assert again.as_dict() == found.as_dict()
    np.testing.assert_array_equal(again.problem.answer_weight, found.problem.answer_weight)


@pytest.mark.slow
def test_residuals_have_mean_zero_and_the_variance_that_is_stated(simulate: Simulate) -> None:
    """At the true parameters z = r / sqrt(v) has mean 0 and variance 1, also with what a judge makes of an item."""
    table, _ = simulate(np.zeros(6), 200, seed=4, runs=2, judge_item=0.8)
    found = fitted(table.drop(columns="criterion"), families={})
    left = score_residuals(found.problem, found.posterior)
    z = left.r[0] / np.sqrt(left.v[0])
    # 1,200 residuals: a mean has an error of 0.03; 206 fitted parameters take a sixth of the variance
    assert abs(z.mean()) < 0.1
    assert 0.7 < (z**2).mean() < 1.05


def test_a_judge_who_decides_what_is_first_is_found(scores: pd.DataFrame) -> None:
    """Ten scores of one judge for the second item lift it to the top."""
    two = scores[scores["item"].isin([f"item-{n:03d}" for n in range(12)])]
    first, second = fitted(two).ranking()["item"].head(2)
    top = two.assign(score=two["score"].where(~two["item"].isin([first, second]), 4))
    # all give both the same score but one, who gives the second a better one
    top.loc[(top["item"] == second) & (top["judge"] == "judge-6"), "score"] = 5
    found = voirdire.fit(top, levels=LEVELS)
    assert found.ranking()["item"].iloc[0] == second
    changers = dict(judges_changing_first(found.problem, found.posterior))
    assert set(changers) <= {"judge-6"}
    assert "influence" in set(found.checks()["check"])
