"""Comparisons to ask next, from fits: what is asked, of whom, and what is refused."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire import Fit, fit
from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.fit.next.questions import answer_probabilities, list_questions
from voirdire.fit.next.suggest import _weighted_draws, next_comparisons
from voirdire.infer import Posterior
from voirdire.kinds import encode_votes, read_anchors
from voirdire.kinds.votes.fit import VotesFit
from voirdire.model import load_model
from voirdire.tables import read_votes

ITEMS = 8


def votes(coins: tuple[float, ...] = (0.95, 0.95, 0.6, 0.5), share: float = 0.6, names: str = "i") -> pd.DataFrame:
    rng = np.random.default_rng(0)
    theta = np.linspace(2, -2, ITEMS)
    rows = []
    for k, coin in enumerate(coins):
        for i in range(ITEMS):
            for j in range(i + 1, ITEMS):
                better = rng.random() < 1 / (1 + np.exp(theta[j] - theta[i]))
                first = better if rng.random() < coin else not better
                if rng.random() < share:
                    rows.append((f"j{k}", f"{names}{i}", f"{names}{j}", "first" if first else "second"))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


@pytest.fixture(scope="module")
def plain() -> Fit:
    return fit(votes(), model="crowd-bt", method="laplace")


def made(table: pd.DataFrame, model: str, anchors: pd.DataFrame | None = None) -> Fit:
    """A fit whose draws are of the prior's kind: enough to see what is asked, and there without waiting."""
    read = read_votes(table)
    people = None if anchors is None else read_anchors(anchors, read)
    problem = encode_votes(load_model(model), read, anchors=people)
    draws = np.random.default_rng(0).normal(size=(1, 600, problem.density.size))
    posterior = Posterior(problem.density, draws.mean(axis=(0, 1)), draws)
    return VotesFit(problem, posterior, "laplace", "", 0, 0.9, 0.0, {}, ())


@pytest.fixture(scope="module")
def by_position() -> Fit:
    return made(votes(), "crowd-bt-position")


def pairs_of(found: pd.DataFrame) -> list[frozenset[str]]:
    return [frozenset(pair) for pair in found[["first", "second"]].itertuples(index=False, name=None)]


def order_probability(result: Fit, found: pd.DataFrame) -> list[float]:
    """Posterior probability that the first item is the better one."""
    theta = result.posterior.values["strength"][:, 0]
    at = result.problem.items.index
    return [float((theta[:, at(a)] > theta[:, at(b)]).mean()) for a, b in found[["first", "second"]].to_numpy()]


def test_rows_have_one_shape(plain: Fit) -> None:
    for who, about in (("person", "judges"), ("person", "ranking"), ("judge", "ranking"), ("judge", "judges")):
        found = plain.next_comparisons(5, who=who, about=about)
        assert found["place"].tolist() == [1, 2, 3, 4, 5]
        assert (found["first"] != found["second"]).all()
        assert found["judge"].isna().all() == (who == "person")
        assert (found[["information", "gain"]] >= 0).all(axis=None)
        assert found["gain"].iloc[0] == pytest.approx(found["information"].iloc[0])
        assert found[["p_first", "p_second", "p_tie"]].sum(axis=1).tolist() == pytest.approx([1] * 5)
        assert found.attrs["about"] == about
        # 32 worlds know the mean of what is left to a few tenths of a bit.
        assert found.attrs["left"] < found.attrs["entropy"]
        assert found.attrs["entropy"] - found["gain"].sum() == pytest.approx(found.attrs["left"], rel=0.25)
    assert next_comparisons(plain, 3).attrs["about"] == "judges"
    assert next_comparisons(plain, 3, who="judge").attrs["about"] == "ranking"
    again = plain.next_comparisons(5)
    pd.testing.assert_frame_equal(again, plain.next_comparisons(5))


def test_nobody_is_asked_what_they_answered(plain: Fit) -> None:
    known = {(row.judge, frozenset((row.first, row.second))) for row in votes().itertuples()}
    rest = len(plain.problem.judges) * ITEMS * (ITEMS - 1) // 2 - len(known)
    found = plain.next_comparisons(1000, who="judge")
    asked = list(zip(found["judge"], pairs_of(found), strict=True))
    assert len(asked) == len(set(asked)) == rest
    assert not known & set(asked)
    repeated = plain.next_comparisons(3, who="judge", repeats=True)
    assert len(repeated) == 3


