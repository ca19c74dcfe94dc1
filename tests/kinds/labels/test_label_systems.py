"""Labels of systems over contexts: how often each is right, with intervals that hold for other contexts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import voirdire
from voirdire import load
from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.fit.store import save
from voirdire.kinds.labels.systems import system_shares
from voirdire.planning.distinguish import plan_to_distinguish

LOGIT = np.array([-0.5, 0.2, 0.9, 1.6, 2.3])
HARD = 1.0  # standard deviation of contexts, in log-odds


def right(logit: Any) -> Any:
    """Share of contexts in which a system is right."""
    z, w = np.polynomial.hermite_e.hermegauss(41)
    return (1.0 / (1.0 + np.exp(-(np.asarray(logit)[..., None] + HARD * z)))) @ w / w.sum()


def labelled(seed: int, contexts: int = 40, accuracy: float = 0.85, judges: int = 3) -> pd.DataFrame:
    """Five systems that are right more or less often, in contexts of which some are hard."""
    rng = np.random.default_rng(seed)
    p = 1.0 / (1.0 + np.exp(-(LOGIT[:, None] + HARD * rng.normal(size=contexts))))
    truth = rng.random(p.shape) < p
    said = truth[:, :, None] == (rng.random((5, contexts, judges)) < accuracy)
    s, x, k = (part.ravel() for part in np.indices(said.shape))
    names = {"judge": k, "context": x, "system": s}
    table = pd.DataFrame({name: [f"{name[0]}{one:02d}" for one in code] for name, code in names.items()})
    return table.assign(label=np.where(said.ravel(), "right", "no"))


def fitted(table: pd.DataFrame, **more: Any) -> Any:
    return voirdire.fit(table, **{"model": "hierarchical-dawid-skene", "method": "laplace"} | more)


@pytest.fixture(scope="module")
def fit() -> Any:
    return fitted(labelled(0))


@pytest.mark.slow
def test_judges_who_err_hardly_leave_what_contexts_leave_open() -> None:
    """Judges of one mind: Beta(1/2 + right, 1/2 + wrong), over like contexts, and the counted share over these."""
    table = labelled(1, accuracy=1.0, judges=4)
    truth = table[table["judge"] == "j00"].groupby("system")["label"].apply(lambda y: (y == "right").sum())
    drawn = system_shares(fitted(table).problem, fitted(table).posterior)[..., 1]
    for place, count in enumerate(truth):
        beta = stats.beta(0.5 + count, 40.5 - count)
        assert drawn[:, place].mean() == pytest.approx(beta.mean(), abs=0.01)
        assert drawn[:, place].std() == pytest.approx(beta.std(), rel=0.15)
    here = fitted(table, over="these").systems().set_index("system")["score"].sort_index()
    assert here.to_numpy() == pytest.approx(truth.to_numpy() / 40, abs=0.02)


@pytest.mark.long
@pytest.mark.slow
def test_systems_are_drawn_less_to_what_all_share() -> None:
    """Where judges err often, the plain mean of beliefs is drawn in; the systems' own shares much less."""
    found, drawn_in = [], []
    for seed in range(6):
        fit = fitted(labelled(seed, contexts=60, accuracy=0.75))
        found.append(fit.systems().set_index("system")["score"].sort_index())
        beliefs = fit.classes().assign(system=lambda t: t["item"].str[-3:])
        drawn_in.append(beliefs.groupby("system")["p_right"].mean())
    slope = [np.polyfit(right(LOGIT), np.mean(each, axis=0), 1)[0] for each in (found, drawn_in)]
    assert slope[1] + 0.05 < slope[0] < 1.12


@pytest.mark.long
@pytest.mark.slow
def test_intervals_hold_for_other_contexts() -> None:
    """Of 40 tables of five systems 90% intervals hold what is so over all contexts (mcse 2%, contexts shared)."""
    inside = []
    for seed in range(40):
        found = fitted(labelled(100 + seed)).systems().set_index("system").sort_index()
        inside.append((found["low"] <= right(LOGIT)) & (found["high"] >= right(LOGIT)))
    assert 0.85 <= np.mean(inside) <= 0.96


@pytest.mark.slow
def test_over_these_contexts_intervals_are_narrower(fit: Any) -> None:
    here = fitted(labelled(0), over="these")
    assert here.systems()["sd"].mean() < 0.9 * fit.systems()["sd"].mean()
    assert (here.as_dict()["over"], fit.as_dict()["over"]) == ("these", "new")


