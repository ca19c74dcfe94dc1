"""Simulation-based calibration on small panels: right models pass, wrong ones fail."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from voirdire.errors import InputError
from voirdire.model import Model, load_model, specification_folder
from voirdire.model.terms import RELIABILITY
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.coins import Fixed
from voirdire.model.terms.term import Observations, Values
from voirdire_studies import calibration, load_study, run_study
from voirdire_studies.prior_panels import PriorPanel, draw_from_prior, panel_of
from voirdire_studies.runner import JOURNAL
from voirdire_studies.study import Study

SMALL = """
name = "small"
kind = "calibration"
title = "t"
aim = "a"
source = "s"
seed = 11
replicates = 120
batch = 60
draws = 99
ties = false
shape = { judges = 3, items = 4, criteria = 2 }
models = ["bradley-terry"]

[methods.laplace]
draws = 199
"""


@pytest.fixture
def study(tmp_path) -> Study:
    path = tmp_path / "study.toml"
    path.write_text(SMALL)
    return load_study(path)


def table(study: Study, simulated: Model, fitted: Model, method: str = "laplace") -> pd.DataFrame:
    batch = study.settings["batch"]
    rows = [
        row
        for start in range(0, study.replicates, batch)
        for row in calibration.calibrate_batch(study, simulated, fitted, method, tuple(range(start, start + batch)))
    ]
    frame = pd.DataFrame([{"model": simulated.name, "method": method, **row} for row in rows])
    return calibration.aggregate(study, frame).set_index("quantity")


COUNTED = {"majority-vote", "mean-score", "median-score"}  # nothing can be simulated from them
NUTS_ALONE = {  # studied by NUTS, not by Laplace
    "learned-bradley-terry",
    "learned-crowd-bt-position",
    "learned-maple-position",
}
BY_NUTS = [  # of models whose spreads are learned
    "calibration-nuts-populations",
    "calibration-nuts-contexts",
    "calibration-nuts-halo",
    "calibration-nuts-sharpness",
]
STUDIES = [
    "calibration",
    "calibration-labels",
    "calibration-shared",
    "calibration-label-families",
    "calibration-scores",
    "calibration-joint",
    "calibration-joint-contexts",
    "calibration-contexts",
    "calibration-tastes",
    "calibration-unordered",
    "calibration-unordered-contexts",
    "calibration-sharpness",
    "calibration-halo",
    "calibration-continuous",
    "calibration-families",
    "calibration-rankings",
    "calibration-rating-contexts",
    "calibration-rating-learned",
]


def test_every_generative_model_file_is_in_the_study() -> None:
    shipped = {path.stem for path in specification_folder("models").glob("*.toml")}
    studied, by_nuts = (
        [model for study in studies for model in load_study(study).settings["models"]] for studies in (STUDIES, BY_NUTS)
    )
    assert sorted(studied) == sorted(shipped - COUNTED - NUTS_ALONE)
    assert len(by_nuts) == len(set(by_nuts))
    assert set(by_nuts) >= NUTS_ALONE


@pytest.mark.parametrize("name", STUDIES + BY_NUTS)
def test_tables_can_be_drawn_from_every_model_of_a_study(name: str) -> None:
    """Three tables each, whose arrays have one shape, so that one compilation serves all."""
    study = load_study(name)
    for model in map(load_model, study.settings["models"]):
        panel = panel_of(model, study.settings["shape"], study.settings["ties"])
        drawn = [panel.draw_problem(model, np.random.default_rng([study.seed, table])) for table in range(3)]
        assert {problem.density for _, problem in drawn} == {panel.density}
        shapes = [[np.shape(x) for part in problem.data.values() for x in part.values()] for _, problem in drawn]
        assert shapes[0] == shapes[1] == shapes[2]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "ties"), [("bradley-terry", False), pytest.param("crowd-bt", True, marks=pytest.mark.slow)]
)
def test_right_models_pass(study: Study, model: str, ties: bool) -> None:
    """Coverage over 120 tables is within 3.5 Monte Carlo errors of nominal; crowd-bt has a mirror.

    Forced choices of Crowd-BT are left to NUTS: their posterior is too far from normal for Laplace draws.
    """
    spec = load_model(model)
    shape = {"judges": 8, "items": 6, "criteria": 1}
    study = replace(study, settings={**study.settings, "ties": ties, "shape": shape})
    found = table(study, spec, spec)
    assert found.loc[[name for name in found.index if name != calibration.POOLED], "passed"].all()
    for prob in (50, 80, 90):
        assert (abs(found[f"coverage_{prob}"] - prob / 100) < 3.5 * found[f"mcse_{prob}"]).all()


@pytest.mark.long
@pytest.mark.slow
def test_votes_and_scores_pass(study: Study) -> None:
    """Coverage over 60 tables, within 3.5 Monte Carlo errors of nominal."""
    spec = load_model("joint-position")
    shape = {"judges": 4, "items": 6, "criteria": 1}
    found = table(replace(study, replicates=60, settings={**study.settings, "shape": shape}), spec, spec)
    assert found["passed"].all()
    for prob in (50, 80, 90):
        assert (abs(found[f"coverage_{prob}"] - prob / 100) < 3.5 * found[f"mcse_{prob}"]).all()


def test_a_wrong_prior_fails(study: Study) -> None:
    """Negative control: strengths of sd 4, fitted as if of sd 1."""
    model = load_model("bradley-terry")
    found = table(study, model, model.with_priors({"strength": {"sd": 1.0}}))
    assert not found["passed"].any()
    assert found.loc["strength", "coverage_90"] < 0.7
    assert found.loc["log likelihood", "ecdf_p"] < 1e-6


class Doubled(Fixed):
    """Bradley-Terry with a slip: the difference counts twice."""

    kind: ClassVar[str] = "doubled"

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        return super().log_decided(values, 2.0 * d, obs, xp)


@pytest.mark.slow
def test_a_wrong_likelihood_fails(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RELIABILITY, "doubled", Doubled())
    model = load_model("bradley-terry")
    wrong = replace(model, name="wrong", reliability=replace(model.reliability, kind="doubled"))
    found = table(study, model, wrong)
    assert not found.loc[["strength", calibration.POOLED], "passed"].any()


@pytest.mark.slow
def test_nuts_passes_and_mixes(study: Study) -> None:
    settings = {**study.settings, "methods": {"nuts": {"warmup": 150, "draws": 399}}}
    small = replace(study, replicates=60, settings=settings)
    model = load_model("bradley-terry")
    found = table(small, model, model, "nuts")
    assert found.drop(calibration.POOLED)["passed"].all()
    assert found.loc[calibration.POOLED, "bad_rhat"] < 0.2
    assert found.loc[calibration.POOLED, "divergences"] == 0


def test_a_study_resumes_to_the_same_table(study: Study, tmp_path) -> None:
    few = replace(study, replicates=4, settings={**study.settings, "batch": 2})
    whole = run_study(few, out=tmp_path / "whole").table
    part = tmp_path / "part"
    part.mkdir()
    lines = (tmp_path / "whole" / JOURNAL).read_text().split("\n")
    (part / JOURNAL).write_text("\n".join(lines[:2]) + "\n" + lines[2][:40])  # stopped in the second batch
    pd.testing.assert_frame_equal(run_study(few, out=part).table, whole)
    assert json.loads((part / JOURNAL).read_text().split("\n")[1])["unit"] == '["bradley-terry", "laplace", [0, 1]]'


def test_votes_on_criteria_and_ties_come_from_the_model() -> None:
    """1,200 votes at given parameters: shares of answers within 3.5 binomial errors of Davidson's formula by hand."""
    panel = PriorPanel(load_model("maple-fixed-reliability"), judges=200, items=2, criteria=2, ties=True)
    density = panel.density
    truth, problem = panel.draw_problem(panel.model, np.random.default_rng(3))
    values = density.values(truth, np)
    d = values["weight"][0] - values["weight"][1]
    nu = np.exp(values["tie"] + values["tie_judge"])
    tie = nu / (nu + 2 * np.cosh(d / 2))
    counts = problem.criteria_votes.counts
    assert counts.sum() == 200 * 2
    ties = 2 * tie.sum(), np.sqrt(2 * (tie * (1 - tie)).sum())
    assert abs(counts[:, 2].sum() - ties[0]) < 3.5 * ties[1]
    # decided votes: the first criterion wins a share of sigmoid(d), in either order
    first_is_a = problem.criteria_votes.first == 0
    a_wins = counts[first_is_a, 0].sum() + counts[~first_is_a, 1].sum()
    p = (1 - tie) / (1 + np.exp(-d))
    assert abs(a_wins - 2 * p.sum()) < 3.5 * np.sqrt(2 * (p * (1 - p)).sum())


