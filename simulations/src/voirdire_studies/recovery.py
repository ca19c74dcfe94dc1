"""Recovery studies: simulate panels whose truth is known, fit models, measure how much of it comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.agreement.coefficients.concordance import concordance_index
from voirdire.infer.adam import adam_modes
from voirdire.infer.mode import find_modes, pad
from voirdire.infer.posterior import Posterior, scores
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.results import judges as judge_summary
from voirdire.model.specs import load_model
from voirdire.planning.simulated import count_panel, merge_equal, pose_panels
from voirdire.simulate.judges import Accuracy
from voirdire.simulate.panel import panel_from_spec
from voirdire.simulate.truth import Truth
from voirdire.simulate.votes import simulate_counts
from voirdire_studies.study import Cell, Study, simulation_settings

Floats = npt.NDArray[np.float64]
Unit = tuple[int, tuple[int, ...]]  # a cell's number and the replicates to run together


def units(study: Study) -> list[Unit]:
    """Work in pieces that are run whole: batches of replicates of one cell."""
    size = study.settings["batch"]
    replicates = range(study.replicates)
    batches = [tuple(replicates[start : start + size]) for start in range(0, study.replicates, size)]
    return [(cell, batch) for cell in range(len(study.study_cells())) for batch in batches]


def run(study: Study, unit: Unit) -> list[dict[str, Any]]:
    """Simulate, fit and measure one batch: a row per replicate, model, optimiser and measure."""
    number, replicates = unit
    cell = study.study_cells()[number]
    panels = [simulate_counts(**simulation_settings(study, cell, replicate)) for replicate in replicates]
    tables = [count_panel(panel) for panel in panels]
    rows = []
    for name in study.settings["models"]:
        model = load_model(name)
        problems = pose_panels(model, tables)
        for optimiser in study.settings.get("optimisers", ["map"]):
            if optimiser == "adam" and replicates[-1] >= study.settings.get(
                "adam_replicates", study.replicates
            ):
                continue  # 5,000 epochs take long: the first batches do
            roomy = study.settings.get("roomy", False)
            found = _fit_problems(problems, optimiser, [study.seed, *replicates], roomy)
            if found is None:
                continue
            for replicate, panel, problem, x in zip(replicates, panels, problems, found, strict=True):
                key = {**cell.labels, "model": name, "optimiser": optimiser, "replicate": replicate}
                measured = _measure_fit(study, cell, problem, x, panel.truth)
                rows += [{**key, "measure": measure, "value": value} for measure, value in measured.items()]
    return rows


def _fit_problems(
    problems: list[VotesProblem], optimiser: str, seed: list[int], roomy: bool
) -> list[Floats] | None:
    density, data = problems[0].density, [problem.data for problem in problems]
    if optimiser == "map":
        return [mode.x for mode in find_modes(density, data, roomy=roomy)]
    if "reliability" not in density.slices:
        return None  # the paper's procedure is for models with its coin
    return adam_modes(density, pad(data), len(data), seed)


def _measure_fit(
    study: Study, cell: Cell, problem: VotesProblem, x: Floats, truth: Truth
) -> dict[str, float]:
    posterior = Posterior(problem.density, x, None)
    values = posterior.central_values
    score = scores(problem.density, values)
    nominal = _nominal_reliability(cell, problem.judges)
    wanted = study.settings["measures"]
    found: dict[str, float] = {}
    known = {
        "items": concordance_index(merge_equal(score), truth.scores("softmax")),
        "votes": float(problem.judge_votes.sum()),
    }
    for measure in wanted:
        if measure in known:
            found[measure] = known[measure]
        elif measure.startswith("items-"):
            weighting: Any = measure.removeprefix("items-")
            found[measure] = concordance_index(merge_equal(score), truth.scores(weighting))
        elif measure == "strengths" and len(values["strength"]) == len(truth.strengths):
            each = [
                concordance_index(merge_equal(a), b)
                for a, b in zip(values["strength"], truth.strengths, strict=True)
            ]
            found[measure] = float(np.mean(each))
        elif measure == "criteria" and "weight" in values:
            # of weights in proportion: those of small criteria are close to 0, and to each other
            found[measure] = concordance_index(merge_equal(values["weight"]), truth.weights)
        elif measure in ("reliability", "eta"):
            reliability = judge_summary(problem, posterior, 0.9)["reliability"]
            if np.isnan(reliability).any() or nominal is None:
                continue
            if measure == "reliability":
                found[measure] = concordance_index(merge_equal(reliability), nominal)
            else:
                found |= {f"eta {nominal[k]:g}": float(reliability[k]) for k in range(len(nominal))}
    return found


def _nominal_reliability(cell: Cell, judges: tuple[str, ...]) -> Floats | None:
    """Accuracy that each judge was given, where all were given one."""
    panel = panel_from_spec(cell.judges)
    given = [panel[name] for name in judges]
    accuracies = [
        judge.accuracy for judge in given if isinstance(judge, Accuracy) and judge.accuracy is not None
    ]
    return np.array(accuracies, dtype=float) if len(accuracies) == len(given) else None


def aggregate(study: Study, replicates: Any) -> Any:
    """Mean, sd and Monte Carlo error of each cell, model and measure; how often a model is the single best.

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
        share = (
            at_top.assign(best_share=(at_top["top"] & single).astype(float))
            .groupby(keys)["best_share"]
            .mean()
        )
        table = table.merge(share.reset_index(), on=keys, how="left")
    return table
