"""Calibration studies: coverage of the intervals of every model.

Parameters are drawn from a model file's priors, votes from its equation (:mod:`.prior_panels`), and the model is fitted
to them; ranks and interval coverage over many tables test the computation (:mod:`.sbc`). For models with a mirror,
truth and draws are folded in the same way; ranks remain uniform, because the posterior of the folded truth is the
folded posterior.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.infer import mirror
from voirdire.infer.checks import MAX_PARETO_K
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.diagnose import diagnose_draws
from voirdire.infer.infer import infer_posterior
from voirdire.infer.laplace import approximation_of_draws, laplace_approximation
from voirdire.infer.latent_gaussian.mode import LatentMode, draw_about_mode
from voirdire.infer.method import Method
from voirdire.infer.mode import find_modes
from voirdire.infer.nuts import sample_nuts
from voirdire.infer.posterior import Mode, integrated_scores, normalised_weights
from voirdire.infer.refine import laplace_draws
from voirdire.model.density import LogDensity
from voirdire.model.problem import Problem
from voirdire.model.specs import Model, load_model
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire_studies import sbc
from voirdire_studies.prior_panels import panel_of
from voirdire_studies.study import Study

Floats = npt.NDArray[np.float64]
Unit = tuple[str, str, tuple[int, ...]]  # model, method, replicates to run together

PROBS = (0.5, 0.8, 0.9)
LEVEL = 0.01  # level of all ECDF bands of a study together
COVERAGE = (0.88, 0.92)  # accepted range of the coverage of 90% intervals
MARGIN = 2.0  # Monte Carlo errors by which one quantity's coverage may miss that range
NOMINAL = 0.9
RHAT = 1.05  # one short chain: the usual 1.01 would flag noise
POOLED = "all parameters"


def units(study: Study) -> list[Unit]:
    """List units of work: batches of tables of one model and method."""
    size = study.settings["batch"]
    batches: list[Unit] = []
    for model in study.settings["models"]:
        for method, how in study.settings["methods"].items():
            count = min(study.replicates, how.get("replicates", study.replicates))
            batches += [
                (model, method, tuple(range(start, min(start + size, count)))) for start in range(0, count, size)
            ]
    return batches


def run(study: Study, unit: Unit) -> list[dict[str, Any]]:
    """Simulate, fit and rank one batch; return a row per table and quantity."""
    name, method, replicates = unit
    model = load_model(name)
    rows = calibrate_batch(study, model, model, method, replicates)
    return [{"model": name, "method": method, **row} for row in rows]


def calibrate_batch(
    study: Study, simulated: Model, fitted: Model, method: str, replicates: tuple[int, ...]
) -> list[dict[str, Any]]:
    """Compute ranks and coverage for tables drawn from one model and fitted by another.

    The models are the same, except in a negative control; both must have the same parameters.
    """
    panel = panel_of(simulated, study.settings["shape"], study.settings["ties"])
    seeds = [[study.seed, replicate] for replicate in replicates]
    drawn = [panel.draw_problem(fitted, np.random.default_rng(seed)) for seed in seeds]
    problems: list[Problem] = [problem for _, problem in drawn]
    density = problems[0].density
    modes = find_modes(density, [problem.data for problem in problems])
    rows = []
    for replicate, seed, (truth, problem), mode in zip(replicates, seeds, drawn, modes, strict=True):
        rng = np.random.default_rng([*seed, 1])
        draws, facts = _posterior_draws(study, method, problem, mode, rng)
        if density.has_mirror:
            truth, draws = (mirror.fold_draws(density, x, problem.data)[0] for x in (truth, draws))
        ranks = _rank_rows(study, problem, truth, draws, replicate)
        rows += [{"replicate": replicate, **row, **facts} for row in ranks]
    return rows


def _posterior_draws(
    study: Study, method: str, problem: Problem, mode: Mode, rng: np.random.Generator
) -> tuple[Floats, dict[str, Any]]:
    """Return posterior draws, shape (draws, size), and diagnostics."""
    how = study.settings["methods"][method]
    facts: dict[str, Any] = {"rhat": None, "divergences": None, "pareto_k": None}
    if method == "auto":
        fitted = infer_posterior(problem, mode, Method(seed=int(rng.integers(2**31))))
        assert fitted.posterior.draws is not None
        whole = fitted.posterior.draws.reshape(-1, problem.density.size)
        of_chains = {check.check: check.value for check in fitted.checks} if fitted.method == "hmc" else {}
        facts["rhat"] = of_chains.get("convergence")
        return whole[rng.permutation(len(whole))[: how["draws"]]], facts
    if method == "laplace" and isinstance(mode, LatentMode):
        return draw_about_mode(mode, rng, how["draws"]), facts
    approximation = (
        approximation_of_draws(draw_about_mode(mode, rng))
        if isinstance(mode, LatentMode)
        else laplace_approximation(problem, mode)
    )
    if method == "laplace":
        draws, k = laplace_draws(problem, approximation, how["draws"], rng)
        return draws, {**facts, "pareto_k": k}
    run = sample_nuts(
        problem, approximation, seed=int(rng.integers(2**31)), chains=1, warmup=how["warmup"], draws=how["draws"]
    )
    folded = mirror.fold_draws(problem.density, run.x, problem.data)[0] if problem.density.has_mirror else run.x
    half = how["draws"] // 2
    diagnostics = diagnose_draws(
        problem.density, *(_split_halves(part, half) for part in (folded, run.diverging, run.energy))
    )
    return run.x[0], {**facts, "rhat": diagnostics["rhat"], "divergences": diagnostics["divergences"]}


def _split_halves(recorded: npt.NDArray[Any], half: int) -> npt.NDArray[Any]:
    """Split one chain into its two halves, shape (2, half, ...)."""
    return recorded[0, : 2 * half].reshape(2, half, *recorded.shape[2:])


def _rank_rows(study: Study, problem: Problem, truth: Floats, draws: Floats, replicate: int) -> list[dict[str, Any]]:
    at_truth, at_draws = ranked_quantities(problem, truth[None]), ranked_quantities(problem, draws)
    rows = []
    for name, values in at_draws.items():
        rank = sbc.truth_ranks(at_truth[name][0], values)
        row: dict[str, Any] = {"quantity": name, "elements": values.shape[1]}
        for prob in PROBS:
            row[f"covered_{100 * prob:.0f}"] = int(sbc.is_covered(rank, len(values), prob).sum())
        # one element per table, in turn, because ranks of elements of one table are dependent
        element = replicate % values.shape[1]
        few = sbc.thin_draws(values[:, element], study.settings["draws"])
        rows.append({**row, "rank": int((few < at_truth[name][0, element]).sum())})
    return rows


def ranked_quantities(problem: Problem, x: Floats) -> dict[str, Floats]:
    """Compute quantities to rank, shape (points, elements): parameters, reported quantities, log likelihood.

    Parameters
    ----------
    x : array, shape (points, size)
    """
    density = problem.density
    values = density.values(x, np)
    quantities = {name: value for name, value in values.items() if value.size}
    if density.criteria > 1:
        quantities["score"] = integrated_scores(density, values)
    if "weight" in values:
        quantities["criterion weight"] = normalised_weights(density, values)
    if "coin_first" in values:
        first, second = (logistic_sigmoid(values["coin_first"], np), logistic_sigmoid(values["coin_second"], np))
        quantities |= {"reliability": 0.5 * (first + second), "position bias": 0.5 * (first - second)}
    log = Derivatives(density, problem.data).log_densities(x)
    quantities["log likelihood"] = log - density.log_prior(x, np)
    return {name: value.reshape(len(x), -1) for name, value in quantities.items()}


def aggregate(study: Study, replicates: Any) -> Any:
    """Compute a row per model, method and quantity, and one per model and method for all parameters together.

    ``coverage_50``, ``_80``, ``_90`` pool a quantity's exchangeable elements; their Monte Carlo errors take each table
    as one cluster. ``chi_square_p`` and ``ecdf_p`` test the ranks of one element per table. A quantity passes where
    ``ecdf_p`` is above the study's level of 0.01 divided by the number of quantities tested, and its 90% coverage lies
    between 0.88 and 0.92 or within two Monte Carlo errors of that (of a quantity of one element at least the binomial
    error of 90%). A model passes (the row of all parameters) where all
    its quantities do and the coverage over all parameters lies between 0.88 and 0.92. ``bad_rhat`` is the share of
    tables whose chain (of the default method: chains) has a split R-hat above 1.05, ``bad_k`` of those whose importance
    weights are too uneven (Pareto k above 0.7; missing where spreads are learned, whose draws are not weighed).
    """
    import pandas as pd

    rows = []
    tests = len(replicates.groupby(["model", "method", "quantity"]))
    for (model, method), part in replicates.groupby(["model", "method"], sort=False):
        key = {"model": model, "method": method}
        each = [
            {**key, **_quantity_row(study, name, table, LEVEL / tests)}
            for name, table in part.groupby("quantity", sort=False)
        ]
        density: LogDensity = panel_of(load_model(model), study.settings["shape"], study.settings["ties"]).density
        parameters = part[part["quantity"].isin([parameter.name for parameter in density.parameters])]
        pooled = {**key, "quantity": POOLED, **_coverage_row(parameters)}
        inside = COVERAGE[0] <= pooled["coverage_90"] <= COVERAGE[1]
        per_table = part.drop_duplicates("replicate")
        pooled |= {
            "passed": bool(inside and all(row["passed"] for row in each)),
            "bad_rhat": None if method == "laplace" else float((per_table["rhat"] > RHAT).mean()),
            "divergences": float(per_table["divergences"].sum()) if method == "nuts" else None,
            "bad_k": _bad_k(per_table) if method == "laplace" and not density.uses_marginal_likelihood else None,
        }
        rows += [pooled, *each]
    return pd.DataFrame(rows)


def _quantity_row(study: Study, name: str, table: Any, level: float) -> dict[str, Any]:
    draws = study.settings["draws"]
    rank = table["rank"].to_numpy(dtype=np.int64)
    row = {"quantity": name, **_coverage_row(table)}
    row |= {"chi_square_p": sbc.chi_square(rank, draws), "ecdf_p": sbc.ecdf_p_value(rank, draws)}
    error = row["mcse_90"]
    if (table["elements"] == 1).all():
        # at least the binomial error of what should be: that of the sample is none where all tables are covered
        error = max(error, float(np.sqrt(NOMINAL * (1.0 - NOMINAL) / row["n"])))
    margin = MARGIN * error
    inside = COVERAGE[0] - margin <= row["coverage_90"] <= COVERAGE[1] + margin
    return row | {"passed": bool(inside and row["ecdf_p"] > level)}


def _coverage_row(table: Any) -> dict[str, Any]:
    """Share of covered elements of each table, averaged over tables."""
    sums = table.groupby("replicate")[["elements", *(f"covered_{100 * prob:.0f}" for prob in PROBS)]].sum()
    row: dict[str, Any] = {"n": len(sums)}
    for prob in PROBS:
        share = sums[f"covered_{100 * prob:.0f}"] / sums["elements"]
        row[f"coverage_{100 * prob:.0f}"] = float(share.mean())
        row[f"mcse_{100 * prob:.0f}"] = float(share.std(ddof=1) / np.sqrt(len(share)))
    return row


def _bad_k(tables: Any) -> float:
    k = tables["pareto_k"].astype(float)
    return float((k.isna() | (k > MAX_PARETO_K)).mean())
