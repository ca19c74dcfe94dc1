"""Cut and joint use of items of known class: the density, who is believed, what is chosen, shown and stored."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import betaln, expit, log_expit
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.fit.human import compare_methods, describe_anchors
from voirdire.kinds import LabelsProblem
from voirdire.kinds.human import PEOPLE_ALONE, Anchored, LeftOut
from voirdire.kinds.labels import cut as shares
from voirdire.kinds.labels.class_probabilities import class_probabilities

Simulate = Callable[..., tuple[pd.DataFrame, pd.Series]]
A, B, REVERSED, SD = 4.0, 1.5, 0.1, 1.5  # of one-coin-label
LEAN = 1.5


def table_of(rows: list[tuple[str, str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


# two judges; x0 to x3 are known, of the others only the patterns of labels differ
SMALL = table_of(
    [("a", f"x{n}", label) for n, label in enumerate("yynynyynn")]
    + [("b", f"x{n}", label) for n, label in enumerate("ynnyyyyny")]
)
KNOWN = pd.DataFrame({"item": ["x0", "x1", "x2", "x3"], "label": ["y", "y", "n", "n"]})


def on_grid(right: int, wrong: int, size: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Points of a coin with their posterior probabilities given known items alone."""
    x = np.linspace(-9, 9, size)
    straight = A * log_expit(x) + B * log_expit(-x) + np.log1p(-REVERSED)
    back = B * log_expit(x) + A * log_expit(-x) + np.log(REVERSED)
    log = np.logaddexp(straight, back) + right * log_expit(x) + wrong * log_expit(-x)
    p = np.exp(log - log.max())
    return expit(x), p / p.sum()


def test_one_coin_classes_are_those_of_direct_summation() -> None:
    """Coins on a grid given the known items, then the share on a grid given coins and all labels."""
    fit = voirdire.fit(SMALL, model="one-coin-label", anchors=KNOWN, anchor_mode="cut")
    said = {name: part.set_index("item")["label"] for name, part in SMALL.groupby("judge")}
    coins = []
    for judge in "ab":
        right = sum(said[judge][item] == label for item, label in KNOWN.to_numpy())
        coins.append(on_grid(right, len(KNOWN) - right))
    (one, p_one), (two, p_two) = coins
    gap = np.linspace(-9, 9, 181)  # log-odds of "y": variance 2 sd^2 under the prior
    share, log_prior = expit(gap), -(gap**2) / (4 * SD**2)

    def of_class(item: str, truth: str) -> np.ndarray:
        parts = [np.where(said[judge][item] == truth, eta, 1 - eta) for judge, eta in (("a", one), ("b", two))]
        return parts[0][:, None, None] * parts[1][None, :, None]

    known = dict(KNOWN.to_numpy())
    log = log_prior + np.zeros((len(one), len(two), 1))
    belief = {}
    for item in said["a"].index:
        yes, no = share * of_class(item, "y"), (1 - share) * of_class(item, "n")
        if item in known:
            log = log + np.log(yes if known[item] == "y" else no)
        else:
            log = log + np.log(yes + no)
            belief[item] = yes / (yes + no)
    of_share = np.exp(log - log.max(axis=2, keepdims=True))
    of_share /= of_share.sum(axis=2, keepdims=True)
    joint = p_one[:, None, None] * p_two[None, :, None] * of_share
    assert isinstance(fit.problem, LabelsProblem)
    values = [fit.problem.density.values(x, np) for x in fit.posterior.draws[0]]
    found = class_probabilities(fit.problem.density, values, fit.problem.data)[fit.problem.unit_row, 1]
    at = {fit.problem.items[i]: p for i, p in zip(fit.problem.unit_item, found, strict=True)}
    for item, p in belief.items():
        # 1,000 sets of coins: a standard deviation of up to 0.3 over them is a Monte Carlo error below 0.01
        assert at[item] == pytest.approx(float((joint * p).sum()), abs=0.025), item
    drawn = expit(fit.posterior.values["class_share"][:, 0, 1] * 2)
    assert drawn.mean() == pytest.approx(float((joint * share).sum()), abs=0.015)
    assert drawn.std() == pytest.approx(float(np.sqrt((joint * share**2).sum() - (joint * share).sum() ** 2)), rel=0.1)
    judges = fit.judges().set_index("judge")
    for name, (eta, p) in zip("ab", coins, strict=True):
        fine_eta, fine_p = on_grid(*counts_of(name, said), size=4001)
        ends = np.interp([0.05, 0.95], fine_p.cumsum(), fine_eta)
        found_ends = judges.loc[name, ["reliability_low", "reliability_high"]].astype(float)
        np.testing.assert_allclose(found_ends, ends, atol=0.06)  # four standard errors of a 5% point of 1,000 draws
        assert float((eta * p).sum()) == pytest.approx(float((fine_eta * fine_p).sum()), abs=1e-6)


