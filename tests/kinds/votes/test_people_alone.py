"""People's answers alone are a way to use them, where they link all items: judges have to show that they help."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.fit.human import compare_methods
from voirdire.kinds.human import PEOPLE_ALONE, LeftOut
from voirdire.kinds.votes.kind import VOTES

NAMES = [f"i{n}" for n in range(8)]


def panel(agree: float) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Votes of five judges who see the same, which correlates with what people see so far; one person's answers."""
    rng = np.random.default_rng(1000)
    worth = rng.normal(0.0, 1.5, len(NAMES))
    seen = agree * worth + np.sqrt(1 - agree**2) * rng.normal(0.0, 1.5, len(NAMES))
    pairs = [(a, b) for a in range(len(NAMES)) for b in range(a)]

    def answers(who: str, by: np.ndarray, sharp: float) -> list[tuple[str, str, str, str]]:
        chosen = [a if rng.random() < 1 / (1 + np.exp(-sharp * (by[a] - by[b]))) else b for a, b in pairs]
        return [(who, NAMES[a], NAMES[b], NAMES[c]) for (a, b), c in zip(pairs, chosen, strict=True)]

    votes = [row for k in range(5) for row in answers(f"j{k}", seen, 3.0)]
    columns = ["judge", "first", "second", "winner"]
    people = pd.DataFrame(answers("ann", worth, 2.0), columns=columns).drop(columns="judge")
    return pd.DataFrame(votes, columns=columns), people, worth


def fitted(votes: pd.DataFrame, people: pd.DataFrame, **how: object) -> voirdire.Fit:
    return voirdire.fit(votes, anchors=people, families={}, model="crowd-bt", method="map", **how)


def scores(fit: voirdire.Fit) -> np.ndarray:
    return fit.ranking().set_index("item")["score"].loc[NAMES].to_numpy()


@pytest.mark.slow
def test_people_alone_are_used_where_judges_see_something_else() -> None:
    votes, people, _ = panel(0.0)
    fit = fitted(votes, people)
    methods = fit.anchor_methods().set_index("method")
    assert methods.index.tolist() == ["majority", "joint", "cut", PEOPLE_ALONE]
    assert methods.index[methods["chosen"]].tolist() == [PEOPLE_ALONE]
    assert "people alone, because it predicts left-out anchors better than the default" in fit.notes[-1]
    # as people's answers are with any other votes of the judges
    other = votes.assign(winner=np.where(votes["winner"] == votes["first"], votes["second"], votes["first"]))
    again = fitted(other, people)
    assert again.anchored is not None
    assert again.anchored.chosen == PEOPLE_ALONE
    np.testing.assert_allclose(scores(again), scores(fit), atol=1e-4)
    # and of judges the anchors alone speak, as by the cut
    cut = fitted(votes, people, anchor_mode="cut").judges().set_index("judge")["reliability"]
    pd.testing.assert_series_equal(fit.judges().set_index("judge")["reliability"].loc[cut.index], cut)


@pytest.mark.slow
def test_people_alone_hear_nothing_of_the_judges_ties() -> None:
    """Ties say which items are near each other; only how often judges answer them may differ."""
    votes, people, _ = panel(0.0)
    rng = np.random.default_rng(1)
    near = votes["first"].str[1:].astype(int) - votes["second"].str[1:].astype(int) < 3
    found = []
    for here in (near, rng.permutation(near)):
        tied = votes.assign(winner=votes["winner"].mask(here, "tie"))
        problem = fitted(tied, people, anchor_mode="joint").problem
        found.append(VOTES.human(problem).people_only.cut_mode().x[problem.density.parameter_slices["strength"]])
    np.testing.assert_allclose(found[0], found[1], atol=1e-4)


@pytest.mark.slow
def test_judges_who_see_what_people_see_are_used() -> None:
    votes, people, worth = panel(1.0)
    fit = fitted(votes, people)
    assert fit.anchored is not None
    assert fit.anchored.chosen == "joint"
    alone = voirdire.fit(people.assign(judge="ann"), model="bradley-terry", method="map")
    assert np.corrcoef(scores(fit), worth)[0, 1] > np.corrcoef(scores(alone), worth)[0, 1]


def test_answers_that_leave_items_unlinked_do_not_suffice() -> None:
    votes, people, _ = panel(0.0)
    some = people[people["first"].isin(NAMES[:4]) & people["second"].isin(NAMES[:4])]
    assert PEOPLE_ALONE not in fitted(votes, some).anchor_methods()["method"].tolist()


@pytest.mark.parametrize(("alone", "chosen"), [(0.76, PEOPLE_ALONE), (0.71, "joint")])
def test_people_alone_need_be_better_by_the_noise_only(alone: float, chosen: str) -> None:
    def left_out(p: float) -> LeftOut:
        half = np.where(np.arange(20) % 2 == 0, p + 0.2, p - 0.2)
        return LeftOut(half, 1.0 - half, (half > 0.5).astype(float))

    # of .71 the mean is better, by less than the noise; another way needs twice that
    found = {"joint": LeftOut(*(np.full(20, x) for x in (0.67, 0.33, 1.0))), PEOPLE_ALONE: left_out(alone)}
    assert compare_methods(found, "joint")[0] == chosen
    assert compare_methods({"joint": found["joint"], "cut": found[PEOPLE_ALONE]}, "joint")[0] == "joint"
