"""Scores drawn from a model: what each judge feels of an item with noise, on the scale.

Where judges score an item repeatedly, what a judge makes of it is drawn anew for every judge, criterion and item.

Scores that a model generates, votes on criteria and people's scores; see :mod:`voirdire.infer.outcomes`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.outcomes import Outcome, counted_outcome
from voirdire.kinds.scores import baseline, continuous, ordinal
from voirdire.kinds.scores.density import score_form_module
from voirdire.kinds.scores.layout import distinct_combinations
from voirdire.kinds.scores.perceived import perceived_strengths
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms import RATERS
from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.censored import HALF
from voirdire.model.terms.cumulative import level_log_probabilities
from voirdire.model.terms.raters import log_noise
from voirdire.model.terms.reliability import Values
from voirdire.tables.scores import Scores
from voirdire.typing import Floats, Ints


def score_outcomes(problem: ScoresProblem) -> list[Outcome]:
    """Counts of levels in each cell, or scores; none of baselines.

    Scores on a continuous scale are measured from its middle in parts of its length.
    """
    density, form = problem.density, score_form_module(problem.model)
    if form is baseline:
        return []
    levels = _repeated_outcome if density.repeats else _level_outcome
    found = [(levels if form is ordinal else _continuous_outcome)(problem)]
    if density.voted:
        found.append(_on_criteria(problem))
    if density.anchors:
        found.append(_people_level_outcome(problem) if form is ordinal else _people_score_outcome(problem))
    return found


def _level_outcome(problem: ScoresProblem) -> Outcome:
    density, part = problem.density, problem.data["scores"]
    names = [name for name in part if name not in ("level", "lower", "upper", "weight")]
    about, row = distinct_combinations({name: part[name] for name in names})
    weight = 1.0 if problem.answer_weight is None else problem.answer_weight[about["judge"]]
    given = part["weight"] / (1.0 if problem.answer_weight is None else problem.answer_weight[part["judge"]])
    counts = _count_levels(row, part["level"], given, len(about["judge"]), density.levels)
    judge, criterion = about["judge"], about["criterion"]

    def log_levels(values: Values, xp: Any) -> list[Array]:
        cuts = ordinal.judge_cutpoints(density, values, xp)
        whose = judge if ordinal.has_judge_cutpoints(density) else judge * 0
        eta = perceived_strengths(density, values, problem.data["panel"], about, xp)
        return list(level_log_probabilities(eta, cuts[whose, criterion], density.levels, xp))

    return counted_outcome("scores", counts, log_levels, weight)


def _repeated_outcome(problem: ScoresProblem) -> Outcome:
    """Counts of the levels that a judge gave an item, what the judge alone makes of it summed out."""
    density, part = problem.density, problem.data["scores"]
    counts = np.asarray(part["counts"], dtype=float)
    total, judge, criterion = counts.sum(axis=1).astype(np.int64), part["judge"], part["criterion"]

    def log_probability(value: Any, values: Values, xp: Any) -> Array:
        data = problem.data | {"scores": part | {"counts": value}}
        of, weight = density.form.log_part(density, values, data, xp)
        return of * weight

    def draw_counts(values: Values, rng: np.random.Generator) -> Floats:
        eta = perceived_strengths(density, values, problem.data["panel"], part)
        eta = eta + np.exp(values["log_judge_item"])[judge] * rng.standard_normal(len(judge))
        cuts = ordinal.judge_cutpoints(density, values, np)
        own = cuts[judge if len(cuts) > 1 else judge * 0, criterion]
        chance = np.exp(np.stack(level_log_probabilities(eta, own, density.levels, np), axis=-1))
        return rng.multinomial(total, chance / chance.sum(axis=-1, keepdims=True)).astype(float)

    return Outcome("scores", counts, log_probability, draw_counts)


def _continuous_outcome(problem: ScoresProblem) -> Outcome:
    density, part = problem.density, problem.data["scores"]

    def log_density(value: Any, values: Values, xp: Any) -> Array:
        data = problem.data | {"scores": part | _scores_and_ends(value, xp)}
        of, weight = density.form.log_part(density, values, data, xp)
        return of * weight

    def draw_numbers(values: Values, rng: np.random.Generator) -> Floats:
        noise = np.broadcast_to(log_noise(values), (density.judges, density.criteria))
        mean = perceived_strengths(density, values, problem.data["panel"], part)
        return _add_noise(mean, np.exp(noise[part["judge"], part["criterion"]]), rng)

    return Outcome("scores", np.asarray(part["score"], dtype=float), log_density, draw_numbers)


def _on_criteria(problem: ScoresProblem) -> Outcome:
    part = problem.data["criteria"]
    weight = np.asarray(part["weight"], dtype=float)
    if problem.answer_weight is not None:
        weight = weight / problem.answer_weight[part["judge"]]
    first, second = np.minimum(part["first"], part["second"]), np.maximum(part["first"], part["second"])
    about, row = distinct_combinations({"judge": part["judge"], "first": first, "second": second})
    counts = _count_levels(row, (part["first"] != first).astype(int), weight, len(about["judge"]), 2)
    judge = about["judge"]

    def log_choices(values: Values, xp: Any) -> list[Array]:
        gap = values["weight"][about["first"]] - values["weight"][about["second"]]
        seen = RATERS[problem.model.reliability.kind].perceived_strength(values, gap, judge, xp)
        return [log_sigmoid(seen, xp), log_sigmoid(-seen, xp)]

    own = 1.0 if problem.answer_weight is None else problem.answer_weight[judge]
    return counted_outcome("criteria_votes", counts, log_choices, own)


def _people_level_outcome(problem: ScoresProblem) -> Outcome:
    density, part = problem.density, problem.data["anchors"]
    names = [name for name in part if name not in ("level", "lower", "upper", "weight")]
    about, row = distinct_combinations({name: part[name] for name in names})
    counts = _count_levels(row, part["level"], part["weight"], len(about["criterion"]), density.levels)

    def log_levels(values: Values, xp: Any) -> list[Array]:
        eta, cuts = ordinal.people_perceptions(density, values, about, xp)
        return list(level_log_probabilities(eta, cuts[about["criterion"]], density.levels, xp))

    return counted_outcome("people", counts, log_levels)


def _people_score_outcome(problem: ScoresProblem) -> Outcome:
    density, part = problem.density, problem.data["anchors"]

    def log_density(value: Any, values: Values, xp: Any) -> Array:
        of, weight = continuous.people_part(density, values, part | _scores_and_ends(value, xp), xp)
        return of * weight

    def draw_numbers(values: Values, rng: np.random.Generator) -> Floats:
        mean = continuous.people_mean(density, values, part, np)
        return _add_noise(mean, np.exp(values["log_noise_people"]), rng)

    return Outcome("people", np.asarray(part["score"], dtype=float), log_density, draw_numbers)


def _count_levels(row: Ints, level: Ints, weight: Floats, rows: int, levels: int) -> Floats:
    counts = np.zeros((rows, levels))
    np.add.at(counts, (row, level), weight)
    return np.rint(counts)


def _scores_and_ends(value: Any, xp: Any) -> dict[str, Any]:
    """Scores, and at which end of the scale they stand."""
    return {"score": value, "end": xp.where(value <= -HALF, -1, xp.where(value >= HALF, 1, 0))}


def _add_noise(mean: Floats, noise: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(np.clip(mean + noise * rng.standard_normal(len(mean)), -HALF, HALF))


def draw_scores(problem: ScoresProblem, values: Values, rng: np.random.Generator) -> Scores:
    """The scores of a problem, drawn anew under one set of values.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    density, table, scale = problem.density, problem.table, problem.scale
    form = score_form_module(problem.model)
    if form not in (ordinal, continuous):
        raise InputError(f"model {problem.model.name} gives no probability of single scores: nothing to draw")
    judge, criterion, item = table.judge, table.criterion, table.item
    felt = perceived_strengths(density, values, problem.data["panel"], problem.codes(table))
    if form is ordinal and density.repeats:
        unit = (judge * len(table.criteria) + criterion) * len(table.items) + item
        units, place = np.unique(unit, return_inverse=True)
        felt = felt + np.exp(values["log_judge_item"])[judge] * rng.standard_normal(len(units))[place]
    if form is continuous:
        noise = np.broadcast_to(log_noise(values), (density.judges, density.criteria))
        noisy = felt + np.exp(noise[judge, criterion]) * rng.normal(size=len(judge))
        middle = 0.5 * (scale.low + scale.high)
        return replace(table, score=np.asarray(middle + scale.range * np.clip(noisy, -HALF, HALF)))
    cuts = ordinal.judge_cutpoints(density, values, np)
    own = cuts[judge if len(cuts) > 1 else judge * 0, criterion]
    level = ((felt + rng.logistic(size=len(judge)))[:, None] > own).sum(axis=1)
    return replace(table, score=np.array(scale.levels)[level])