def test_the_panel_s_votes_stand_beside(plain: Fit) -> None:
    table = votes()
    found = plain.next_comparisons(6)
    for row in found.itertuples():
        here = table[(table["first"] == row.first) & (table["second"] == row.second)]
        other = table[(table["first"] == row.second) & (table["second"] == row.first)]
        first = (here["winner"] == "first").sum() + (other["winner"] == "second").sum()
        assert (row.votes_first, row.votes_second) == (first, len(here) + len(other) - first)


def test_reliable_judges_are_asked_about_the_ranking(plain: Fit) -> None:
    found = plain.next_comparisons(8, who="judge")
    assert set(found["judge"]) <= {"j0", "j1"}
    # Pairs whose order is open, and not the best against the worst.
    assert all(0.02 < p < 0.98 for p in order_probability(plain, found))


def test_the_first_question_to_a_person_settles_the_panel_s_orientation(plain: Fit) -> None:
    found = plain.next_comparisons(2)
    # Both orientations count alike, so nothing is expected of the answer, and all judges hang on it.
    assert found["p_first"].iloc[0] == pytest.approx(0.5, abs=0.02)
    # Within either orientation the order of the pair is 95% sure.
    draws = plain.problem.density.fold_orientations(plain.posterior.draws, plain.problem.data)[0]
    folded = replace(plain, posterior=replace(plain.posterior, draws=draws))
    assert not 0.05 < order_probability(folded, found)[0] < 0.95
    assert found["gain"].iloc[0] > 2 * found["gain"].iloc[1]


def test_swapping_a_pair_swaps_the_answers(plain: Fit, by_position: Fit) -> None:
    for result in (plain, by_position):
        values = {name: value[:50] for name, value in result.posterior.values.items()}
        asked = list_questions(result.problem, values, "person", True)
        swapped = replace(asked, first=asked.second, second=asked.first)
        one, two = (answer_probabilities(result.problem, values, q, "person") for q in (asked, swapped))
        assert one == pytest.approx(two[..., ::-1], abs=1e-12)
        assert one.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)
    # Judges with a coin per position may be asked in either order, each pair once.
    both = list_questions(by_position.problem, values, "judge", True)
    assert len(both.first) == 2 * len(np.unique(both.same))
    asked = by_position.next_comparisons(30, who="judge")
    assert len(set(zip(asked["judge"], pairs_of(asked), strict=True))) == 30


def test_names_of_items_do_not_matter(plain: Fit) -> None:
    """The same draws under names in the opposite alphabetical order give the same questions."""
    names = {f"i{i}": f"n{ITEMS - i}" for i in range(ITEMS)}
    renamed = made(votes().replace(names), "crowd-bt")
    turn = [plain.problem.items.index(old) for old in sorted(names, key=names.__getitem__)]
    density = renamed.problem.density
    values = {**plain.posterior.values, "strength": plain.posterior.values["strength"][..., turn]}
    draws = density.flat(values, np)[None]
    other = replace(renamed, posterior=Posterior(density, draws.mean(axis=(0, 1)), draws))
    for who, about in (("person", "ranking"), ("judge", "ranking"), ("person", "judges")):
        one = plain.next_comparisons(1, who=who, about=about)
        two = other.next_comparisons(1, who=who, about=about)
        assert two["information"].to_numpy() == pytest.approx(one["information"].to_numpy(), rel=1e-9)
        expected = [frozenset(names[name] for name in pair) for pair in pairs_of(one)]
        if about == "ranking":
            assert pairs_of(two) == expected


def test_unconnected_pairs_are_asked_as_they_are() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (f"j{k}", f"a{p}", f"b{p}", "first" if rng.random() < (0.9 if p % 3 else 0.5) else "second")
        for p in range(12)
        for k in range(5)
    ]
    result = made(pd.DataFrame(rows, columns=["judge", "first", "second", "winner"]), "crowd-bt")
    for about in ("judges", "ranking"):
        found = result.next_comparisons(6, about=about)
        assert all(a[1:] == b[1:] for a, b in found[["first", "second"]].itertuples(index=False))
        assert len(set(pairs_of(found))) == 6
    # Every judge has answered all of them.
    with pytest.raises(InputError, match="every judge has answered every comparison; --repeats \\(repeats=True\\)"):
        result.next_comparisons(2, who="judge")
    assert len(result.next_comparisons(2, who="judge", repeats=True)) == 2