@pytest.mark.slow
def test_the_board_is_of_systems(fit: Any, tmp_path: Any) -> None:
    board = fit.board()
    assert board["items"][0]["item"] == "s04"
    assert len(board["answers"]) == 200
    assert {row["item"] for row in board["items"]} == {f"s{n:02d}" for n in range(5)}
    assert board["items"][0]["score"] == pytest.approx(fit.systems()["score"].max())
    assert all(row["more_contexts"] is None or row["more_contexts"] > 0 for row in board["next"] if not row["apart"])
    labelled(0).to_csv(tmp_path / "labels.csv", index=False)
    how = ["board", str(tmp_path / "labels.csv"), "--model", "hierarchical-dawid-skene", "--method", "laplace"]
    done = CliRunner().invoke(app, [*how, "-o", str(tmp_path / "board.html")])
    assert done.exit_code == 0, done.output
    assert "share of right" in (tmp_path / "board.html").read_text()


@pytest.mark.slow
def test_a_saved_fit_has_the_same_systems(tmp_path: Any) -> None:
    fit = fitted(labelled(0), over="these")
    save(fit, tmp_path / "run")
    pd.testing.assert_frame_equal(load(tmp_path / "run").systems(), fit.systems())


@pytest.mark.slow
@pytest.mark.long
def test_mean_grades() -> None:
    rng = np.random.default_rng(0)
    s, x, k = (part.ravel() for part in np.indices((4, 40, 3)))
    grade = np.clip(
        np.round(1.5 + 0.5 * s + 0.6 * rng.normal(size=(4, 40))[s, x] + 0.4 * rng.normal(size=len(s))), 1, 4
    )
    names = {"judge": k, "context": x, "system": s}
    table = pd.DataFrame({name: [f"{name[0]}{one}" for one in code] for name, code in names.items()})
    found = voirdire.fit(table.assign(label=grade.astype(int)), method="laplace")
    assert found.model.name == "ordered-labels"
    systems = found.systems()
    means = table.assign(grade=grade).groupby("system")["grade"].mean()
    assert systems["system"].tolist() == ["s3", "s2", "s1", "s0"]
    assert systems["score"].to_numpy() == pytest.approx(means[::-1].to_numpy(), abs=0.25)
    assert {"share_1", "share_1_low", "share_4_high"} <= set(systems)


@pytest.mark.slow
def test_classes_without_an_order_have_shares_alone() -> None:
    rng = np.random.default_rng(0)
    s, x, k = (part.ravel() for part in np.indices((3, 30, 3)))
    truth = np.array([rng.choice(3, 30, p=p) for p in ([0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6])])
    said = np.where(rng.random(len(s)) < 0.85, truth[s, x], rng.integers(0, 3, len(s)))
    names = {"judge": k, "context": x, "system": s}
    table = pd.DataFrame({name: [f"{name[0]}{one}" for one in code] for name, code in names.items()})
    found = fitted(table.assign(label=np.array(["art", "law", "sport"])[said]))
    systems = found.systems().set_index("system")
    assert "score" not in systems
    assert systems.loc["s1", ["share_art", "share_law", "share_sport"]].astype(float).idxmax() == "share_law"
    with pytest.raises(InputError, match="'art', 'law', 'sport' none is known to be the better one"):
        found.board()


def test_what_is_not_about_systems_is_refused() -> None:
    table = labelled(0)
    items = table.assign(item=table["context"] + table["system"]).drop(columns=["context", "system"])
    found = fitted(items, method="map")
    with pytest.raises(InputError, match="columns context and system"):
        found.systems()
    with pytest.raises(InputError, match="boards and plans of labels are about systems over contexts: they need"):
        found.board()
    with pytest.raises(InputError, match="over 'these' is for labels of several systems"):
        fitted(items, over="these")
    with pytest.raises(InputError, match="needs draws"):
        fitted(table, method="map").systems()


def test_more_judges_of_the_same_contexts_leave_open_what_contexts_do() -> None:
    table = labelled(4, contexts=20, accuracy=1.0)
    fit = fitted(table)
    right = table[table["judge"] == "j00"].pivot(index="context", columns="system", values="label").eq("right")
    apart = right["s03"].astype(float) - right["s04"]
    found = fit.kind.context_difference_variance(fit.problem, fit.posterior, ("s03", "s04"))
    assert found == pytest.approx(apart.var(ddof=1), rel=0.1)
    rows = {row["of"].split(",")[0]: row for row in plan_to_distinguish(fit, ("s03", "s04")).rows}
    assert rows["judges"]["probability"] < rows["contexts"]["probability"]
    assert rows["judges"]["more"] is None
    assert rows["labels in the same contexts"]["more"] is None
