"""Judges of scores known by the anchors alone: what teaches them, what they then say, and when that is chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, optimize, stats

import voirdire
from voirdire.errors import InputError
from voirdire.kinds import encode_scores
from voirdire.kinds.scores.cut import GRID, log_discriminations
from voirdire.model import load_model
from voirdire.tables import read_scores

LEVELS = [1, 2, 3, 4, 5]
CUTS = np.array([-2.5, -0.8, 0.8, 2.5])
COLUMNS = ["judge", "item", "score"]
HOW = {"model": "rating-discrimination", "levels": LEVELS, "families": {}}


def given(eta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 1 + ((eta + rng.logistic(size=eta.shape))[:, None] > CUTS).sum(axis=1)


def misled(seed: int, items: int = 40, anchored: int = 30) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Five judges who agree sharply about something else than quality, three who see quality, and people."""
    rng = np.random.default_rng(seed)
    theta, length = rng.normal(0, 1.5, items), rng.normal(0, 1.5, items)
    length -= theta * (length @ theta) / (theta @ theta)
    seen = {f"fooled-{k}": 2.0 * length for k in range(5)} | {f"good-{k}": 1.5 * theta for k in range(3)}
    rows = [(j, f"x{i:02d}", s) for j, eta in seen.items() for i, s in enumerate(given(eta, rng))]
    people = given(3.0 * theta[:anchored], rng)
    named = [f"x{i:02d}" for i in range(anchored)]
    return pd.DataFrame(rows, columns=COLUMNS), pd.DataFrame({"item": named, "score": people}), theta


@pytest.mark.slow
def test_the_discriminations_are_the_two_step_formula() -> None:
    """Against adaptive integration and root finding, of two judges with an item scored twice, under a model's prior."""
    scores = [("a", f"x{n}", s) for n, s in enumerate([1, 2, 2, 3, 3, 1])]
    scores += [("b", f"x{n}", s) for n, s in enumerate([3, 2, 1, 1])] + [("a", "x0", 2), ("b", "y", 3)]
    table = read_scores(pd.DataFrame(scores, columns=COLUMNS))
    human = {"x0": 1, "x1": 1, "x2": 2, "x3": 3, "x5": 2}
    people = pd.DataFrame({"item": list(human), "score": list(human.values())})
    model = load_model("rating-discrimination")
    problem = encode_scores(model, table, levels=[1, 2, 3], anchors=people)
    found = log_discriminations(problem)
    spread, sharp = (np.exp(section.numbers["mean"]) for section in (model.strength, model.anchors))

    def mean(function) -> float:
        return integrate.quad(lambda z: function(spread * z) * stats.norm.pdf(z), -5, 5, epsabs=1e-11, limit=200)[0]

    def s(x: float) -> float:
        return float(1.0 / (1.0 + np.exp(-x)))

    def limits(b: float, shares: list[float]) -> list[float]:
        return [
            optimize.brentq(lambda cut, share=share: mean(lambda t: s(b * t - cut)) - share, -50, 50, xtol=1e-10)
            for share in shares
        ]

    def level(b: float, cuts: list[float], score: int, t: float) -> float:
        above = [1.0, *(s(b * t - cut) for cut in cuts), 0.0]
        return above[score - 1] - above[score]

    def above(scores: dict[int, float]) -> list[float]:
        count = [scores.get(number, 0.0) + 0.5 for number in (1, 2, 3)]
        return [sum(count[1:]) / sum(count), count[2] / sum(count)]

    theirs = limits(sharp, above({1: 2, 2: 2, 3: 1}))
    # of judge a's scores of anchored items, those of x0 count half each
    own = {
        "a": ({1: 0.5 + 1, 2: 0.5 + 2, 3: 1}, {"x0": [1, 2], "x1": [2], "x2": [2], "x3": [3], "x5": [1]}),
        "b": ({1: 2, 2: 1, 3: 1}, {"x0": [3], "x1": [2], "x2": [1], "x3": [1]}),
    }
    for row, (counts, answers) in enumerate(own.values()):
        expected = []
        for b in (GRID[30], GRID[40], GRID[52]):
            cuts = limits(b, above(counts))
            log = np.log(0.9 * stats.norm.pdf(b, 1.0, 0.5) + 0.1 * stats.norm.pdf(b, -1.0, 0.5))
            for item, scored in answers.items():

                def both(t: float, item=item, scored=scored, cuts=cuts, b=b) -> float:
                    power = np.prod([level(b, cuts, y, t) for y in scored]) ** (1 / len(scored))
                    return float(power * level(sharp, theirs, human[item], t))

                log += np.log(mean(both) / mean(lambda t, item=item: level(sharp, theirs, human[item], t)))
            expected.append(log)
        # the package's rule of 41 points covers five standard deviations, as this does
        ours = found[row, [30, 40, 52]]
        np.testing.assert_allclose(np.diff(ours), np.diff(expected), atol=2e-5)