def counts_of(judge: str, said: dict[str, pd.Series]) -> tuple[int, int]:
    right = sum(said[judge][item] == label for item, label in KNOWN.to_numpy())
    return right, len(KNOWN) - right


def test_coins_are_drawn_from_their_mixture_of_betas() -> None:
    """Also where a judge may well be reversed: two right of ten."""
    rows = [("a", f"x{n}", "y" if n < 2 else "n") for n in range(10)]
    rows += [("b", f"x{n}", "yn"[n % 2]) for n in range(12)]
    known = pd.DataFrame({"item": [f"x{n}" for n in range(10)], "label": "y"})
    fit = voirdire.fit(table_of(rows), model="one-coin-label", anchors=known, anchor_mode="cut")
    drawn = expit(fit.posterior.values["reliability"][::4, 0])
    weight = REVERSED * np.exp(betaln(B + 2, A + 8) - betaln(A + 2, B + 8))
    back = weight / (weight + 1 - REVERSED)
    law = lambda x: back * stats.beta.cdf(x, B + 2, A + 8) + (1 - back) * stats.beta.cdf(x, A + 2, B + 8)  # noqa: E731
    assert stats.kstest(drawn, law).pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["hierarchical-dawid-skene", pytest.param("dawid-skene-pooled", marks=pytest.mark.slow)]
)
def test_rows_of_matrices_are_those_of_the_known_items_alone(model: str) -> None:
    """With two labels the right label's log-odds is lean + panel + own, normal a priori with variances 2 sd^2."""
    rows = [(judge, f"x{n}", "y") for judge in "ab" for n in range(6)]
    rows += [("a", "x6", "n"), ("b", "x6", "y"), ("c", "x7", "n"), ("a", "x7", "y")]
    known = pd.DataFrame({"item": [f"x{n}" for n in range(7)], "label": "y"})
    fit = voirdire.fit(table_of(rows), model=model, anchors=known, anchor_mode="cut")
    panel = np.linspace(-7, 7, 141)[:, None]
    own = np.linspace(-7, 7, 141)[None] if model == "hierarchical-dawid-skene" else np.zeros((1, 1))
    logit = LEAN + panel + own
    p_own = np.exp(-(own**2) / 4)
    right, wrong = {"a": 6, "b": 7, "c": 0}, {"a": 1, "b": 0, "c": 0}
    each = {k: np.exp(right[k] * log_expit(logit) + wrong[k] * log_expit(-logit)) * p_own for k in right}
    of_panel = np.exp(-(panel[:, 0] ** 2) / 4) * np.prod([part.sum(axis=1) for part in each.values()], axis=0)
    drawn = np.exp(fit.problem.density.rates(fit.posterior.values, np))[..., 1, 1]
    for place, judge in enumerate("abc"):
        weight = each[judge] / each[judge].sum(axis=1, keepdims=True) * (of_panel / of_panel.sum())[:, None]
        mean = float((weight * expit(logit)).sum())
        sd = float(np.sqrt((weight * (expit(logit) - mean) ** 2).sum()))
        got = drawn[:, min(place, drawn.shape[1] - 1)]
        assert got.mean() == pytest.approx(mean, abs=0.02), judge  # four standard errors of 1,000 draws of sd 0.15
        assert got.std() == pytest.approx(sd, rel=0.12), judge


def test_shares_of_few_items_are_as_on_a_grid() -> None:
    """Three items leave the share far from normal; draws are those of the density all the same."""
    lik = np.array([[[0.9, 0.1], [0.2, 0.8], [0.95, 0.05]]])
    found, sd = shares.Likelihoods(np.repeat(lik, 2000, axis=0), np.array([1.0, 2.0, 1.0])), 1.5
    drawn = shares.draw_shares(found, shares.share_modes(found, sd), sd, 2, np.random.default_rng(0))
    p = np.exp(shares.log_shares(drawn, 2))[..., 1].ravel()
    gap = np.linspace(-14, 14, 4001)
    s = expit(gap)
    mixed = np.prod(((1 - s[:, None]) * lik[0, :, 0] + s[:, None] * lik[0, :, 1]) ** [1, 2, 1], axis=1)
    weight = np.exp(-(gap**2) / (4 * sd**2)) * mixed
    law = np.interp(np.sort(p), s, (weight / weight.sum()).cumsum())
    # 4,000 draws, two from each set of 16 proposals: somewhat dependent, so twice the 1% point of the distance
    assert np.abs(law - (np.arange(len(p)) + 0.5) / len(p)).max() < 2 * 1.63 / np.sqrt(len(p))


