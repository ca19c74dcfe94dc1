"""Tables of a fit of scores: items, judges, cutpoints, groups."""

from __future__ import annotations

from functools import partial

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds import results as summaries
from voirdire.kinds.columns import Columns, name_array, with_intervals
from voirdire.kinds.people import PROBIT_SCALE, TWO_SCORE_SCALE, Preference
from voirdire.kinds.quantities import (
    Quantities,
    Quantity,
    item_score_quantities,
    judge_quantities,
    parameter_quantities,
    rescale_draws,
)
from voirdire.kinds.scores import continuous, ordinal
from voirdire.kinds.scores.density import ScoresDensity
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.natural_scales import unit_and_definition
from voirdire.model.terms.arrays import LOGISTIC_VARIANCE, log_normal_cdf
from voirdire.model.terms.cutpoints import total_severity
from voirdire.model.terms.discrimination import LearnedLinkedPosition
from voirdire.model.terms.raters import judge_discriminations, log_noise
from voirdire.model.terms.score_probabilities import level_log_probabilities
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

TASTE_NODES = 9  # points of the Gauss-Hermite rule over a judge's taste


def ranking_on_scale(problem: ScoresProblem, posterior: Posterior, prob: float) -> Columns:
    """Items by score, as for votes; on the scale of the scores if the model takes them as numbers, else in log-odds."""
    return _rescale_columns(problem, summaries.ranking_table(problem, posterior, prob), "score")


def strengths_on_scale(problem: ScoresProblem, posterior: Posterior, prob: float) -> Columns:
    """Strength of every item under every criterion, on the scale of :func:`ranking_on_scale`; one row per cell."""
    return _rescale_columns(problem, summaries.strength_table(problem, posterior, prob), "strength")


def _rescale_columns(problem: ScoresProblem, columns: Columns, name: str) -> Columns:
    origin, unit = problem.unit
    ends = (name, "low", "high")
    rescaled_keys = [key for key in columns if key.removesuffix("_panel").removesuffix("_target") in ends]
    rescaled = {key: origin + unit * columns[key] for key in rescaled_keys} | {"sd": unit * columns["sd"]}
    return {key: rescaled.get(key, column) for key, column in columns.items()}


def judge_table(problem: ScoresProblem, posterior: Posterior, prob: float) -> Columns:
    """Judges: group, number of scores, and estimates of the model, each with interval.

    ``p_right`` is the probability that the judge gives the better of a typical pair the higher score, with ties counted
    half; 0.5 is chance. The strengths of a typical pair differ by 0.954 times the standard deviation of the strengths.
    ``reliability`` is ``p_right``, but missing if the model assumes that all judges distinguish items equally well.
    ``discrimination`` a_k has root mean square 1 over judges; it is 0 for a judge that scores at random, negative for
    one that scores against the others. ``severity`` is on the scale of the strengths (log-odds), positive for a severe
    judge. On a continuous scale, severity and ``noise``, the standard deviation of the judge's scores around its
    perceptions (root mean square over criteria), are in points of the scale, and the components below in squared
    points.
    With repeated scores, ``variance_item``, ``variance_judge_item`` and ``variance_run`` are variance components of the
    judge's scores: differences between items (as the judge perceives them), the judge's effect on an item in all its
    runs, and noise between runs, which is pi^2 / 3 in log-odds.
    Estimates are medians over the draws, if there are any: strengths at the mode are shrunk, so that quantities that
    depend on the differences of items are too small there. A judge without scores has only the discrimination of its
    votes on criteria, and quantities that follow from it.
    """
    columns: Columns = {"judge": name_array(problem.judges), "votes": problem.judge_votes}
    scored = problem.judge_votes > 0
    if problem.table.group is not None:
        names = name_array(problem.groups)[problem.judge_group]
        names[~scored] = None  # the groups of judges that only voted on criteria are unknown
        columns["group"] = names
    quantities = with_intervals(posterior, lambda values: judge_values(problem, values), prob, len(scored))
    voted = ("discrimination", "reliability", "p_right") if "discrimination" in quantities else ()
    for name, column in quantities.items():
        columns[name] = column if name.startswith(voted) else np.where(scored, column, np.nan)
    return columns


