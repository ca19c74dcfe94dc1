"""The verb: who may replace people, by votes, labels and scores, from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire import InputError
from voirdire.agreement import may_replace
from voirdire.cli import app


def labels(who: str, right: float, truth: Any, rng: np.random.Generator, column: str = "judge") -> pd.DataFrame:
    said = np.where(rng.random(len(truth)) < right, truth, 1 - truth)
    return pd.DataFrame({column: who, "item": range(len(truth)), "label": np.array(["no", "yes"])[said]})


@pytest.fixture(scope="module")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 600)
    judges = pd.concat([labels(name, right, truth, rng) for name, right in (("a", 0.9), ("b", 0.85), ("coin", 0.5))])
    people = pd.concat([labels(name, 0.85, truth[:200], rng, "person") for name in ("ann", "bob", "eve")])
    return judges, people


def test_verdicts_and_figures(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    judges, people = tables
    found = may_replace(judges, people).set_index("judge")
    assert list(found.index) == ["a", "b", "coin", "majority of the judges"]
    assert found.loc["coin", "verdict"] == "no"
    assert found.loc["a", "verdict"] == "yes"
    assert found.loc["a", "omega"] == 1.0
    assert found.loc["coin", "omega"] == 0.0
    # agreement with people, and of people with each other, by hand
    wide = people.pivot_table(index="item", columns="person", values="label", aggfunc="first")
    pairs = [("ann", "bob"), ("ann", "eve"), ("bob", "eve")]
    among = np.mean([(wide[one] == wide[two]).mean() for one, two in pairs])
    said = judges[judges["judge"] == "a"].set_index("item")["label"].reindex(wide.index)
    with_people = np.mean([(said == wide[name]).mean() for name in wide])
    assert found.loc["a", "people"] == pytest.approx(among)
    assert found.loc["a", "agreement"] == pytest.approx(with_people)
    assert found.loc["a", "n"] == 200
    assert found.loc["a", "units"] == 600
    assert found.loc["a", "low"] < found.loc["a", "difference"] < found.loc["a", "high"]
    assert found.loc["a", "more"] == 0


def test_few_answers_are_not_enough_and_more_are_asked_for(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    judges, people = tables
    found = may_replace(judges, people[people["item"] < 25], judges=["b"]).iloc[0]
    assert found["verdict"] == "not sure yet"
    assert found["more"] is None or np.isnan(found["more"]) or found["more"] > 25
    assert "no omega" in found["note"]
    few = may_replace(judges, people[people["item"] < 6], judges=["b"]).iloc[0]
    assert (few["verdict"], few["more"]) == ("not sure yet", 4)


def test_people_may_be_files_and_one_of_them_may_do_with_a_bar(
    tables: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    judges, people = tables
    files = []
    for name, of in people.groupby("person"):
        files.append(tmp_path / f"answers-{name}.csv")
        of.drop(columns="person").to_csv(files[-1], index=False)
    whole = may_replace(judges, people)
    parts = may_replace(judges, files)
    pd.testing.assert_frame_equal(whole, parts)
    with pytest.raises(InputError, match="no unit has the answers of two people"):
        may_replace(judges, files[0])
    found = may_replace(judges, files[0], bar=0.745).set_index("judge")
    assert found.loc["a", "verdict"] == "yes"
    assert found.loc["coin", "verdict"] == "no"
    judges.to_csv(tmp_path / "labels.csv", index=False)
    words = [word for path in files for word in ("--humans", str(path))]
    done = CliRunner().invoke(app, ["replace", str(tmp_path / "labels.csv"), *words, "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert [row["verdict"] for row in rows] == whole["verdict"].tolist()
    shown = CliRunner().invoke(app, ["replace", str(tmp_path / "labels.csv"), *words])
    assert "People answered 200 of 600 units" in shown.output


@pytest.mark.parametrize("criteria", [None, ["accuracy", "helpfulness"]])
def test_every_number_and_name_is_shown_on_a_narrow_screen(
    tables: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path, criteria: list[str] | None
) -> None:
    judges, people = (part.replace("coin", "gpt-4o-mini") for part in tables)
    if criteria:
        judges, people = (pd.concat([part.assign(criterion=name) for name in criteria]) for part in (judges, people))
    judges.to_csv(tmp_path / "labels.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ["replace", str(tmp_path / "labels.csv"), "--humans", str(tmp_path / "people.csv")]
    rows = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["rows"]
    lines = CliRunner().invoke(app, words, env={"COLUMNS": "80"}).stdout.splitlines()
    shown = "\n".join(lines)
    assert all(f"{name}: " in shown for name in ("people", "difference", "omega", "rho"))
    for row in rows:
        numbers = [f"{row[key]:z.2f}" for key in ("difference", "low", "high")]
        assert f"judge: {row['judge']}" in lines
        assert f"  verdict: {row['verdict']}" in lines
        assert f"  difference: {numbers[0]} [{numbers[1]}, {numbers[2]}]" in lines, row["judge"]
        assert all("…" not in line and len(line.rstrip()) <= 80 for line in lines)


def test_votes_in_either_order_and_scores() -> None:
    rng = np.random.default_rng(3)
    pairs = [(f"x{a}", f"x{b}") for a in range(20) for b in range(a)]

    def votes(who: str, right: float, flip: bool) -> pd.DataFrame:
        rows = []
        for one, two in pairs:
            best, worst = (one, two) if rng.random() < right else (two, one)
            first, second = (two, one) if flip else (one, two)
            rows.append({"judge": who, "first": first, "second": second, "winner": best if best else worst})
        return pd.DataFrame(rows)

    judges = pd.concat([votes("good", 0.95, False), votes("bad", 0.3, True)])
    people = pd.concat([votes(name, 0.9, name == "ann").rename(columns={"judge": "person"}) for name in ("ann", "bob")])
    found = may_replace(judges, people).set_index("judge")["verdict"]
    assert found["good"] == "yes"
    assert found["bad"] == "no"
    truth = rng.normal(size=300)

    def scores(who: str, sd: float) -> pd.DataFrame:
        return pd.DataFrame({"judge": who, "item": range(300), "score": truth + sd * rng.normal(size=300)})

    judges = pd.concat([scores("good", 0.1), scores("bad", 3.0), scores("fair", 1.0)])
    people = pd.concat([scores(name, 0.5) for name in ("ann", "bob", "eve")])
    found = may_replace(judges, people).set_index("judge")["verdict"]
    assert found[["good", "bad"]].tolist() == ["yes", "no"]
    assert "mean of the judges" in found.index


def test_chances_weigh_and_are_checked(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    judges, people = tables
    even = people.assign(probability=0.5)
    columns = ["difference", "low", "high"]
    plain = may_replace(judges, people)[columns].to_numpy()
    assert may_replace(judges, even)[columns].to_numpy() == pytest.approx(plain)
    tilted = people.assign(probability=np.where(people["item"] < 100, 0.9, 0.1))
    assert not np.allclose(may_replace(judges, tilted)[columns].to_numpy(), plain)
    with pytest.raises(InputError, match="is no number above 0"):
        may_replace(judges, people.assign(probability=0))
    wrong = people.assign(probability=np.linspace(0.1, 0.9, len(people)))
    with pytest.raises(InputError, match="the same unit has another probability"):
        may_replace(judges, wrong)


def test_what_is_wrong_is_said(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    judges, people = tables
    with pytest.raises(InputError, match="'a' is a judge of the table, too"):
        may_replace(judges, people.assign(person="a"))
    for margin in (-1, "0.1"):
        with pytest.raises(InputError, match=f"margin {margin!r} is not 0 or more"):
            may_replace(judges, people, margin=margin)
    with pytest.raises(InputError, match="they have a column 'score'"):
        may_replace(judges, people.rename(columns={"label": "score"}).assign(score=1))
    with pytest.raises(InputError, match="judge 'c' is not in the table"):
        may_replace(judges, people, judges=["c"])
    of_phases = [pd.concat([one.assign(phase=phase) for phase in ("first", "last one")]) for one in tables]
    with pytest.raises(InputError, match=r"replace would mix phases; .* \(--where 'phase=last one'\)"):
        may_replace(*of_phases)
    one = may_replace(*(table[table["phase"] == "last one"] for table in of_phases))
    assert one.equals(may_replace(*tables))


def test_scores_in_few_levels_are_compared_by_how_far_they_are_apart() -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 200)

    def near(who: str, miss: float) -> pd.DataFrame:
        step = np.where(rng.random(200) < miss, rng.choice([-1, 1], 200), 0)
        return pd.DataFrame({"judge": who, "item": range(200), "score": np.clip(truth + step, 1, 5)})

    judge, people = near("near", 0.5), [near(name, 0.5) for name in ("ann", "bob")]
    # a judge that is right as often, and far off else
    far = judge.assign(judge="far", score=np.where(judge["score"] == truth, truth, 6 - truth))
    found = may_replace(pd.concat([judge, far]), pd.concat(people)).set_index("judge")
    assert found.loc["near", "measure"] == "weighted"
    assert found.loc["near", "agreement"] > 0.9 > found.loc["far", "agreement"]
    assert found["verdict"].tolist() == ["no", "yes"]
    said = pd.concat([judge, judge])["score"]
    them = pd.concat(people)["score"]
    assert found.loc["near", "kappa"] == pytest.approx(cohen_kappa_score(said, them, weights="quadratic"))
    assert found.loc["near", "error"] == pytest.approx(np.mean(np.abs(said.to_numpy() - them.to_numpy())))
    assert found.loc["near", "correlation"] == pytest.approx(np.corrcoef(said, them)[0, 1])
    assert found.loc["near", "means"].startswith("near may replace a person: it falls short by less than 0.05")
    (ann, bob) = found.attrs["people"]
    assert (ann["judge"], bob["judge"], ann["n"]) == ("ann", "bob", 200)
    assert ann["kappa"] == pytest.approx(cohen_kappa_score(*(one["score"] for one in people), weights="quadratic"))
    equal = may_replace(pd.concat([judge, far]), pd.concat(people), measure="equality").set_index("judge")
    assert equal.loc["near", "agreement"] < 0.7
    with pytest.raises(InputError, match="measure 'kappa' is none of equality, weighted, distance"):
        may_replace(judge, pd.concat(people), measure="kappa")  # type: ignore[arg-type]


def test_items_of_one_context_are_not_independent() -> None:
    rng = np.random.default_rng(0)
    truth, context = rng.integers(0, 2, 200), np.repeat(np.arange(10), 20)
    right = np.where(context % 2, 0.95, 0.35)  # the judge knows half of the subjects

    def said(who: str, share: Any) -> pd.DataFrame:
        answers = np.where(rng.random(200) < share, truth, 1 - truth)
        return pd.DataFrame({"judge": who, "context": context, "item": range(200), "label": answers})

    judge, people = said("gpt", right), pd.concat([said(name, 0.9) for name in "abc"])
    of_contexts = may_replace(judge, people, levels=[0, 1]).iloc[0]
    of_items = may_replace(judge.assign(context=range(200)), people.assign(context=[*range(200)] * 3), levels=[0, 1])
    assert of_contexts["difference"] == pytest.approx(of_items["difference"][0])
    assert of_contexts["high"] - of_contexts["low"] > 2 * (of_items["high"][0] - of_items["low"][0])