def test_anchors_are_not_asked_again_and_settle_the_orientation(plain: Fit) -> None:
    asked = plain.next_comparisons(3)
    people = asked[["first", "second"]].assign(winner=np.where(asked["first"] < asked["second"], "first", "second"))
    result = made(votes(), "crowd-bt", people)
    found = result.next_comparisons(1000)
    assert not set(pairs_of(found)) & set(pairs_of(asked))
    assert len(found) == ITEMS * (ITEMS - 1) // 2 - 3
    # The twins weigh as much as the answers are likely under them, relative to the draws.
    _, weights = _weighted_draws(result, "judges", np.random.default_rng(0))
    density, data = result.problem.density, result.problem.data
    x = density.fold_orientations(result.posterior.draws[0], data)[0]
    people_say = [
        density.log_people_likelihood(density.values(one, np), data, np) for one in (x, density.mirror_values(x, np))
    ]
    assert weights[600:] / weights[:600] == pytest.approx(np.exp(people_say[1] - people_say[0]), rel=1e-9)
    alone = made(votes(), "crowd-bt")
    assert len(set(_weighted_draws(alone, "judges", np.random.default_rng(0))[1])) == 1


def test_criteria_ties_and_judges_that_are_alike() -> None:
    table = pd.concat([votes().assign(criterion=c) for c in ("style", "truth")])
    table.loc[table.index % 5 == 0, "winner"] = "tie"
    result = made(table, "maple-position")
    for who in ("person", "judge"):
        found = result.next_comparisons(4, who=who)
        assert set(found["criterion"]) <= {"style", "truth"}
        assert (found["p_tie"] > 0).all()
        assert found[["p_first", "p_second", "p_tie"]].sum(axis=1).tolist() == pytest.approx([1] * 4)
    alike = made(votes(), "bradley-terry")
    found = alike.next_comparisons(4, who="judge")
    assert found["judge"].isna().all()
    with pytest.raises(InputError, match="takes all judges alike; ask about the ranking"):
        alike.next_comparisons(4, about="judges")
    assert alike.next_comparisons(4).attrs["about"] == "ranking"


def test_of_one_judge_whose_positions_tell_nothing_a_person_is_asked_about_the_ranking(tmp_path: Path) -> None:
    rows = [(a, b, "first") for a, b in pairwise("abcde")]
    path = tmp_path / "chain.csv"
    pd.DataFrame(rows, columns=["first", "second", "winner"]).assign(judge="t").to_csv(path, index=False)
    found = CliRunner().invoke(app, ["next", str(path), "--count", "2", "--json"])
    assert found.exit_code == 0, found.output
    made = json.loads(found.stdout)
    assert (made["model"], made["who"], made["about"]) == ("bradley-terry", "person", "ranking")


def test_wrong_requests(plain: Fit) -> None:
    with pytest.raises(InputError) as caught:
        plain.next_comparisons(0, who="cat", about="weather", seed=-1)
    assert len(caught.value.problems) == 4
    with pytest.raises(InputError, match="method 'map' has no draws"):
        replace(plain, posterior=replace(plain.posterior, draws=None)).next_comparisons(3)


def test_fewer_questions_than_were_asked_for_are_said_so(tmp_path: Path) -> None:
    table = tmp_path / "votes.csv"
    table.write_text("judge,first,second,winner\n" + "a,x,y,first\na,y,x,second\na,y,z,first\na,z,y,second\n" * 3)
    command = ["next", str(table), "--model", "crowd-bt", "--who", "judge", "--count", "3", "--no-repeats", "--json"]
    shown = CliRunner().invoke(app, command, catch_exceptions=False)
    assert len(json.loads(shown.stdout)["comparisons"]) == 1
    assert "1 of the 3 asked for: there are no others; --repeats asks again" in " ".join(shown.stderr.split())


@pytest.mark.long
@pytest.mark.slow
def test_the_command_line(tmp_path: Path, plain: Fit) -> None:
    table, out, folder = tmp_path / "votes.csv", tmp_path / "ask.csv", tmp_path / "run"
    votes().to_csv(table, index=False)
    plain.save(folder)
    run = CliRunner()
    shown = run.invoke(app, ["next", str(folder), "--count", "4", "--out", str(out)], catch_exceptions=False)
    assert "expected reduction of entropy in bits, summed over all judges (one answer may inform several)" in " ".join(
        shown.output.split()
    )
    assert shown.exit_code == 0
    assert "Comparisons to send to a person, to learn about the judges" in " ".join(shown.stdout.split())
    form = pd.read_csv(out)
    assert form.columns.tolist() == ["first", "second", "winner", "information", "gain"]
    assert form["winner"].isna().all()
    # Filled in, the form is a table of anchors.
    assert read_anchors(form.assign(winner="first"), plain.problem.votes).count == 4
    command = ["next", str(table), "--model", "crowd-bt", "--who", "judge", "--count", "3", "--json"]
    result = run.invoke(app, command, catch_exceptions=False)
    found = json.loads(result.stdout)
    assert (found["who"], found["about"], len(found["comparisons"])) == ("judge", "ranking", 3)
    assert set(found["comparisons"][0]) >= {"judge", "first", "second", "gain", "information", "p_first"}
    assert found["comparisons"][0]["criterion"] is None
    refused = run.invoke(app, ["next", str(folder), "--out", str(out)])
    assert refused.exit_code == 1
    assert "exists already" in refused.stderr
    assert run.invoke(app, ["next", str(folder), "--model", "crowd-bt"]).exit_code == 2
    assert run.invoke(app, ["next", str(table), "--count", "0"]).exit_code == 1