@pytest.fixture(scope="module")
def clique() -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """Six judges who label by something else, alike to 95%, and three who are right on 85%; 30 known items."""
    rng = np.random.default_rng(3)
    truth, other = rng.integers(2, size=(2, 240))
    rows = []
    for k in range(9):
        follows, share = (other, 0.95) if k < 6 else (truth, 0.85)
        said = np.where(rng.random(240) < share, follows, 1 - follows)
        rows += [(f"judge-{k}", f"item-{i:03d}", "ny"[label]) for i, label in enumerate(said)]
    names = pd.Index([f"item-{i:03d}" for i in range(240)], name="item")
    classes = pd.Series(np.array(["n", "y"])[truth], index=names, name="label")
    return table_of(rows), classes, classes.head(30).reset_index()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("model", ["hierarchical-dawid-skene", "one-coin-label"])
def test_a_clique_drags_joint_along_and_cut_is_right(
    clique: tuple[pd.DataFrame, pd.Series, pd.DataFrame], model: str
) -> None:
    table, truth, known = clique
    rest = truth.iloc[30:].reset_index()
    right = {}
    for mode in ("joint", "cut", None):
        how = {"model": model, "method": "map", "anchors": known, "anchor_mode": mode}
        fit = voirdire.fit(table, about="panel", **how)
        right[mode] = float(fit.accuracy(rest, resamples=1)["value"][0])
        # about the target both are averaged, whichever is asked for
        assert voirdire.fit(table, **how).accuracy(rest, resamples=1)["value"][0] > 0.85
    assert right["joint"] < 0.6
    assert right["cut"] > 0.85
    assert right[None] == right["cut"]
    methods = fit.anchor_methods().set_index("method")
    assert methods.index.tolist() == ["majority", "joint", "cut", "average"]
    assert methods["chosen"].tolist() == [False, False, True, False]
    assert methods["used"].tolist() == ["", "", "judges", "items"]
    assert methods.loc["cut", "log_loss"] < methods.loc["joint", "log_loss"] - 1
    assert any("cut, because it predicts left-out anchors clearly better" in note for note in fit.notes)
    judges = voirdire.fit(table, model=model, anchors=known, anchor_mode="cut").judges()
    assert (judges["reliability_high"][6:] > 0.8).all()
    assert (judges["reliability_low"][:6] < 0.55).all()


@pytest.mark.slow
def test_judges_of_the_cut_do_not_hear_what_others_say_elsewhere(
    clique: tuple[pd.DataFrame, pd.Series, pd.DataFrame],
) -> None:
    table, _, known = clique
    turned = table.copy()
    elsewhere = ~table["item"].isin(known["item"])
    turned.loc[elsewhere, "label"] = turned.loc[elsewhere, "label"].map({"n": "y", "y": "n"})
    columns = ["reliability", "reliability_low", "reliability_high"]
    one, two = (voirdire.fit(t, anchors=known, anchor_mode="cut").judges()[columns] for t in (table, turned))
    pd.testing.assert_frame_equal(one, two, atol=1e-9)


@pytest.mark.slow
def test_classes_without_an_anchor_are_named_by_the_prior_alone() -> None:
    """Of c two names are open: rows of both are the prior's, so P(other naming) = Phi(-lean / sd)."""
    rng = np.random.default_rng(0)
    rows = [(judge, f"x{n}", "abc"[rng.integers(3)]) for judge in "jkl" for n in range(40)]
    known = pd.DataFrame({"item": [f"x{n}" for n in range(8)], "label": "a"})
    fit = voirdire.fit(table_of(rows), model="dawid-skene-pooled", anchors=known, anchor_mode="cut")
    check = fit.checks().set_index("check").loc["label-switching"]
    # 1,000 draws of a probability whose standard deviation is below 0.15
    assert check["value"] == pytest.approx(stats.norm.cdf(-LEAN), abs=0.015)
    density, draws = fit.problem.density, fit.posterior.draws
    folded, _, turned = density.fold_orientations(draws, fit.problem.data)
    assert turned.mean() == pytest.approx(check["value"], abs=1 / turned.size)  # both namings, by their mass
    log = density.rates(density.values(folded[0], np), np)[:, 0, 1:, 1:]
    assert (log[:, 0, 0] + log[:, 1, 1] >= log[:, 0, 1] + log[:, 1, 0] - 1e-9).all()
    both = pd.DataFrame({"item": [f"x{n}" for n in range(3)], "label": list("abc")})
    named = voirdire.fit(table_of(rows), method="map", anchors=both, anchor_mode="cut")
    assert "label-switching" not in named.checks()["check"].tolist()


