"""The loop on votes that are there: it stops on what is asked for, and asks what tells most for its price."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest

from voirdire import fit
from voirdire.adaptive import replay_votes
from voirdire.adaptive.rounds import Course, Request, choose_rounds, drive_rounds
from voirdire.errors import InputError
from voirdire.fit.next.suggest import next_comparisons


def votes(
    coins: tuple[float, ...] = (0.95, 0.9, 0.85), items: int = 6, context: str = "", seed: int = 0
) -> pd.DataFrame:
    rng, theta, rows = np.random.default_rng(seed), np.linspace(6, -6, items), []
    for k, coin in enumerate(coins):
        for _ in range(4):
            for i, j in combinations(range(items), 2):
                better = rng.random() < 1 / (1 + np.exp(theta[j] - theta[i]))
                first = better if rng.random() < coin else not better
                rows.append((f"j{k}", f"{context}{i}", f"{context}{j}", "first" if first else "second"))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


@pytest.mark.slow
@pytest.mark.parametrize("design", ["adaptive", "cyclic"])
def test_it_stops_once_enough_is_known_and_not_before(design: str) -> None:
    course, asked = replay_votes(votes(), until="p_best >= 0.9", design=design, model="crowd-bt")
    assert course.reached
    assert course.known[0].best == "0"
    held = [row["p_best"] >= 0.9 for row in course.rounds]
    assert held[-2:] == [True, True]  # one round alone may be luck
    assert not any(one and other for one, other in pairwise(held[:-1]))
    assert course.rounds[-1]["asked"] == len(asked) < len(votes())
    assert not asked.index.duplicated().any()


@pytest.mark.slow
def test_what_is_known_of_everything_is_what_a_fit_says() -> None:
    table = votes(items=4)
    course, asked = replay_votes(table, until="accuracy >= 0.9999", design="random", model="crowd-bt")
    assert not course.reached
    assert len(asked) == len(table)
    whole = fit(table.iloc[asked.index.sort_values()], model="crowd-bt", method="laplace").ranking()
    assert course.known[0].p_best == pytest.approx(whole["p_best"].max(), abs=0.03)
    assert course.known[0].width == (whole["rank_high"] - whole["rank_low"]).max()


@pytest.mark.slow
def test_a_context_of_which_enough_is_known_is_left_alone() -> None:
    flat = votes((0.55, 0.55), items=4, context="q", seed=1)
    flat["judge"] += "-of-q"  # or what judges of p are worth would be believed of them
    table = pd.concat([votes(items=4, context="p"), flat], ignore_index=True)
    course, asked = replay_votes(table, until="p_best >= 0.85", model="crowd-bt")
    assert len(course.groups) == 2
    spent = asked["first"].str[0].value_counts()
    assert spent["q"] > spent["p"] + 6


def test_the_next_questions_tell_most_for_their_price() -> None:
    table = votes((0.95, 0.95), items=5)
    found = fit(table.iloc[::3], model="crowd-bt", method="laplace")
    among = table[["judge", "first", "second"]].drop_duplicates(ignore_index=True)
    priced = among.assign(cost=np.where(among["judge"] == "j0", 1.0, 50.0))
    every = next_comparisons(found, 8, who="judge", about="best", among=among)
    cheap = next_comparisons(found, 8, who="judge", about="best", among=priced)
    assert set(cheap["judge"]) == {"j0"}
    assert set(every["judge"]) == {"j0", "j1"}
    assert len(set(every.attrs["rows"])) == 8
    for row, shown in zip(every.attrs["rows"], every.to_dict("records"), strict=True):
        assert among.loc[row, ["judge", "first", "second"]].tolist() == [shown[name] for name in among]


def test_a_table_without_votes_and_a_path_are_refused() -> None:
    with pytest.raises(InputError, match="there are no votes to ask for"):
        replay_votes(votes().head(0), until="p_best >= 0.9")
    with pytest.raises(InputError, match="it is no dataframe"):
        replay_votes("votes.csv", until="p_best >= 0.9")  # type: ignore[arg-type]


def test_what_may_be_asked_is_checked() -> None:
    found = fit(votes(items=3), model="crowd-bt", method="laplace")
    strange = pd.DataFrame({"judge": ["j9"], "first": ["0"], "second": ["7"], "cost": [0.0]})
    with pytest.raises(InputError) as caught:
        next_comparisons(found, 1, who="judge", among=strange)
    assert [problem.split(";")[0] for problem in caught.value.problems] == [
        "among: second '7' has no vote so far",
        "among: judge 'j9' has no vote so far",
        "among: a cost is not above 0",
    ]
    with pytest.raises(InputError, match="among is for questions to judges"):
        next_comparisons(found, 1, among=strange)


def test_without_a_condition_everything_is_asked() -> None:
    table = votes(items=3)
    course = Course()
    work = choose_rounds(table.drop(columns="winner"), Request(model="crowd-bt", count=20), course)
    drive_rounds(work, lambda rows: list(table["winner"].to_numpy()[rows]))
    assert course.rounds[-1]["asked"] == len(table)
    assert not course.reached
