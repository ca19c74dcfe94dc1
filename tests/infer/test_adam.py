"""MAPLE's own estimator: the likelihood alone, 5,000 epochs of Adam; no prior, no intervals, and when it is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.infer.adam import EPOCHS, LEARNING_RATE


def panel(accuracies: tuple[float, ...], items: int = 12, seed: int = 5) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Votes on items under two criteria and on the criteria, turned round at the judge's rate, as in MAPLE's RQ1."""
    rng = np.random.default_rng(seed)
    votes, on_criteria = [], []
    for k, accuracy in enumerate(accuracies):
        for criterion in ("clarity", "depth"):
            order = np.arange(items) if criterion == "clarity" else (np.arange(items) * 5) % items
            for i in range(items):
                for j in range(i):
                    right = order[i] > order[j]
                    won = right if rng.random() < accuracy else not right
                    votes.append((f"j{k}", criterion, f"i{i:02}", f"i{j:02}", "first" if won else "second"))
        won = rng.random() < accuracy
        on_criteria.append((f"j{k}", "clarity", "depth", "first" if won else "second"))
    table = pd.DataFrame(votes, columns=["judge", "criterion", "first", "second", "winner"])
    return table, pd.DataFrame(on_criteria, columns=["judge", "first", "second", "winner"])


def convergence(fit: voirdire.Fit) -> pd.Series:
    """The row of its check."""
    return fit.checks().set_index("check").loc["convergence"]


def test_one_judge_pair_is_the_maximum_of_the_likelihood_in_closed_form() -> None:
    """Bradley-Terry of two items, 7 wins of 10: the difference is log(7 / 3), which no prior draws in."""
    table = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 7 + ["y"] * 3})
    ranking = voirdire.fit(table, model="bradley-terry", method="adam").ranking().set_index("item")["score"]
    assert ranking["x"] - ranking["y"] == pytest.approx(np.log(7 / 3), abs=1e-4)
    drawn_in = voirdire.fit(table, model="bradley-terry", method="map").ranking().set_index("item")["score"]
    assert drawn_in["x"] - drawn_in["y"] < np.log(7 / 3) - 0.01


def test_it_is_adam_as_kingma_and_ba_write_it() -> None:
    """Against a plain loop over the epochs, of Bradley-Terry with three items."""
    rows = [("x", "y", 6), ("y", "x", 4), ("y", "z", 5), ("z", "y", 2), ("x", "z", 4), ("z", "x", 3)]
    table = pd.DataFrame(
        [("a", one, other, "first") for one, other, times in rows for _ in range(times)],
        columns=["judge", "first", "second", "winner"],
    )
    fit = voirdire.fit(table, model="bradley-terry", method="adam", seed=3)
    found = fit.ranking().set_index("item")["score"][["x", "y", "z"]].to_numpy()

    # the strengths that the free coordinates stand for have the same maximum, whatever path leads there
    wins = {(one, other): times for one, other, times in rows}
    theta, mean, square = np.zeros(3), np.zeros(3), np.zeros(3)
    for step in range(1, EPOCHS + 1):
        slope = np.zeros(3)
        for (one, other), times in wins.items():
            i, j = "xyz".index(one), "xyz".index(other)
            missed = 1 / (1 + np.exp(theta[i] - theta[j]))
            slope[i] -= times * missed
            slope[j] += times * missed
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        theta -= LEARNING_RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(found, theta - theta.mean(), atol=1e-3)


@pytest.mark.slow
def test_maple_by_its_own_estimator() -> None:
    """Reliabilities near the accuracies; no intervals; the result says what it is, from Python and by the command."""
    votes, on_criteria = panel((0.7, 0.8, 0.9, 0.95, 1.0), items=20)
    fit = voirdire.fit(votes, on_criteria, model="maple", method="adam")
    judges = fit.judges()
    np.testing.assert_allclose(judges.sort_values("judge")["reliability"], [0.7, 0.8, 0.9, 0.95, 1.0], atol=0.05)
    assert judges[["reliability_low", "reliability_high"]].isna().all().all()
    assert fit.method == "adam"
    assert any("5,000 epochs of Adam" in note and "adds priors" in note for note in fit.notes)
    assert "epochs" in convergence(fit)["message"]
    with pytest.raises(InputError, match="'adam' has no draws"):
        fit.idata  # noqa: B018


