"""Independence of judges: closed forms of copies, part copies and independent judges, of every kind of answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.decide.audit_answers import pair_with_reference
from voirdire.decide.judge_independence import independence_ratios
from voirdire.tables import read_table

ITEMS = 300


def panel(kind: str, taken: float, seed: int = 0, judges: int = 4, items: int = ITEMS) -> pd.DataFrame:
    """Judges of whom the last takes each answer of the first with a probability, and else answers by itself."""
    rng = np.random.default_rng([seed, 5])
    worth = 1.5 * rng.normal(size=12)
    first, second = np.array([rng.choice(12, 2, replace=False) for _ in range(items)]).T
    quality, truth = rng.normal(size=items), rng.random(items) < 0.5
    frames: list[pd.DataFrame] = []
    column = "winner" if kind == "votes" else "score" if kind == "scores" else "label"
    for judge in range(judges):
        if kind == "votes":
            won = rng.random(items) < 1 / (1 + np.exp(worth[second] - worth[first]))
            about: dict[str, Any] = {"first": [f"m{n}" for n in first], "second": [f"m{n}" for n in second]}
            about["context"] = np.arange(items) % (25 if items == ITEMS else items // 4)
            given = np.where(won, "first", "second")
        elif kind == "scores":
            about = {"item": np.arange(items)}
            given = np.clip(np.round(3 + quality + 0.8 * rng.normal(size=items)), 1, 5).astype(int)
        else:
            about = {"item": np.arange(items)}
            right = rng.random(items) < 0.8
            given = np.where(right == truth, "good", "bad") if kind == "labels" else np.where(right, truth, ~truth)
            given = given if kind == "labels" else np.where(given, "cat", "dog")
        if judge == judges - 1:
            given = np.where(rng.random(items) < taken, frames[0][column], given)
        frames.append(pd.DataFrame({"judge": f"j{judge}", **about, column: given}))
    return pd.concat(frames, ignore_index=True)


def own(table: pd.DataFrame, people: pd.DataFrame | None = None) -> tuple[dict[str, float], dict[str, Any]]:
    found = voirdire.audit(table, people)
    rows = {card["judge"]: card["measures"] for card in found["judges"]}
    values = {
        judge: next(row["value"] for row in each if row["measure"] == "independence") for judge, each in rows.items()
    }
    return values, found["panel"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["votes", "scores", "labels", "words"])
def test_an_exact_copy_and_what_it_is_a_copy_of_have_none(kind: str) -> None:
    values, worth = own(panel(kind, 1.0))
    assert [values[judge] for judge in ("j0", "j3")] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert min(values["j1"], values["j2"]) > 0.75
    # copies are one judge, so that any one of them can be left out, and no other
    without = {row["judge"]: row["effective"] for row in worth["without"]}
    assert worth["effective"] <= 3.0
    assert without["j3"] == without["j0"] == worth["effective"]
    assert max(without["j1"], without["j2"]) < worth["effective"]


def test_an_exact_copy_by_people() -> None:
    table = panel("labels", 1.0)
    truth = np.random.default_rng([0, 5])
    truth.normal(size=12)
    for _ in range(ITEMS):
        truth.choice(12, 2, replace=False)
    truth.normal(size=ITEMS)
    people = pd.DataFrame({"item": np.arange(ITEMS), "label": np.where(truth.random(ITEMS) < 0.5, "good", "bad")})
    values, worth = own(table, people)
    assert (values["j0"], values["j3"]) == (0.0, 0.0)
    assert min(values["j1"], values["j2"]) > 0.85
    assert worth["effective"] == pytest.approx(3.0, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["votes", "scores", "labels", "words"])
@pytest.mark.parametrize("taken", [0.0, 0.5, 0.9])
def test_the_share_that_is_its_own_is_what_it_is(kind: str, taken: float) -> None:
    """By four judges of whom one takes answers of another: 1 - s, of many answers."""
    table = read_table(panel(kind, taken, seed=3, judges=5, items=8000))
    answers = pair_with_reference(table, None, None, (), None, None)
    found = independence_ratios(answers, np.arange(5) < 4, np.ones((5, 5), bool))
    assert found[0, 4] == pytest.approx(1.0 - taken, abs=0.05)
    assert found[1, 2] == pytest.approx(1.0, abs=0.05)


def test_by_hand() -> None:
    """The noise of either by the two others, of six scores."""
    said = [[0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], [1, 0, 0, 1], [1, 0, 1, 1]]
    table = pd.DataFrame(
        [(f"j{j}", f"i{i}", float(row[j])) for i, row in enumerate(said) for j in range(4)],
        columns=["judge", "item", "score"],
    )
    answers = pair_with_reference(read_table(table), None, None, (), None, None)
    y = np.array(said, float)
    y = y - y.mean(axis=0)
    d = ((y[:, :, None] - y[:, None]) ** 2).mean(axis=0)
    noise = (d[0, 2] + d[0, 3] - d[2, 3]) / 2 + (d[1, 2] + d[1, 3] - d[2, 3]) / 2
    found = independence_ratios(answers, np.ones(4, bool), np.ones((4, 4), bool))
    assert found[0, 1] == pytest.approx(min(d[0, 1] / noise, 1.0))


@pytest.mark.slow
def test_repeats_are_the_same_in_any_order_of_the_rows() -> None:
    once, again = (panel("scores", 0.4, items=60, seed=run).assign(run=run) for run in (1, 2))
    table = pd.concat([once, again], ignore_index=True)
    values, size = own(table)
    for mixed in (table[::-1], table.sample(frac=1, random_state=3)):
        assert own(mixed)[0] == pytest.approx(values, abs=1e-6)
        assert own(mixed)[1]["effective"] == pytest.approx(size["effective"], abs=1e-6)


def test_where_no_model_can_be_fitted_the_card_says_why_nothing_was_measured() -> None:
    table = pd.DataFrame([(judge, f"i{n}", "yes") for judge in "abc" for n in range(20)])
    found = voirdire.audit(table.set_axis(["judge", "item", "label"], axis=1))
    needs = {row["measure"]: row["needs"] for row in found["needs"]}
    assert found["panel"] is None
    assert "a model can be fitted to (labels: only the label 'yes' occurs" in needs["independence"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "said"),
    [("votes", "votes on a pair, in either order, the first in the table"), ("scores", "repeated answers the first")],
)
def test_which_of_several_answers_to_a_question_counts_is_said(kind: str, said: str) -> None:
    table = panel(kind, 0.0, judges=3, items=40)
    if kind == "votes":
        table["context"] = np.arange(len(table)) % 40
        more = {"first": table["second"], "second": table["first"], "winner": "first"}
        again = table.assign(**more)
    else:
        again = table.assign(run=2)
        table = table.assign(run=1)
    notes = [
        [
            row["note"]
            for card in voirdire.audit(one)["judges"]
            for row in card["measures"]
            if row["measure"] == "independence"
        ]
        for one in (table, pd.concat([table, again]))
    ]
    assert not any(said in note for note in notes[0])
    assert all(note.endswith(f"; of a judge's {said} counts") for note in notes[1])
