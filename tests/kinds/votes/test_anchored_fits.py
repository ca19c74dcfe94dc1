"""Fits with anchors: densities, orientation, both modes, what they return and how they are kept."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, log_expit
from value_points import value_point

import voirdire
from voirdire.agreement import concordance_index
from voirdire.errors import InputError
from voirdire.fit.human import Losses, _best_method, _loss_if_wrong
from voirdire.infer import engine
from voirdire.infer.pymc_model import pymc_model
from voirdire.kinds import encode_votes, read_anchors
from voirdire.kinds.human import PEOPLE_ALONE
from voirdire.kinds.votes.human import HumanVotes
from voirdire.model import load_model
from voirdire.simulate import Accuracy, OneCoin, simulate_votes
from voirdire.tables import read_votes

VOTES = pd.DataFrame(
    [("a", "c", "x", "y", "x"), ("a", "d", "y", "z", "tie"), ("b", "c", "x", "z", "z"), ("b", "d", "z", "y", "z")],
    columns=["judge", "criterion", "first", "second", "winner"],
)
ANCHORS = pd.DataFrame([("x", "y", "x"), ("x", "z", "tie")], columns=["first", "second", "winner"])


@pytest.mark.parametrize(
    ("model", "anchors"),
    [
        ("crowd-bt-position", ANCHORS),
        pytest.param("maple-position", ANCHORS, marks=pytest.mark.slow),
        pytest.param("maple", ANCHORS.assign(criterion="d"), marks=pytest.mark.slow),
        pytest.param("bt-sigma", ANCHORS, marks=pytest.mark.slow),
    ],
)
def test_all_engines_have_the_density_of_the_equation(model: str, anchors: pd.DataFrame, as_written: Any) -> None:
    panel = read_votes(VOTES)
    with_people = encode_votes(load_model(model), panel, anchors=read_anchors(anchors, panel))
    without = encode_votes(load_model(model), panel)
    density = with_people.density
    compiled = pymc_model(with_people).compile_logp(mode=as_written)
    for x in np.random.default_rng(0).normal(size=(3, density.size)):
        values = density.values(x, np)
        shown = values["strength"]
        if density.criteria == 1:
            score = shown[0]
        elif "criterion" in anchors:
            score = shown[1]
        else:
            score = np.exp(values["weight"]) @ shown / np.exp(values["weight"]).sum()
        eta = expit(values["anchor"])
        nu = np.exp(values["tie"])
        d, e = score[0] - score[1], score[0] - score[2]
        decided = 2 * np.cosh(d / 2) / (nu + 2 * np.cosh(d / 2))
        people = np.log(decided * (eta * expit(d) + (1 - eta) * expit(-d)))
        people += np.log(nu / (nu + 2 * np.cosh(e / 2)))
        log_prior = np.log(19) + 19 * log_expit(values["anchor"]) + log_expit(-values["anchor"])
        rest = without.density.log_density(x[:-1], without.data, np)  # the coin is the last coordinate
        reference = float(density.log_density(x, with_people.data, np))
        assert reference == pytest.approx(float(rest + people + log_prior), rel=1e-12)
        with engine.double_precision():
            assert float(engine.log_densities(density)(x[None], with_people.data)[0]) == pytest.approx(reference)
        assert float(compiled(value_point(density, x))) == pytest.approx(reference, abs=1e-5)


def wrong_panel(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ten judges that are 0, 10, ..., 90% right on 20 items (most are wrong), and ten answers of a person."""
    judges = {f"right-{share:02d}": Accuracy(share / 100) for share in range(0, 100, 10)}
    made = simulate_votes(judges, 20, 3, seed=seed)
    theta = made.truth.strengths
    rng = np.random.default_rng(seed)
    rows = []
    while len(rows) < 10:
        criterion, i, j = rng.integers(3), *rng.choice(20, 2, replace=False)
        better = i if theta[criterion, i] > theta[criterion, j] else j
        name = made.truth.items
        rows.append((made.truth.criteria[criterion], name[i], name[j], name[better]))
    return made, pd.DataFrame(rows, columns=["criterion", "first", "second", "winner"]).drop_duplicates()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "least", "panels"),
    [
        ("joint", 0.95, 2),
        pytest.param(None, 0.95, 1, marks=pytest.mark.slow),
        ("cut", 0.8, 1),
        pytest.param("joint", 0.95, 20, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param(None, 0.95, 5, marks=[pytest.mark.slow, pytest.mark.long]),
    ],
)
def test_ten_anchors_turn_a_panel_that_is_wrong_as_a_whole(mode: str | None, least: float, panels: int) -> None:
    """Reliability's mean concordance with the truth: 0 without anchors, at least 0.95 with ten.

    Cut reliabilities know ten answers of each judge and nothing else, so judges 10 points apart cannot all be ordered.
    """
    found, alone = [], []
    for seed in range(panels):
        made, anchors = wrong_panel(seed)
        truth = np.arange(10.0)
        fitted = voirdire.fit(
            made.votes, made.criteria_votes, model="maple", method="map", anchors=anchors, anchor_mode=mode
        )
        judges = fitted.judges().sort_values("judge")["reliability"].to_numpy()
        found.append(concordance_index(judges, truth))
        if mode == "joint":
            without = voirdire.fit(made.votes, made.criteria_votes, model="maple", method="map")
            alone.append(concordance_index(without.judges().sort_values("judge")["reliability"], truth))
            mirror = without.checks().set_index("check").loc["orientation"]
            assert mirror["level"] == "warn"
            assert "0.5 under a flat prior" in mirror["message"]
            assert "worse than chance: a warning sign that only human answers (anchors) can settle" in mirror["message"]
    assert np.mean(found) >= least
    assert not alone or np.mean(alone) <= 0.05