def cutpoint_table(problem: ScoresProblem, posterior: Posterior, prob: float) -> Columns:
    """Cutpoints, one row per criterion and limit (and per judge if each has its own), with intervals.

    A cutpoint is the limit between the levels ``lower`` and ``upper`` on the scale of the strengths, without severity.
    The table is empty if the model takes scores as numbers.
    """
    if problem.form is not ordinal:
        return summaries.empty_table(("criterion",), ("lower", "upper", "cutpoint", "low", "high"))
    summary = summaries.summarise_quantity(posterior, partial(_cutpoint_values, problem), prob)
    judge, criterion, limit = (part.ravel() for part in np.indices(summary.point.shape))
    names = np.array(problem.scale.levels)
    columns: Columns = {} if len(summary.point) == 1 else {"judge": name_array(problem.judges)[judge]}
    columns["criterion"] = name_array(problem.criteria)[criterion]
    columns |= {"lower": names[limit], "upper": names[limit + 1], "cutpoint": summary.point.ravel()}
    return columns | {"low": summary.low.ravel(), "high": summary.high.ravel()}


def people_table(problem: ScoresProblem, posterior: Posterior, prob: float) -> Columns:
    """People who gave anchors: criterion, number of scores, and estimates of the model, each with interval.

    ``severity`` is the severity of people minus that of the mean judge. ``discrimination`` is 1 for a typical judge; it
    is not shown if the model fixes it at 1. On a continuous scale, ``noise`` is the standard deviation of people's
    scores around their perceptions. Empty without anchors.
    """
    if problem.anchors is None:
        return {"criterion": np.array([], dtype=object), "scores": np.array([], dtype=np.int64)}
    size = len(problem.criteria)
    count = np.bincount(problem.anchors.table.criterion, minlength=size)
    columns: Columns = {"criterion": name_array(problem.criteria), "scores": count}
    return columns | with_intervals(posterior, lambda values: people_values(problem, values), prob, size)


def people_values(problem: ScoresProblem, values: Values) -> dict[str, Floats]:
    """Values in :func:`people_table`, shape (..., criteria)."""
    unit_size, severity = problem.unit[1], values["severity_people"]
    scoring = np.unique(problem.table.judge)
    panel = judge_values(problem, values)["severity"][..., scoring].mean(axis=-1)
    quantities = {"severity": unit_size * severity - panel[..., None]}
    for name, log, unit in (("discrimination", "log_people", 1.0), ("noise", "log_noise_people", unit_size)):
        if log in values:
            quantities[name] = unit * np.exp(values[log])[..., None] + 0.0 * severity
    return quantities


def judge_group_table(problem: ScoresProblem, posterior: Posterior, prob: float) -> Columns:
    """Groups of judges: number of judges and scores, the unmodelled mean score, and severity with interval.

    ``mean`` is the mean over the group's judges of each judge's mean score. ``severity`` is the mean of its judges'
    severities; it is missing if there is one group, as severities sum to zero.
    """
    size = len(problem.groups)
    table, group = problem.table, problem.judge_group
    count = np.bincount(table.judge, minlength=len(problem.judges))
    total = np.bincount(table.judge, table.score, len(problem.judges))
    mean = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    columns: Columns = {
        "group": name_array(problem.groups),
        "judges": np.bincount(group[count > 0], minlength=size),
        "votes": np.bincount(group, count, size).astype(np.int64),
        "mean": np.array([np.nanmean(mean[group == g]) for g in range(size)]),
    }
    missing = np.full(size, np.nan)
    columns |= {"severity": missing, "low": missing, "high": missing}
    if "severity" in posterior.central_values and size > 1:
        severity = summaries.summarise_quantity(posterior, partial(_group_severity, problem), prob)
        columns |= {"severity": severity.point, "low": severity.low, "high": severity.high}
    return columns