def test_several_criteria_share_judges_and_not_shares(simulate: Simulate) -> None:
    sharp = np.array([[0.9, 0.1], [0.1, 0.9]])
    parts, known = [], []
    for criterion, share, seed in (("p", 0.2, 1), ("q", 0.8, 2)):
        table, truth = simulate([sharp] * 3, [1 - share, share], 80, ["n", "y"], seed)
        parts.append(table.assign(criterion=criterion))
        known.append(truth.head(15).rename("label").rename_axis("item").reset_index().assign(criterion=criterion))
    table, anchors = pd.concat(parts, ignore_index=True), pd.concat(known, ignore_index=True)
    fit = voirdire.fit(table, model="one-coin-label", anchors=anchors, anchor_mode="cut")
    found = fit.shares().set_index(["criterion", "class"])
    assert found.loc[("p", "y"), "high"] < 0.5 < found.loc[("q", "y"), "low"]
    assert fit.classes()["known"].sum() == 30
    chosen = voirdire.fit(table, anchors=anchors, method="map")
    assert len(chosen.anchor_methods()) == 4
    with pytest.raises(voirdire.InputError, match="there is no column 'criterion'"):
        voirdire.fit(table, anchors=anchors[anchors["criterion"] == "p"].drop(columns="criterion"))


@pytest.mark.slow
def test_kept_whole_and_shown(clique: tuple[pd.DataFrame, pd.Series, pd.DataFrame], tmp_path: Path) -> None:
    table, _, known = clique
    fit = voirdire.fit(table, anchors=known, seed=2)
    folder = fit.save(tmp_path / "run")
    again = voirdire.load(folder)
    assert again.as_dict() == fit.as_dict()
    assert again.anchored == fit.anchored
    stored = json.loads((folder / "result.json").read_text())["anchors"]
    assert (stored["mode"], stored["chosen"]) == ("cut", "cut")
    assert [row["method"] for row in stored["methods"]] == ["majority", "joint", "cut", "average"]
    new = again.predict(table[table["item"].isin(["item-100", "item-101"])]).set_index("item")
    np.testing.assert_allclose(new["p_y"], fit.classes().set_index("item").loc[new.index, "p_y"], atol=1e-9)
    labels, people = tmp_path / "labels.csv", tmp_path / "known.csv"
    table.to_csv(labels, index=False)
    known.to_csv(people, index=False)
    asked = ["fit", str(labels), "--anchors", str(people), "--method", "map"]
    shown = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert shown.exit_code == 0, shown.stderr
    assert "Ways to use the anchors" in shown.stdout
    assert re.search(r"log loss +se +right", shown.stdout)
    assert "used for items" in shown.stdout
    asked += ["--anchor-mode", "cut", "--json"]
    result = json.loads(CliRunner().invoke(app, asked, catch_exceptions=False).stdout)
    assert result["anchors"] == {"mode": "cut", "chosen": "cut", "methods": []}
    assert "Anchors are used as asked: cut." in result["notes"]


def test_the_note_on_anchors_does_not_contradict_itself_where_the_plain_majority_predicts_better() -> None:
    """The majority says nothing of judges, and so is none of the ways that may be chosen."""
    row = {"log_loss_se": 0.01, "accuracy": 0.8}
    methods = ({"method": "majority", "log_loss": 0.4, **row}, {"method": "joint", "log_loss": 0.9, **row})
    human = SimpleNamespace(default="joint", reference="majority", of_chosen="judges", says_items="")
    note = describe_anchors(Anchored("joint", "joint", methods), None, human, "labels")  # type: ignore[arg-type]
    assert "joint, because no other way that says what judges are like predicts left-out anchors clearly" in note
    assert "Plain majority predicts left-out anchors better than joint" in note


