"""Recovery studies: simulation of panels with known truth, fits of models, comparison with the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.agreement.coefficients.pairwise import concordance_index
from voirdire.infer.adam import adam_modes
from voirdire.infer.infer import infer_posterior
from voirdire.infer.method import Method
from voirdire.infer.mode import find_modes, stack_tables
from voirdire.infer.posterior import Posterior, integrated_scores, normalised_weights
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.results import judge_table as judge_summary
from voirdire.model.specs import load_model
from voirdire.planning.simulated import count_panel, encode_panels, merge_equal
from voirdire.simulate import Accuracy
from voirdire.simulate.panel import panel_from_spec
from voirdire.simulate.truth import Truth
from voirdire.simulate.votes import simulate_counts
from voirdire_studies.study import Cell, Study, simulation_settings

Floats = npt.NDArray[np.float64]
#: Measures of criterion weights and of intervals.
WEIGHING = ("weight-error", "top-weight", "weights-held", "scores-held")
Unit = tuple[int, tuple[int, ...]]  # a cell's number and the replicates to run together


def units(study: Study) -> list[Unit]:
    """List units of work: batches of replicates of one cell."""
    size = study.settings["batch"]
    replicates = range(study.replicates)
    batches = [tuple(replicates[start : start + size]) for start in range(0, study.replicates, size)]
    return [(cell, batch) for cell in range(len(study.study_cells())) for batch in batches]


def run(study: Study, unit: Unit) -> list[dict[str, Any]]:
    """Simulate, fit and measure one batch; return a row per replicate, model, optimiser and measure."""
    number, replicates = unit
    cell = study.study_cells()[number]
    panels = [simulate_counts(**simulation_settings(study, cell, replicate)) for replicate in replicates]
    tables = [count_panel(panel) for panel in panels]
    rows = []
    for name in study.settings["models"]:
        model = load_model(name)
        problems = encode_panels(model, tables)
        for optimiser in study.settings.get("optimisers", ["map"]):
            if optimiser == "adam" and replicates[-1] >= study.settings.get("adam_replicates", study.replicates):
                continue  # only the first batches, because 5,000 epochs take long
            roomy = study.settings.get("roomy", False)
            posteriors = _fit_problems(problems, optimiser, [study.seed, *replicates], roomy)
            if posteriors is None:
                continue
            for replicate, panel, problem, posterior in zip(replicates, panels, problems, posteriors, strict=True):
                key = {**cell.labels, "model": name, "optimiser": optimiser, "replicate": replicate}
                measured = _measure_fit(study, cell, problem, posterior, panel.truth)
                rows += [{**key, "measure": measure, "value": value} for measure, value in measured.items()]
    return rows


def _fit_problems(problems: list[VotesProblem], optimiser: str, seed: list[int], roomy: bool) -> list[Posterior] | None:
    density, data = problems[0].density, [problem.data for problem in problems]
    if optimiser == "adam":
        if "reliability" not in density.parameter_slices:
            return None  # the paper's procedure is for models with its coin
        return [Posterior(density, x, None) for x in adam_modes(density, stack_tables(data), len(data), seed)]
    modes = find_modes(density, data, roomy=roomy)
    if optimiser == "map":
        return [Posterior(density, mode.x, None) for mode in modes]
    pairs = zip(problems, modes, strict=True)
    return [infer_posterior(problem, mode, Method("laplace")).posterior for problem, mode in pairs]


def _measure_fit(
    study: Study, cell: Cell, problem: VotesProblem, posterior: Posterior, truth: Truth
) -> dict[str, float]:
    values = posterior.central_values
    score = integrated_scores(problem.density, values)
    nominal = _nominal_reliability(cell, problem.judges)
    wanted = study.settings["measures"]
    measured: dict[str, float] = {}
    known = {
        "items": concordance_index(merge_equal(score), truth.overall_scores("softmax")),
        "votes": float(problem.judge_votes.sum()),
    }
    for measure in wanted:
        if measure in known:
            measured[measure] = known[measure]
        elif measure == "items-ranked":
            if "weight" in values:
                ranked = _ranked_scores(values["strength"], values["weight"])
                measured[measure] = concordance_index(merge_equal(ranked), truth.overall_scores("softmax"))
        elif measure.startswith("items-"):
            weighting: Any = measure.removeprefix("items-")
            measured[measure] = concordance_index(merge_equal(score), truth.overall_scores(weighting))
        elif measure in WEIGHING:
            measured |= _weighing(measure, problem, posterior, truth)
        elif measure == "strengths" and len(values["strength"]) == len(truth.strengths):
            each = [
                concordance_index(merge_equal(a), b) for a, b in zip(values["strength"], truth.strengths, strict=True)
            ]
            measured[measure] = float(np.mean(each))
        elif measure == "criteria" and "weight" in values:
            # of weights in proportion: those of small criteria are close to 0, and to each other
            measured[measure] = concordance_index(merge_equal(values["weight"]), truth.weights)
        elif measure in ("reliability", "eta"):
            reliability = judge_summary(problem, posterior, 0.9)["reliability"]
            if np.isnan(reliability).any() or nominal is None:
                continue
            if measure == "reliability":
                measured[measure] = concordance_index(merge_equal(reliability), nominal)
            else:
                measured |= {f"eta {nominal[k]:g}": float(reliability[k]) for k in range(len(nominal))}
    return measured


def _weighing(measure: str, problem: VotesProblem, posterior: Posterior, truth: Truth) -> dict[str, float]:
    """Criterion weights that sum to one beside the true ones, and shares of 90% intervals that hold the truth."""
    if "weight" not in posterior.central_values:
        return {}
    true = np.exp(truth.weights - truth.weights.max())
    true /= true.sum()
    shown = posterior.summarise_quantities(
        lambda v: {"weight": normalised_weights(problem.density, v)}, 0.9, parts=True
    )["weight"]
    if measure == "weight-error":
        return {measure: float(np.abs(shown.point - true).mean())}
    if measure == "top-weight":
        return {measure: float(shown.point.max())}
    if posterior.values is None:
        return {}  # a point has no interval
    if measure == "weights-held":
        return {measure: float(np.mean((shown.low <= true) & (true <= shown.high)))}
    score = posterior.summarise_quantities(lambda v: {"score": integrated_scores(problem.density, v)}, 0.9)["score"]
    true_scores = truth.overall_scores("softmax")
    true_scores = true_scores - true_scores.mean()
    return {measure: float(np.mean((score.low <= true_scores) & (true_scores <= score.high)))}


def _ranked_scores(strengths: Floats, weights: Floats) -> Floats:
    """Overall scores by ranks: softmax of the weights' ranks, of each criterion the ranks of its strengths.

    As MAPLE's equation 6 makes scores of a truth that is ranks (1 to N of each criterion, 1 to C of criteria).

    Examples
    --------
    >>> _ranked_scores(np.array([[0.1, 0.3], [0.9, 0.2]]), np.array([-1.0, 5.0])).round(3)
    array([1.731, 1.269])
    """
    from scipy.stats import rankdata

    order = np.exp(rankdata(merge_equal(weights)))
    ranks = np.array([rankdata(merge_equal(row)) for row in strengths])
    scores: Floats = (order / order.sum()) @ ranks
    return scores


def _nominal_reliability(cell: Cell, judges: tuple[str, ...]) -> Floats | None:
    """Return the accuracy setting of each judge, None unless all have one."""
    panel = panel_from_spec(cell.judges)
    given = [panel[name] for name in judges]
    accuracies = [judge.accuracy for judge in given if isinstance(judge, Accuracy) and judge.accuracy is not None]
    return np.array(accuracies, dtype=float) if len(accuracies) == len(given) else None


def aggregate(study: Study, replicates: Any) -> Any:
    """Compute mean, sd and Monte Carlo error of each cell, model and measure, and the share of single best models.

    ``best_share`` is the share of replicates in which the model alone has the highest value of the study's ``best_of``
    measure among its models; missing for other measures.
    """
    keys = ["panel", "added", "count", "design", "model", "optimiser", "measure"]
    grouped = replicates.groupby(keys, sort=False)["value"]
    table = grouped.agg(n="count", mean="mean", sd="std").reset_index()
    table["mcse"] = table["sd"] / np.sqrt(table["n"])
    if "best_of" in study.settings:
        chosen = replicates[replicates["measure"] == study.settings["best_of"]]
        race = [key for key in keys if key != "model"] + ["replicate"]
        top = chosen.groupby(race)["value"].transform("max")
        at_top = chosen.assign(top=chosen["value"] == top)
        single = at_top.groupby(race)["top"].transform("sum") == 1
        share = at_top.assign(best_share=(at_top["top"] & single).astype(float)).groupby(keys)["best_share"].mean()
        table = table.merge(share.reset_index(), on=keys, how="left")
    return table
