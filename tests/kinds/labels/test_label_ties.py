"""Exact ties: as many labels of two classes, and two judges who always contradict each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.infer import hmc_cost


def split(seed: int = 0) -> pd.DataFrame:
    """Items with one, two, three or four labels, of three classes."""
    said = {"q": "CI", "r": "CCI", "s": "CIP", "t": "PPII", "u": "I", "v": "CCIP"}
    rows = [(f"g{n}", item, label) for item, labels in said.items() for n, label in enumerate(labels)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"]).sample(frac=1.0, random_state=seed)


TIED = {"q": ["C", "I"], "s": ["C", "I", "P"], "t": ["I", "P"]}


@pytest.mark.parametrize("method", ["map", "laplace"])
@pytest.mark.parametrize("seed", [0, pytest.param(5, marks=pytest.mark.slow)])
def test_a_tie_of_labels_is_a_tie(method: str, seed: int) -> None:
    fit = voirdire.fit(split(seed), model="majority-label", method=method, seed=seed)
    found = fit.classes().set_index("item")
    for item, classes in TIED.items():
        chance = found.loc[item, [f"p_{label}" for label in classes]].to_numpy(float)
        assert len(set(chance)) == 1
        assert found.loc[item, "label"] == classes[0]
    assert found.loc["r", "p_C"] > found.loc["r", "p_I"]
    row = fit.checks().set_index("check").loc["ties"]
    assert row["level"] == "warn"
    assert row["message"].startswith("3 of 6 items are exact ties: q (C or I), s (C or I or P), t (I or P).")


def test_of_two_classes_each_has_one_half(tmp_path: Path) -> None:
    """The same probabilities whatever the order of rows and the seed, and the same keys as ever."""
    table = split()
    table = table[table["item"].isin(["q", "r"]) & (table["label"] != "P")]
    found = []
    for seed, rows in ((0, table), (5, table.iloc[::-1])):
        rows.to_csv(tmp_path / "t.csv", index=False)
        how = ["fit", str(tmp_path / "t.csv"), "--model", "majority-label", "--json", "--seed", str(seed)]
        done = CliRunner().invoke(app, how, catch_exceptions=False)
        found.append(next(row for row in json.loads(done.stdout)["items"] if row["item"] == "q"))
    assert found[0] == found[1]
    assert found[0] == {
        **{
            "item": "q",
            "label": "C",
            "probability": 0.5,
            "probability_panel": 0.5,
            "p_C": 0.5,
            "p_I": 0.5,
            "known": False,
        }
    }


def contrary(items: int = 24, agreed: tuple[int, int] = (0, 0), seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(items):
        one = "pq"[rng.integers(2)]
        rows += [("f1", f"x{n:02d}", one), ("f2", f"x{n:02d}", "q" if one == "p" else "p")]
    rows += [(judge, f"p{n}", "p") for n in range(agreed[0]) for judge in ("f1", "f2")]
    rows += [(judge, f"q{n}", "q") for n in range(agreed[1]) for judge in ("f1", "f2")]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


@pytest.fixture
def unmoved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hmc_cost, "MAX_MIXTURE_WORK", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("unmoved")
@pytest.mark.parametrize("agreed", [(0, 0), (3, 3)])
@pytest.mark.parametrize("model", ["hierarchical-dawid-skene", "dawid-skene", "one-coin-label", "dawid-skene-pooled"])
def test_of_two_contrary_judges_neither_is_better(model: str, agreed: tuple[int, int]) -> None:
    fit = voirdire.fit(contrary(agreed=agreed), model=model, method="laplace")
    found = fit.classes()
    split = found[found["item"].str.startswith("x")]
    np.testing.assert_allclose(split["p_p"], 0.5, atol=1e-9)
    judges = fit.judges().drop(columns=["judge", "answers"])
    np.testing.assert_allclose(*judges.to_numpy(float), atol=1e-9)
    assert fit.checks().set_index("check").loc["ties", "value"] == 24


@pytest.mark.slow
@pytest.mark.usefixtures("unmoved")
@pytest.mark.parametrize("how", [{"agreed": (4, 1)}, {"agreed": (0, 1)}])
def test_what_can_be_told_is_not_evened(how: dict[str, Any]) -> None:
    fit = voirdire.fit(contrary(**how), model="hierarchical-dawid-skene", method="laplace")
    assert "ties" not in set(fit.checks()["check"])
    third = contrary().assign(judge=lambda t: t["judge"].replace("f2", "f3"))
    three = pd.concat([contrary(), third[third["judge"] == "f3"].head(9)])
    assert "ties" not in set(voirdire.fit(three, method="map").checks()["check"])


def by_judge(**given: str) -> pd.DataFrame:
    """One letter an item."""
    rows = [(judge, f"x{n:02d}", label) for judge, said in given.items() for n, label in enumerate(said)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


@pytest.mark.usefixtures("unmoved")
def test_of_two_camps_neither_is_better() -> None:
    table = by_judge(a="pqppqp", b="pqppqp", c="qpqqpq", d="qpqqpq")
    fit = voirdire.fit(table, model="hierarchical-dawid-skene", method="laplace")
    np.testing.assert_allclose(fit.classes()["p_p"], 0.5, atol=1e-9)
    assert fit.checks().set_index("check").loc["ties", "value"] == 6
    judges = fit.judges().drop(columns=["judge", "answers"]).to_numpy(float)
    np.testing.assert_allclose(judges, judges[:1].repeat(4, axis=0), atol=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("unmoved")
def test_of_two_contrary_judges_of_three_classes_neither_is_better() -> None:
    table = by_judge(a="pqr" * 4, b="qrp" * 4)
    fit = voirdire.fit(table, model="hierarchical-dawid-skene", method="laplace")
    found = fit.classes()
    for item, (one, other) in zip(["x00", "x01", "x02"], ["pq", "qr", "pr"], strict=True):
        row = found.set_index("item").loc[item]
        assert row[f"p_{one}"] == pytest.approx(row[f"p_{other}"], abs=1e-9)
    ties = fit.checks().set_index("check").loc["ties"]
    assert ties["value"] == 12
    assert ties["message"].startswith("12 of 12 items are exact ties: x00 (p or q), x01 (q or r), x02 (p or r)")
    reliability = fit.judges()["reliability"].to_numpy(float)
    assert reliability[0] == pytest.approx(reliability[1], abs=1e-9)


@pytest.mark.usefixtures("unmoved")
def test_classes_that_are_alike_but_not_the_most_probable_are_no_tie() -> None:
    # of x00 a and b can be exchanged, and so c stands alone
    table = by_judge(j="caabb", k="cabba", l="aaabb", m="baabb")
    fit = voirdire.fit(table, model="hierarchical-dawid-skene", method="laplace")
    row = fit.classes().set_index("item").loc["x00"]
    assert row["label"] == "c"
    assert row["p_a"] == pytest.approx(row["p_b"], abs=1e-9)
    assert "x00" not in "".join(fit.checks().set_index("check")["message"].get(["ties"], pd.Series([""])))