@pytest.mark.slow
def test_what_has_no_highest_likelihood_is_said() -> None:
    table = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 5})
    check = convergence(voirdire.fit(table, model="bradley-terry", method="adam"))
    assert check["level"] == "warn"
    assert "no highest point" in check["message"]
    votes, _ = panel((0.7, 0.8, 0.9))
    found = voirdire.fit(votes, model="crowd-bt", method="adam")
    assert convergence(found)["level"] == "ok"


@pytest.mark.slow
def test_duplicates_count_as_in_the_paper() -> None:
    """Every judge by itself: a copy of a judge is another judge, and nothing is weighed down."""
    votes, _ = panel((0.7, 0.8, 0.9, 0.9))
    copies = pd.concat([votes, votes[votes["judge"] == "j0"].assign(judge="j9")])
    fit = voirdire.fit(copies, model="crowd-bt", method="adam")
    assert not any("Duplicate" in note for note in fit.notes)


@pytest.mark.parametrize(
    ("change", "settings", "said"),
    [
        (lambda t: t, {"model": "crowd-bt-position"}, "coin per position|one coin a judge"),
        (lambda t: t, {}, "model='maple' or 'crowd-bt'"),
        (lambda t: t, {"model": "learned-crowd-bt-position"}, "one coin a judge"),
        (lambda t: t.assign(winner=["tie", *t["winner"][1:]]), {"model": "crowd-bt"}, "ties"),
        (lambda t: t, {"model": "crowd-bt", "families": {"j0": "a"}}, "families"),
        (lambda t: t, {"model": "crowd-bt", "anchors": "people"}, "anchors"),
        (lambda t: t, {"model": "crowd-bt", "priors": {"strength": {"sd": 1.0}}}, "priors"),
        (
            lambda t: t.rename(columns={"first": "item"}).assign(label=t["winner"])[["judge", "item", "label"]],
            {"model": "dawid-skene"},
            "votes",
        ),
        (
            lambda t: t.rename(columns={"first": "item"}).assign(score=1.5)[["judge", "item", "score"]],
            {"model": "rating-continuous", "levels": [1, 5]},
            "votes",
        ),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(change, settings, said) -> None:
    votes, _ = panel((0.7, 0.8, 0.9))
    table = change(votes)
    if settings.get("anchors"):
        settings = {**settings, "anchors": votes[["first", "second", "winner"]].head(1)}
    with pytest.raises(InputError, match=said):
        voirdire.fit(table, method="adam", **settings)


@pytest.mark.slow
def test_the_bootstrap_of_another_estimator_is_refused() -> None:
    votes, _ = panel((0.7, 0.8, 0.9))
    with pytest.raises(InputError, match="method 'adam'"):
        voirdire.fit(votes, model="crowd-bt", method="adam").bootstrap()


@pytest.mark.slow
def test_by_the_command_kept_and_updated(tmp_path: Path) -> None:
    votes, on_criteria = panel((0.7, 0.8, 0.9))
    votes.to_csv(tmp_path / "votes.csv", index=False)
    on_criteria.to_csv(tmp_path / "criteria.csv", index=False)
    arguments = ["fit", str(tmp_path / "votes.csv"), "--criteria", str(tmp_path / "criteria.csv")]
    asked = [*arguments, "--model", "maple", "--method", "adam", "--out", str(tmp_path / "run")]
    found = CliRunner().invoke(app, asked)
    assert found.exit_code == 0, found.output
    assert "adam" in found.stdout
    kept = voirdire.load(tmp_path / "run")
    assert kept.method == "adam"
    more = kept.update(votes.head(3))
    assert more.method == "adam"
    assert sum("5,000 epochs" in note for note in more.notes) == 1