@pytest.fixture(scope="module")
def linked() -> tuple[pd.DataFrame, pd.DataFrame]:
    judges = {f"j{index}": OneCoin(eta) for index, eta in enumerate((0.6, 0.7, 0.8, 0.9))}
    made = simulate_votes(judges, 6, 1, seed=4)
    names, theta = made.truth.items, made.truth.strengths[0]
    rows = [
        (names[i], names[j], names[i] if theta[i] > theta[j] else names[j]) for i, j in ((0, 1), (2, 3), (4, 5), (0, 5))
    ]
    return made.votes, pd.DataFrame(rows, columns=["first", "second", "winner"])


@pytest.mark.long
@pytest.mark.slow
def test_left_out_anchors_choose_between_joint_and_cut(linked) -> None:
    votes, anchors = linked
    fitted = voirdire.fit(votes.drop(columns="criterion", errors="ignore"), anchors=anchors, seed=1)
    table = fitted.anchor_methods()
    assert table["method"].tolist() == ["majority", "joint", "cut"]
    assert table["chosen"].sum() == 1
    assert any("left-out anchors clearly better" in note for note in fitted.notes)
    with pytest.raises(InputError, match=r"pairs\(\) is for tables of unconnected pairs"):
        fitted.pairs()


@pytest.mark.long
@pytest.mark.slow
def test_the_cut_posterior_forgets_what_the_panel_thinks_of_its_judges(linked) -> None:
    """Cut reliabilities depend on anchored comparisons alone: other votes may be turned round without effect."""
    votes, anchors = linked
    votes = votes.drop(columns="criterion", errors="ignore")
    pairs = {frozenset(pair) for pair in anchors[["first", "second"]].to_numpy()}
    seen = [frozenset(pair) in pairs for pair in votes[["first", "second"]].to_numpy()]
    turned = votes.copy()
    other = (
        np.where(votes["winner"] == "first", "second", "first")
        if set(votes["winner"]) <= {"first", "second"}
        else (np.where(votes["winner"] == votes["first"], votes["second"], votes["first"]))
    )
    turned["winner"] = np.where(seen, votes["winner"], other)
    one, two = (
        voirdire.fit(table, anchors=anchors, anchor_mode="cut", seed=1).judges().sort_values("judge")
        for table in (votes, turned)
    )
    np.testing.assert_allclose(one["reliability"], two["reliability"], rtol=1e-9)
    np.testing.assert_allclose(one["reliability_low"], two["reliability_low"], rtol=1e-9)


