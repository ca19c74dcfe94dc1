"""Judges that score alike on a continuous scale: shared errors are unbiased, copies are found, independence is not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.infer import Posterior
from voirdire.kinds import ScoresProblem, encode_scores
from voirdire.kinds.scores.residuals import shared_errors
from voirdire.model import load_model
from voirdire.tables import read_scores
from voirdire.trust.dependence import most_alike, pairwise_dependence
from voirdire.trust.families import shared_error_families
from voirdire.trust.residuals import SharedErrors


def table(errors: np.ndarray, sd: float, seed: int) -> pd.DataFrame:
    """Scores from 1 to 5 of every judge for every item, with the errors (judges, items) given in parts of the scale."""
    rng = np.random.default_rng(seed)
    judges, items = errors.shape
    y = rng.normal(0.0, sd, items) - rng.normal(0.0, 0.05, judges)[:, None] + errors
    score = 3 + 4 * np.clip(y, -0.5, 0.5)
    rows = [(f"j{k}", f"i{n:03d}", score[k, n]) for k in range(judges) for n in range(items)]
    return pd.DataFrame(rows, columns=["judge", "item", "score"])


def noisy(noise: list[float], items: int, seed: int) -> np.ndarray:
    return np.array(noise)[:, None] * np.random.default_rng(seed).normal(size=(len(noise), items))


def found(scores: pd.DataFrame) -> tuple[ScoresProblem, SharedErrors]:
    """What judges share, before any search."""
    problem = encode_scores(load_model("rating-continuous"), read_scores(scores), levels=[1, 5])
    start = problem.density.starts(problem.data)[0]
    return problem, shared_errors(problem, Posterior(problem.density, start, None))


def fitted(scores: pd.DataFrame, **how: object) -> voirdire.Fit:
    return voirdire.fit(scores, model="rating-continuous", levels=[1, 5], method="map", **how)


def with_copies(noise: list[float], count: int, apart: float, items: int, seed: int) -> pd.DataFrame:
    own = noisy(noise, items, seed)
    copies = own[0] + noisy([apart] * count, items, seed + 500)
    return table(np.concatenate([own, copies]), 0.2, seed)


def test_the_covariance_of_two_judges_errors_is_found_without_bias() -> None:
    """4,000 items of judges of very different noise, two of whom share a part of their errors."""
    errors = noisy([0.03, 0.05, 0.08, 0.12, 0.15], 4000, seed=1)
    shared = noisy([0.04], 4000, seed=2)[0]
    errors[[1, 3]] += shared
    _, left = found(table(errors, 0.1, seed=3))
    t, variance, scale = left.pair_statistics()
    z = t / np.sqrt(np.where(variance > 0, variance, 1.0))
    covariance = 0.04**2 / np.sqrt((0.05**2 + 0.04**2) * (0.12**2 + 0.04**2))
    # shared by the two alone; of a pair with one of them, it is part of the others' mean square
    rho = t / np.where(scale > 0, scale, 1.0)
    assert rho[1, 3] == pytest.approx(covariance, abs=0.04)
    assert z[1, 3] > 8
    independent = found(table(noisy([0.03, 0.05, 0.08, 0.12, 0.15], 4000, seed=4), 0.1, seed=5))[1]
    t, variance, _ = independent.pair_statistics()
    pairs = np.triu_indices(5, 1)
    assert np.abs(t[pairs] / np.sqrt(variance[pairs])).max() < 3.0  # ten standard normals


def test_independent_judges_are_left_alone() -> None:
    """60 panels of 4 to 10 judges of all noises, with missing scores and ends: alarms in 1% of them expected."""
    rng = np.random.default_rng(0)
    alarms, copies, share = 0, 0, []
    for seed in range(60):
        noise = np.exp(rng.normal(-1.9, 0.7, int(rng.integers(4, 11)))).tolist()
        scores = table(noisy(noise, 30, seed), 0.3, seed).sample(frac=0.8, random_state=seed)
        problem, left = found(scores)
        whole = pairwise_dependence(left, np.random.default_rng(0))
        alarms += bool(most_alike(whole, 0.01))
        copies += bool(shared_error_families(problem, left))
        share.append(whole.size / len(noise))
    assert alarms <= 4  # 60 times 0.01 is 0.6, and a Poisson number of that mean is above 4 once in 2,500 times
    assert copies == 0
    assert np.mean(share) > 0.93


@pytest.mark.parametrize(("apart", "count"), [(0.0, 1), (0.05, 1), (0.03, 2)])
def test_duplicates_are_found_among_six(apart: float, count: int) -> None:
    """All of them, and no other judge, in more than nine panels of ten, as of votes."""
    names = {"j0", *(f"j{6 + n}" for n in range(count))}
    right = 0
    for seed in range(20):
        problem, left = found(with_copies([0.15] * 6, count, apart, 60, seed))
        families = shared_error_families(problem, left)
        right += {judge for judge, family in families.items() if family == "j0"} == names
        assert all(family in ("j0", judge) for judge, family in families.items())
    assert right > 18


def test_two_judges_who_see_clearly_are_no_copies() -> None:
    """They agree, as both are right: their errors have nothing in common."""
    for seed in range(10):
        problem, left = found(table(noisy([0.02, 0.02, 0.2, 0.25, 0.3, 0.3], 60, seed), 0.2, seed))
        assert shared_error_families(problem, left) == {}


def test_duplicates_count_for_less_and_do_not_pass_for_judges_without_noise() -> None:
    alone = with_copies([0.15] * 6, 0, 0.0, 40, seed=1)
    both = fitted(with_copies([0.15] * 6, 1, 0.0, 40, seed=1))
    note = next(note for note in both.notes if note.startswith("Duplicate judges"))
    assert "j0, j6 are answering alike" in note or "j0 and j6" in note
    answer_weight = dict(zip(both.problem.judges, both.problem.answer_weight, strict=True))
    assert answer_weight["j0"] == answer_weight["j6"] < 0.6
    assert answer_weight["j1"] == 1.0
    checks = both.checks().set_index("check")
    assert checks.loc["convergence", "level"] == "ok"
    assert checks.loc["dependence", "level"] != "ok"
    without = fitted(alone).judges().set_index("judge")["noise"]
    with_one = both.judges().set_index("judge")["noise"]
    # an exact copy says nothing new: the noise of all is as without it
    np.testing.assert_allclose(with_one[without.index], without, rtol=0.25)


@pytest.mark.slow
def test_families_are_named_and_the_checks_are_made() -> None:
    scores = with_copies([0.15] * 6, 1, 0.05, 40, seed=2)
    named = fitted(scores, families={"j0": "base", "j6": "base"})
    assert named.families is not None
    assert min(named.problem.answer_weight) < 0.7
    fit = voirdire.fit(scores, model="rating-continuous", levels=[1, 5])
    assert {"dependence", "influence"} <= set(fit.checks()["check"])
    with pytest.raises(InputError, match=r"families= is for models of single scores; model mean-score pools them"):
        voirdire.fit(scores, model="mean-score", families={"j0": "base", "j6": "base"})


def test_three_judges_are_too_few_to_tell() -> None:
    fit = fitted(table(noisy([0.1] * 3, 40, seed=1), 0.2, seed=1))
    assert fit.checks().set_index("check").loc["dependence", "level"] == "ok"
    assert not shared_errors(fit.problem, fit.posterior).known.any()