def test_prior_draws_have_the_prior_s_moments() -> None:
    """20,000 judges: mean of eta is (1 - r) a/(a+b) + r b/(a+b), as the model file's numbers say."""
    panel = PriorPanel(load_model("crowd-bt"), judges=20_000, items=2, criteria=1, ties=False)
    numbers = panel.model.reliability.numbers
    a, b, r = numbers["a"], numbers["b"], numbers["reversed"]
    x = draw_from_prior(panel.density, np.random.default_rng(0))[panel.density.parameter_slices["reliability"]]
    eta = 1 / (1 + np.exp(-x))
    assert eta.mean() == pytest.approx(((1 - r) * a + r * b) / (a + b), abs=4 * eta.std() / np.sqrt(20_000))
    share = (eta < 0.1).mean()
    from scipy.stats import beta

    expected = (1 - r) * beta(a, b).cdf(0.1) + r * beta(b, a).cdf(0.1)
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected / 20_000))


def test_prior_draws_of_a_learned_population_are_skewed() -> None:
    """20,000 judges: the share of coins below one half is that of the density by quadrature."""
    panel = PriorPanel(load_model("learned-crowd-bt-position"), judges=20_000, items=2, criteria=1, ties=False)
    values = panel.density.values(draw_from_prior(panel.density, np.random.default_rng(1)), np)
    m, t = np.exp(values["log_coin_mean"]), np.exp(values["log_coin_spread"])
    r, x = panel.model.reliability.numbers["reversed"], np.linspace(m - 12 * t, m + 12 * t, 400_001)
    from scipy.stats import norm

    density = norm.pdf(x, m, t) * (r + (1 - 2 * r) * norm.cdf(x))
    expected = density[x < 0].sum() / density.sum()
    plain = norm.cdf(-m / t)
    error = np.sqrt(expected * (1 - expected) / 20_000)
    assert plain - expected > 10 * error  # the control: a population that is not skewed has more
    for coin in ("coin_first", "coin_second"):
        assert (values[coin] < 0).mean() == pytest.approx(expected, abs=4 * error)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("draws = 199", "draws = 150", "methods.laplace: draws is 150; draws + 1 must be a multiple of 100"),
        ("draws = 99", "draws = 90", "draws is 90; draws + 1 must be a multiple of 20"),
        ("[methods.laplace]", "[methods.hmc]", "methods: 'hmc' is none of laplace, auto, nuts"),
        ("[methods.laplace]", "[methods.nuts]", "methods.nuts: 'warmup' is missing"),
        ("items = 4", "items = 1", "shape: items is 1; must be a whole number from 2"),
        ("items = 4", "item = 4", "shape: unknown key 'item'"),
        ("criteria = 2", "criteria = 2, contexts = 3", "models: bradley-terry has no contexts, which the shape has"),
        ('"bradley-terry"', '"majority-vote"', "majority-vote says nothing of how votes arise"),
        ("replicates = 120", "replicates = 0", "replicates is 0; must be at least 1"),
    ],
)
def test_faults_are_named(tmp_path, old: str, new: str, message: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SMALL.replace(old, new))
    with pytest.raises(InputError) as error:
        load_study(path)
    assert any(message in problem for problem in error.value.problems)