def _group_severity(problem: ScoresProblem, values: Values) -> Floats:
    """Mean severity of the judges of each group, including the group's severity, shape (..., groups)."""
    severity = judge_values(problem, values)["severity"]
    group = np.where(problem.judge_votes > 0, problem.judge_group, -1)
    return np.stack([severity[..., group == g].mean(axis=-1) for g in range(len(problem.groups))], axis=-1)


def judge_values(problem: ScoresProblem, values: Values) -> dict[str, Floats]:
    """Derived quantities per judge, shape (..., judges); NaN for quantities that the model does not have."""
    density = problem.density
    strength = values["strength"]
    lead = strength.shape[:-2]
    missing = np.full((*lead, density.judges), np.nan)
    if problem.form not in (ordinal, continuous):
        return {"reliability": missing}
    p_right, unit = correct_order_probability(problem, values), problem.unit[1]
    severity = unit * total_severity(values, problem.judge_group)
    quantities = {"reliability": missing, "p_right": p_right, "severity": severity}
    if problem.form is ordinal and ordinal.has_judge_cutpoints(problem.density):
        quantities["severity"] = quantities["severity"] + values["shift"].mean(axis=-1)
    slope: Floats = np.ones((*lead, density.judges))
    discrimination = judge_discriminations(values, np)
    if discrimination is not None:
        slope = discrimination
        quantities |= {"reliability": p_right, "discrimination": slope}
    if problem.form is continuous:
        noise = np.sqrt(np.exp(2.0 * log_noise(values)).mean(axis=-1))
        quantities |= {"reliability": p_right, "noise": unit * noise}
    if "log_judge_item" in values:
        item = slope**2 * strength.var(axis=-1, ddof=1).mean(axis=-1)[..., None]
        run = (
            np.exp(2.0 * log_noise(values)).mean(axis=-1)
            if problem.form is continuous
            else np.full_like(slope, LOGISTIC_VARIANCE)
        )
        quantities["variance_item"] = unit**2 * item
        factor = slope if "judge_item_effect" in values else 1.0  # latent effects are scaled by the slope
        quantities["variance_judge_item"] = (unit * factor) ** 2 * np.exp(2.0 * values["log_judge_item"])
        quantities["variance_run"] = unit**2 * run
    return quantities


def person_preference(problem: ScoresProblem, values: Values) -> Preference | None:
    """Preference of a person between two items, from the noise of scores; None for models without noise.

    Parameters
    ----------
    problem : ScoresProblem
    values : dict of array
        Central values of the parameters.
    """
    if problem.form is ordinal:
        return Preference(scale=TWO_SCORE_SCALE / float(np.exp(values.get("log_people", 0.0))))
    if problem.form is not continuous:
        return None
    if "log_noise_people" in values:
        noise = float(np.exp(values["log_noise_people"]))
    else:
        variance = np.exp(2.0 * log_noise(values)).mean(axis=-1)
        variance = variance + np.exp(2.0 * values.get("log_judge_item", np.full_like(variance, -np.inf)))
        noise = float(np.sqrt(np.median(variance)))
    return Preference(scale=problem.unit[1] * noise * TWO_SCORE_SCALE / PROBIT_SCALE)


def score_quantities(problem: ScoresProblem, values: Values) -> Quantities:
    """All estimated quantities, in points of the scale if the model takes scores as numbers; and cutpoints."""
    origin, unit = problem.unit

    def in_points(name: str, draws: Floats) -> Floats:
        is_location = name in ("strength", "level", "score", "score_panel", "score_target")
        return unit * draws + origin * is_location if unit_and_definition(name, "").units == "" else draws

    quantities = parameter_quantities(problem, values)
    if "weight" in quantities or "strength" in values:
        quantities |= item_score_quantities(problem, values)
    quantities = rescale_draws(quantities, in_points) if problem.in_points else quantities
    if problem.form is ordinal:
        quantities = with_cutpoints(quantities, problem, values)
    return quantities | judge_quantities(judge_values(problem, values), len(problem.judges), 0.5)