def test_the_note_on_anchors_names_people_alone_where_these_were_to_beat() -> None:
    """A way that is better than people alone need not be clearly better than the default, and is not said to be."""
    row = {"log_loss_se": 0.3, "accuracy": 0.8}
    losses = {"joint": 0.9, "cut": 0.5, PEOPLE_ALONE: 0.7}
    methods = tuple({"method": name, "log_loss": loss, **row} for name, loss in losses.items())
    human = SimpleNamespace(default="joint", reference="majority", of_chosen="judges", says_items="")
    for chosen, over, why in (
        ("cut", PEOPLE_ALONE, "better than people alone, and these better than the default;"),
        ("cut", "joint", "clearly better than the default;"),
        (PEOPLE_ALONE, PEOPLE_ALONE, "predicts left-out anchors better than the default;"),
    ):
        anchored = Anchored("cut", chosen, methods, over=over)
        assert why in describe_anchors(anchored, None, human, "labels")  # type: ignore[arg-type]


def test_the_method_to_beat_is_said_with_the_choice() -> None:
    def left_out(p: float) -> LeftOut:
        half = np.where(np.arange(20) % 2 == 0, p + 0.2, p - 0.2)
        return LeftOut(half, 1.0 - half, (half > 0.5).astype(float))

    found = {"joint": LeftOut(*(np.full(20, x) for x in (0.67, 0.33, 1.0))), PEOPLE_ALONE: left_out(0.76)}
    assert compare_methods(found, "joint")[:2] == (PEOPLE_ALONE, PEOPLE_ALONE)
    better = {**found, "cut": LeftOut(*(np.full(20, x) for x in (0.95, 0.05, 1.0)))}
    assert compare_methods(better, "joint")[:2] == ("cut", PEOPLE_ALONE)
    assert compare_methods({**found, PEOPLE_ALONE: left_out(0.6)}, "joint")[:2] == ("joint", "joint")


def refused(**request: Any) -> str:
    with pytest.raises(voirdire.InputError) as caught:
        voirdire.fit(SMALL, **request)
    return str(caught.value)


def test_what_cannot_be_cut_is_said() -> None:
    how = {"anchors": KNOWN, "anchor_mode": "cut"}
    assert "model majority-label takes all judges alike" in refused(model="majority-label", **how)
    assert "anchor mode 'cut' is not for method 'nuts'" in refused(method="nuts", **how)
    assert "anchor_mode 'cut' is for anchors" in refused(anchor_mode="cut")
    nobody = pd.DataFrame({"item": ["z"], "label": ["y"]})
    assert "row 1: no judge has labelled item 'z'" in refused(anchors=nobody, anchor_mode="cut")
    assert "anchors" in refused(anchors=KNOWN.head(0), anchor_mode="cut")
    assert voirdire.fit(SMALL, model="majority-label", anchors=KNOWN, method="map").anchor_methods().empty


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_anchors_keep_the_default(count: int) -> None:
    fit = voirdire.fit(SMALL, anchors=KNOWN.head(count), method="map")
    assert fit.anchored is not None
    assert fit.anchored.chosen == "joint"
    assert len(fit.anchor_methods()) == 4
    cut = voirdire.fit(SMALL, anchors=KNOWN.head(count), method="map", anchor_mode="cut")
    assert cut.checks().set_index("check").loc["convergence", "level"] == "ok"


def test_what_items_are_is_never_far_behind_the_shares_of_labels() -> None:
    """Judges whose mistakes depend on each other: every model by itself is far too sure, the average is not."""
    rng = np.random.default_rng(5)
    truth = rng.integers(2, size=120)
    said = np.where(rng.random(120) < 0.75, truth, 1 - truth)  # what all of them follow
    rows = [
        (f"j{k}", f"i{i}", "ny"[said[i] if rng.random() < 0.8 else 1 - said[i]]) for k in range(40) for i in range(120)
    ]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    known = pd.DataFrame({"item": [f"i{i}" for i in range(30)], "label": ["ny"[c] for c in truth[:30]]})
    fit = voirdire.fit(table, anchors=known, method="map")
    loss = fit.anchor_methods().set_index("method")["log_loss"]
    assert loss["joint"] > loss["majority"] + 1.0
    assert loss["average"] < loss["majority"] + 0.05
    rest = fit.classes().set_index("item").loc[[f"i{i}" for i in range(30, 120)]]
    said_of_rest = np.where(truth[30:] == 1, rest["p_y"], rest["p_n"])
    assert -np.log(said_of_rest).mean() == pytest.approx(loss["average"], abs=0.2)  # se of 30: 0.1
    (note,) = (one for one in fit.notes if one.startswith("Anchors"))
    assert "Classes of items (target) are the average of all ways and of the shares of labels, weighted" in note
    assert f"Plain majority predicts left-out anchors better than {fit.anchored.chosen}" in note