@pytest.mark.slow
@pytest.mark.long
def test_right_models_of_labels_pass(study: Study) -> None:
    """As for votes. Posteriors under confusion matrices are too far from normal for Laplace draws with eight judges."""
    spec = load_model("one-coin-label")
    shape = {"judges": 8, "items": 60, "criteria": 1}
    study = replace(study, settings={**study.settings, "ties": False, "shape": shape})
    found = table(study, spec, spec)
    for prob in (50, 80, 90):
        assert (abs(found[f"coverage_{prob}"] - prob / 100) < 3.5 * found[f"mcse_{prob}"]).all()


@pytest.mark.long
@pytest.mark.slow
def test_right_models_of_scores_pass(study: Study) -> None:
    """As for votes, on a panel large enough for Laplace draws."""
    spec = load_model("rating-severity")
    shape = {"judges": 5, "items": 15, "criteria": 1}
    study = replace(study, settings={**study.settings, "shape": shape, "batch": study.replicates})
    found = table(study, spec, spec)
    for prob in (50, 80, 90):
        assert (abs(found[f"coverage_{prob}"] - prob / 100) < 3.5 * found[f"mcse_{prob}"]).all()


def test_votes_in_contexts_come_from_the_model() -> None:
    """Every judge votes on all, here as items are worth in contexts that order them with 300 log-odds between."""
    shape = {"judges": 2, "items": 3, "criteria": 1, "contexts": 4}
    panel = panel_of(load_model("crowd-bt-contexts"), shape, False)
    density = panel.density
    assert (density.contexts, int(panel.blank.judge_votes.sum())) == (4, 2 * 6 * 4)
    values = density.values(draw_from_prior(density, np.random.default_rng(0)), np)
    there = 300.0 * np.random.default_rng(1).permuted(np.ones((4, 1)) * np.arange(3.0), axis=1).T[None]
    values |= {"context_strength": there, "coin_first": np.full(2, 50.0), "coin_second": np.full(2, 50.0)}
    votes, on_criteria = panel.draw_tables(values, np.random.default_rng(2))
    context = votes.context
    better = there[0, votes.first, context] > there[0, votes.second, context]
    np.testing.assert_array_equal(votes.counts, np.stack([better, ~better, 0 * better], axis=1))
    assert on_criteria is None


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("method", ["laplace", "auto"])
def test_draws_of_learned_spreads_are_ranked(study: Study, method: str) -> None:
    """As many draws as are asked for, from the approximation and from what the default does with it."""
    shape = {"judges": 3, "items": 4, "criteria": 1, "contexts": 3}
    settings = {**study.settings, "shape": shape, "methods": {method: {"draws": 199}}}
    spec = load_model("crowd-bt-contexts")
    rows = calibration.calibrate_batch(replace(study, settings=settings), spec, spec, method, (0,))
    ranks = {row["quantity"]: row["rank"] for row in rows}
    assert {"strength", "context_strength", "log_context_spread", "reliability"} <= set(ranks)
    assert all(0 <= rank <= 99 for rank in ranks.values())
    assert (rows[0]["rhat"] is None) == (method == "laplace")