def test_only_anchored_items_and_the_judge_itself_teach_its_discrimination() -> None:
    scores, people, _ = misled(0, items=20, anchored=10)
    rng = np.random.default_rng(1)
    other = scores.copy()
    free = ~other["item"].isin(people["item"]) | (other["judge"] != "good-0")
    other.loc[free, "score"] = rng.integers(1, 6, int(free.sum()))
    one, two = (
        log_discriminations(
            encode_scores(load_model("rating-discrimination"), read_scores(t), levels=LEVELS, anchors=people)
        )
        for t in (scores, other)
    )
    judge = sorted(scores["judge"].unique()).index("good-0")
    np.testing.assert_array_equal(one[judge], two[judge])
    assert not np.allclose(one[0], two[0])


@pytest.mark.long
@pytest.mark.slow
def test_a_consensus_about_something_else_is_cut() -> None:
    """Mean correlation with quality over three panels of which five of eight judges agree about something else."""
    with_truth: dict[str, list[float]] = {"joint": [], "cut": []}
    for seed in range(3):
        scores, people, theta = misled(seed)
        for mode in ("joint", "cut"):
            fitted = voirdire.fit(scores, anchors=people, anchor_mode=mode, method="map", **HOW)
            assert f"Anchors are used as asked: {mode}." in fitted.notes
            rank = fitted.ranking().set_index("item")["score"].sort_index()
            with_truth[mode].append(float(np.corrcoef(rank[30:], theta[30:])[0, 1]))
        judges = fitted.judges().set_index("judge")["discrimination"]
        assert judges.filter(like="good").min() > judges.filter(like="fooled").max()
    assert np.mean(with_truth["cut"]) > 0.75
    assert np.mean(with_truth["cut"]) > np.mean(with_truth["joint"]) + 0.1


@pytest.mark.slow
def test_both_ways_predict_human_scores_left_out() -> None:
    scores, people, _ = misled(0, items=8, anchored=5)
    fitted = voirdire.fit(scores[scores["judge"] > "fooled-3"], anchors=people, method="map", **HOW)
    table = fitted.anchor_methods()
    assert table["method"].tolist() == ["people's shares", "joint", "cut"]
    assert table["log_loss"].between(0.0, 5.0).all()
    assert table["chosen"].sum() == 1
    # each human score against the shares of the other four, to which half a score a level is added
    counts = people["score"].value_counts()
    own = [np.log((4 + 2.5) / (counts[score] - 1 + 0.5)) for score in people["score"]]
    assert table["log_loss"][0] == pytest.approx(np.mean(own))


@pytest.mark.slow
@pytest.mark.long
def test_left_out_anchors_choose_the_cut_where_the_consensus_is_about_something_else() -> None:
    scores, people, _ = misled(0)
    fitted = voirdire.fit(scores, anchors=people, method="map", **HOW)
    assert fitted.anchor_methods()["chosen"].tolist() == [False, False, True]
    assert fitted.notes[-1] == (
        "Anchors: cut, because it predicts left-out anchors clearly better than the default; items and judges are "
        "shown as the anchors alone have them."
    )


@pytest.mark.long
@pytest.mark.slow
def test_a_cut_fit_has_intervals_and_is_kept_whole(tmp_path: Path) -> None:
    scores, people, _ = misled(0, items=8, anchored=6)
    scores = scores[scores["judge"] > "fooled-3"]
    fitted = voirdire.fit(scores, anchors=people, anchor_mode="cut", seed=1, **HOW)
    judges = fitted.judges()
    assert (judges["discrimination_low"] < judges["discrimination_high"]).all()
    assert (fitted.ranking()["low"] < fitted.ranking()["high"]).all()
    assert set(fitted.checks().query("level == 'fail'")["check"]) <= {"dependence", "anchors"}
    fitted.save(tmp_path / "run")
    again = voirdire.load(tmp_path / "run")
    assert again.as_dict() == fitted.as_dict()
    assert again.anchored.mode == "cut"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"model": "rating-severity"},
            "learns judges' discriminations from the anchors, but model rating-severity has none",
        ),
        ({"model": "rating-continuous"}, "model rating-continuous has none; take rating-discrimination"),
        ({"model": "rating-discrimination", "method": "nuts"}, "anchor mode 'cut' is not for method 'nuts'"),
    ],
)
def test_cut_is_refused_where_it_cannot_be(more: dict, message: str) -> None:
    scores, people, _ = misled(0, items=6, anchored=4)
    with pytest.raises(InputError) as caught:
        voirdire.fit(scores, anchors=people, anchor_mode="cut", levels=LEVELS, **more)
    assert message in str(caught.value)