def with_cutpoints(quantities: Quantities, problem: ScoresProblem, values: Values) -> Quantities:
    """Replace the parameters of cutpoints by cutpoints of the panel or of every judge; see :func:`cutpoint_table`."""
    cuts = _cutpoint_values(problem, values)
    dims = ("judge", "criterion", "limit")
    by_judge = cuts.shape[-3] > 1 or problem.density.judges == 1
    parts = {"cut_location", "cut_gap", "cut_gap_judge", *({"shift"} if by_judge else ())}
    kept = {name: quantity for name, quantity in quantities.items() if name not in parts}
    return kept | {"cutpoint": Quantity(cuts, dims) if by_judge else Quantity(cuts[..., 0, :, :], dims[1:])}


def correct_order_probability(problem: ScoresProblem, values: Values) -> Floats:
    """Probability that a judge gives the better of a typical pair the higher score, ties half, shape (..., judges).

    It is the mean over criteria, for a pair around the panel's middle; on a continuous scale, away from the ends.
    """
    density, strength = problem.density, values["strength"]
    gap = summaries.MEDIAN_GAP * strength.std(axis=-1)[..., None, :]  # (..., 1, criteria)
    if problem.form is continuous:
        noise = np.exp(2.0 * log_noise(values))
        for component in ("log_judge_item", "log_taste_spread"):
            if component in values:
                noise = noise + np.exp(2.0 * values[component])[..., None]
        return np.asarray(np.exp(log_normal_cdf(gap / np.sqrt(2.0 * noise), np)).mean(axis=-1))
    slope = np.ones((density.judges, 1))
    discrimination = judge_discriminations(values, np)
    if discrimination is not None:
        slope = discrimination[..., None]
    middle = 0.0 * slope - total_severity(values, problem.judge_group)[..., None]
    if density.model.reliability.kind == LearnedLinkedPosition.kind:
        location = values["cut_location"][..., None, :]
        middle = slope * (middle - location) + location
    cuts = ordinal.judge_cutpoints(density, values, np)
    better, worse = (
        _level_probabilities(density, values, middle + sign * slope * gap, slope, cuts) for sign in (0.5, -0.5)
    )
    below = worse.cumsum(axis=-1) - 0.5 * worse
    return np.asarray((better * below).sum(axis=-1).mean(axis=-1))


def _level_probabilities(density: ScoresDensity, values: Values, eta: Floats, slope: Floats, cuts: Floats) -> Floats:
    """Probability of every level, shape (..., judges, criteria, levels), over tastes of judges and families."""
    levels = density.levels
    cuts = np.broadcast_to(cuts, (*eta.shape, levels - 1))
    nodes, weights = np.zeros(1), np.ones(1)
    variance = np.zeros((*eta.shape[:-2], density.judges))
    if "log_taste_spread" in values:
        variance = variance + np.exp(2.0 * values["log_taste_spread"])[..., None]
    if "log_judge_item" in values and not density.integrates_repeats:
        variance = variance + np.exp(2.0 * values["log_judge_item"])
    if "log_family_spread" in values:
        family = np.array(density.families)
        shared = np.exp(2.0 * values["log_family_spread"])[..., np.maximum(family, 0)]
        variance = variance + np.where(family >= 0, shared, 0.0)
    if variance.any():
        nodes, weights = np.polynomial.hermite_e.hermegauss(TASTE_NODES)
    spread = slope * np.sqrt(variance)[..., None]
    logs = (level_log_probabilities(eta + spread * z, cuts, levels, np) for z in nodes)
    shares = weights / weights.sum()
    return np.asarray(sum(share * np.exp(np.stack(log, -1)) for share, log in zip(shares, logs, strict=True)))


def _cutpoint_values(problem: ScoresProblem, values: Values) -> Floats:
    return np.asarray(ordinal.judge_cutpoints(problem.density, values, np))