@pytest.mark.slow
def test_beside_scores_whoever_scored_well_may_be_asked_to_vote() -> None:
    """Scores tell who sees the items' order, and link items that are voted on in pairs alone."""
    rng = np.random.default_rng(1)
    theta = np.linspace(-2, 2, 8)
    sharp = {"sharp": 4.0, "dull": 0.1, "third": 1.0}
    rows = [
        (judge, f"i{n}", int(np.clip(np.round(3 + (by * t + rng.logistic()) / (1 + by)), 1, 5)))
        for judge, by in sharp.items()
        for n, t in enumerate(theta)
        for _ in range(3)
    ]
    scores = pd.DataFrame(rows, columns=["judge", "item", "score"])
    pairs = pd.DataFrame({"judge": "third", "first": [f"i{n}" for n in range(0, 8, 2)], "winner": "second"})
    pairs["second"] = [f"i{n}" for n in range(1, 8, 2)]
    found = fit([pairs, scores], levels=[1, 2, 3, 4, 5], families={})
    asked = found.next_comparisons(4, who="judge", about="ranking")
    assert asked["judge"].iloc[0] == "sharp"  # who has not voted yet
    # of 28 pairs of items at most one bit each; of the four that were voted on it would be four
    assert 4 < asked.attrs["entropy"] < 28
    assert set(found.next_comparisons(2, who="person")["judge"]) == {None}
    with pytest.raises(InputError, match=r"next_comparisons\(\) is for fits of votes; a fit of scores has"):
        fit(scores, method="map").next_comparisons()


def test_the_command_line_takes_scores_beside_votes(tmp_path: Path) -> None:
    votes(share=0.3).to_csv(tmp_path / "votes.csv", index=False)
    rows = [(f"j{k}", f"i{n}", 1 + (n + k) % 3) for k in range(4) for n in range(ITEMS)]
    pd.DataFrame(rows, columns=["judge", "item", "score"]).to_csv(tmp_path / "scores.csv", index=False)
    tables = [str(tmp_path / "votes.csv"), str(tmp_path / "scores.csv")]
    how = ["--levels", "1,2,3,4", "--count", "2", "--who", "judge", "--json"]
    found = CliRunner().invoke(app, ["next", *tables, *how])
    assert found.exit_code == 0, found.output
    made = json.loads(found.stdout)
    assert made["model"] == "joint-position"
    assert len(made["comparisons"]) == 2


SCORED = pd.DataFrame([(j, i, 1 + (len(j + i) + n) % 3) for n, j in enumerate("abc") for i in "xyz"])
SCORED.columns = ["judge", "item", "score"]


@pytest.mark.parametrize(
    ("table", "more", "said"),
    [
        (SCORED, [], "next is for votes and rankings; these are scores, of which voirdire escalate"),
        (
            SCORED.rename(columns={"score": "label"}),
            [],
            "next is for votes and rankings; these are labels, of which voirdire escalate",
        ),
        (votes(), ["--size", "3"], "--size is for rankings"),
        (votes(), ["--count", "0"], "count 0 is not a positive whole number"),
        (votes(), ["--model", "bradley-terry", "--about", "judges"], "takes all judges alike; ask about the ranking"),
        (SCORED.rename(columns={"score": "rank"}), ["--repeats"], "--repeats is for comparisons"),
        (SCORED.rename(columns={"score": "rank"}), ["--size", "9"], "a ranking has from two items to all 3"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: pd.DataFrame, more: list[str], said: str
) -> None:
    monkeypatch.delattr(importlib.import_module("voirdire.fit.verb"), "weigh_answers")
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    refused = CliRunner().invoke(app, ["next", str(path), *more])
    assert said in " ".join(refused.output.replace("│", " ").split())