@pytest.mark.long
@pytest.mark.slow
def test_a_fit_with_anchors_is_kept_whole(linked, tmp_path) -> None:
    votes, anchors = linked
    votes = votes.drop(columns="criterion", errors="ignore")
    fitted = voirdire.fit(votes, anchors=anchors, families={"j0": "small", "j1": "small"}, seed=1)
    fitted.save(tmp_path / "run")
    again = voirdire.load(tmp_path / "run")
    assert again.as_dict() == fitted.as_dict()
    assert again.anchored == fitted.anchored
    pd.testing.assert_frame_equal(again.anchor_methods(), fitted.anchor_methods())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"anchor_mode": "cut"}, "anchor_mode 'cut' is for anchors"),
        ({"anchors": ANCHORS, "anchor_mode": "both"}, "anchor_mode 'both' is none of joint, cut"),
        ({"anchors": ANCHORS, "anchor_mode": "cut", "method": "nuts"}, "anchor mode 'cut' is not for method 'nuts'"),
        ({"anchors": ANCHORS, "anchor_mode": "cut", "model": "bt-sigma"}, "in model bt-sigma a judge is no coin"),
        ({"anchors": ANCHORS, "model": "majority-vote"}, "model majority-vote has no [anchors] section"),
        ({"families": {"nobody": "x"}}, "judge 'nobody' is none of the 2 judges; known are "),
    ],
)
def test_requests_that_cannot_be_met(arguments: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        voirdire.fit(VOTES.drop(columns="criterion"), **arguments)
    assert any(message in problem for problem in error.value.problems)


def test_one_anchor(linked) -> None:
    votes, anchors = linked
    votes = votes.drop(columns="criterion", errors="ignore")
    one = voirdire.fit(votes, anchors=anchors[:1], method="map")
    assert one.anchored is not None
    assert one.anchored.chosen == "joint"
    assert any("anchors" in note.lower() for note in one.notes)
    check = one.checks().set_index("check").loc["anchors"]
    assert "of 1 anchors" in check["message"]


def test_anchors_on_every_pair(linked) -> None:
    """Six items, fifteen pairs, all answered by a person: the ranking is the person's."""
    votes, _ = linked
    votes = votes.drop(columns="criterion", errors="ignore")
    order = sorted(set(votes["first"]) | set(votes["second"]), reverse=True)
    rows = [(one, other, one) for n, one in enumerate(order) for other in order[n + 1 :]]
    every = pd.DataFrame(rows, columns=["first", "second", "winner"])
    fitted = voirdire.fit(votes, anchors=every, anchor_mode="cut", method="map")
    assert fitted.level != "fail"
    table = fitted.checks().set_index("check")
    assert table.loc["convergence", "level"] == "ok"
    message = table.loc["anchors", "message"]
    decided, split = re.findall(r"of (\d+) anchors .* split on (\d+) more", message)[0]
    assert int(decided) + int(split) == 15


def unconnected(count: int = 8) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = [
        (judge, f"{n}/a", f"{n}/b", "first" if rng.random() < 0.7 else "second")
        for judge in ("p", "q", "r")
        for n in range(count)
    ]
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


@pytest.mark.slow
@pytest.mark.parametrize("winner", ["tie", "0/a"], ids=["ties alone", "one anchor"])
@pytest.mark.parametrize("method", ["map", "laplace"])
def test_next_to_nothing_said_about_unconnected_pairs(winner: str, method: str) -> None:
    anchors = pd.DataFrame({"first": ["0/a"], "second": ["0/b"], "winner": [winner]})
    fitted = voirdire.fit(unconnected(), anchors=anchors, method=method, seed=1)
    p = fitted.pairs()["p_first"]
    assert len(p) == 8
    assert ((p > 0) & (p < 1)).all()
    if winner == "tie":
        assert fitted.anchored is not None
        assert fitted.anchored.chosen == "joint"
        with pytest.raises(InputError, match="none decides a pair that the judges saw"):
            voirdire.fit(unconnected(), anchors=anchors, anchor_mode="cut")


def test_anchors_on_pairs_that_nobody_saw() -> None:
    anchors = pd.DataFrame({"first": ["0/a", "2/b"], "second": ["1/b", "3/a"], "winner": "first"})
    fitted = voirdire.fit(unconnected(), anchors=anchors, method="map")
    assert any("on pairs that no judge has seen" in note for note in fitted.notes)
    assert (fitted.pairs()["p_first"].between(0, 1)).all()


def test_the_default_gives_way_to_what_is_clearly_better() -> None:
    """Paired differences of log loss: twice their standard error decides, not the lower mean."""
    base, noise = np.full(10, 0.5), np.tile([-0.3, 0.3], 5)

    def chosen(gain: np.ndarray, if_wrong: float = 1.0, count: int = 10) -> str:
        losses = {"joint": Losses(base[:count], 1.0), "cut": Losses((base - gain)[:count], if_wrong)}
        return _best_method(losses, "joint")

    assert chosen(0.1 + noise) == "joint"
    assert chosen(0.1 + 0.1 * noise) == "cut"
    assert chosen(0.1 + 0.1 * noise, if_wrong=2.1) == "joint"  # that one error more would cost what was gained
    assert chosen(np.full(10, 0.4), count=2) == "joint"


def test_one_imagined_failure_is_no_noise() -> None:
    """Seven right anchors that the default cannot predict decide, however sure the other method is."""
    losses = {"joint": Losses(np.full(7, 0.77), 0.77), "cut": Losses(np.full(7, 0.04), 3.3)}
    assert _best_method(losses, "joint") == "cut"


@pytest.mark.parametrize(("noise", "chosen"), [(0.0, "cut"), (0.4, "cut"), (1.0, PEOPLE_ALONE)])
def test_judges_help_where_they_predict_better_than_people_alone_by_the_noise(noise: float, chosen: str) -> None:
    """A gain of about .2: without noise, 1.5 times the noise (less than beside the default), and .6 times."""
    losses = {name: Losses(np.full(12, loss), 2.0) for name, loss in (("joint", 0.8), (PEOPLE_ALONE, 0.4))}
    losses["cut"] = Losses(0.2 + noise * np.tile([-1.0, 1.0], 6), 2.0)
    assert _best_method(losses, "joint") == chosen


def test_an_overconfident_method_is_charged_for_what_luck_hides() -> None:
    """Ten of ten right at 0.999 against 0.85: plain log loss prefers the former, the imagined failure does not."""
    sure, modest = np.full(10, 0.999), np.full(10, 0.85)
    losses = {name: Losses(-np.log(p), _loss_if_wrong(1.0 - p)) for name, p in (("stacking", modest), ("lucky", sure))}
    assert losses["lucky"].by_anchor.mean() < losses["stacking"].by_anchor.mean()
    assert _best_method(losses, "stacking") == "stacking"
    assert _loss_if_wrong(np.array([0.1, 0.1])) == pytest.approx(np.log(10))


def test_shares_of_votes_may_answer_pairs_that_nothing_links() -> None:
    votes = unconnected()
    anchors = pd.DataFrame({"first": [f"{n}/a" for n in range(5)], "second": [f"{n}/b" for n in range(5)]})
    fitted = voirdire.fit(votes, anchors=anchors.assign(winner="first"), method="map")
    human = HumanVotes(fitted.problem)
    joint = fitted.posterior.centre
    assert human.left_out(None, joint)["majority"].usable
    assert not human.left_out("joint", joint)["majority"].usable
    won = votes.assign(p=(votes["winner"] == "first") * 1.0).groupby("first")["p"].sum()
    shares = {pair["first"]: pair["p_first"] for pair in human.pairs("majority", fitted.posterior)}
    assert shares == pytest.approx({name: (won[name] + 1) / 5 for name in shares})
    assert fitted.anchor_methods().set_index("method").loc[fitted.anchored.chosen, "used"] == "pairs"


@pytest.mark.slow
def test_right_anchors_turn_a_panel_most_of_which_is_nearly_always_wrong() -> None:
    """Five of seven judges prefer the worse item in 94%: nine anchors are enough (joint keeps the order reversed)."""
    rng = np.random.default_rng(4)
    items = [f"m{n}" for n in range(8)]
    pairs = [(a, b) for a in range(8) for b in range(a)]
    votes = pd.DataFrame(
        [
            (f"j{k}", items[a], items[b], items[max(a, b) if rng.random() < right else min(a, b)])
            for k, right in enumerate([0.06] * 5 + [0.9] * 2)
            for a, b in pairs
        ],
        columns=["judge", "first", "second", "winner"],
    )
    asked = [pairs[one] for one in rng.choice(len(pairs), 9, replace=False)]
    anchors = pd.DataFrame(
        [(items[a], items[b], items[max(a, b)]) for a, b in asked], columns=["first", "second", "winner"]
    )
    fit = voirdire.fit(votes, anchors=anchors, method="laplace")
    assert fit.anchored is not None
    assert fit.anchored.chosen == "cut"
    order = fit.ranking().set_index("item")["score"].loc[items]
    assert np.corrcoef(order, np.arange(8))[0, 1] > 0.9
