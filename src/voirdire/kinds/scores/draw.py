"""Simulation of scores from a model: each judge's perception of an item with noise, on the scale.

Where judges score an item repeatedly, the judge's effect on the item is drawn for every judge, criterion and item.

Outcomes are scores, votes on criteria and human scores; see :mod:`voirdire.infer.outcomes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.outcomes import Outcome, counted_outcome
from voirdire.kinds.bootstrap import resample_weights
from voirdire.kinds.scores import baseline, continuous, ordinal
from voirdire.kinds.scores.layout import distinct_combinations, perceived_strengths
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.density import Data
from voirdire.model.terms import RATERS
from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.raters import log_noise
from voirdire.model.terms.score_probabilities import HALF_RANGE, level_log_probabilities
from voirdire.model.terms.term import Values
from voirdire.tables.scores import Scores
from voirdire.typing import Floats, Ints


def score_outcomes(problem: ScoresProblem) -> list[Outcome]:
    """List the outcomes: counts of levels in each cell, or scores; empty for baselines.

    Scores on a continuous scale are measured from its middle in parts of its length.
    """
    density, form = problem.density, problem.form
    if form is baseline:
        return []
    levels = _repeated_outcome if density.integrates_repeats else _panel_levels
    outcomes = [(levels if form is ordinal else _panel_scores)(problem)]
    if density.voted:
        outcomes.append(_criteria_outcome(problem))
    if density.anchors:
        outcomes.append(_people_levels(problem) if form is ordinal else _people_scores(problem))
    return outcomes


ArrayPair = tuple[Array, Array]


def _level_outcome(
    problem: ScoresProblem, name: str, part: dict[str, Any], seen: Callable[[Values, Any, Any], ArrayPair]
) -> Outcome:
    """Counts of levels for each combination of codes; ``seen`` gives perceived strengths and cutpoints."""
    levels = problem.density.levels
    names = [name for name in part if name not in ("level", "lower", "upper", "weight")]
    about, row = distinct_combinations({name: part[name] for name in names})
    counts = _count_levels(row, part["level"], problem.times(part), len(about["criterion"]), levels)

    def log_levels(values: Values, xp: Any) -> list[Array]:
        return list(level_log_probabilities(*seen(values, about, xp), levels, xp))

    return counted_outcome(name, counts, log_levels, problem.weight_of(about["judge"]) if "judge" in about else 1.0)


def _panel_levels(problem: ScoresProblem) -> Outcome:
    density = problem.density

    def seen(values: Values, about: Any, xp: Any) -> ArrayPair:
        eta = perceived_strengths(density, values, problem.data["panel"], about, xp)
        return eta, ordinal.answer_cutpoints(density, values, about, xp)

    return _level_outcome(problem, "scores", problem.data["scores"], seen)


def _people_levels(problem: ScoresProblem) -> Outcome:
    def seen(values: Values, about: Any, xp: Any) -> ArrayPair:
        eta, cuts = ordinal.people_perceptions(problem.density, values, about, xp)
        return eta, cuts[about["criterion"]]

    return _level_outcome(problem, "people", problem.data["anchors"], seen)


def _repeated_outcome(problem: ScoresProblem) -> Outcome:
    """Counts of the levels that a judge gave an item; the judge's effect on the item is integrated out."""
    density, part = problem.density, problem.data["scores"]
    counts = np.asarray(part["counts"], dtype=float)
    total, judge = counts.sum(axis=1).astype(np.int64), part["judge"]

    def log_probability(value: Any, values: Values, xp: Any) -> Array:
        data = problem.data | {"scores": part | {"counts": value}}
        log, weight = density.form.score_log_densities(density, values, data, xp)
        return log * weight

    def draw_counts(values: Values, rng: np.random.Generator) -> Floats:
        eta = perceived_strengths(density, values, problem.data["panel"], part)
        eta = eta + np.exp(values["log_judge_item"])[judge] * rng.standard_normal(len(judge))
        cutpoints = ordinal.answer_cutpoints(density, values, part, np)
        probability = np.exp(np.stack(level_log_probabilities(eta, cutpoints, density.levels, np), axis=-1))
        return rng.multinomial(total, probability / probability.sum(axis=-1, keepdims=True)).astype(float)

    return Outcome("scores", counts, log_probability, draw_counts)


def _score_outcome(
    name: str,
    part: dict[str, Any],
    log_part: Callable[[dict[str, Any], Values, Any], ArrayPair],
    moments: Callable[[Values], tuple[Floats, Floats]],
) -> Outcome:
    """Scores on a continuous scale, with functions for their log density and weights, and for mean and noise."""

    def log_density(value: Any, values: Values, xp: Any) -> Array:
        ends = xp.where(value <= -HALF_RANGE, -1, xp.where(value >= HALF_RANGE, 1, 0))
        log, weight = log_part(part | {"score": value, "end": ends}, values, xp)
        return log * weight

    def draw_numbers(values: Values, rng: np.random.Generator) -> Floats:
        mean, noise = moments(values)
        return np.asarray(np.clip(mean + noise * rng.standard_normal(len(mean)), -HALF_RANGE, HALF_RANGE))

    return Outcome(name, np.asarray(part["score"], dtype=float), log_density, draw_numbers)


def _panel_scores(problem: ScoresProblem) -> Outcome:
    density, part = problem.density, problem.data["scores"]

    def log_part(part: dict[str, Any], values: Values, xp: Any) -> ArrayPair:
        parts: ArrayPair = density.form.score_log_densities(density, values, problem.data | {"scores": part}, xp)
        return parts

    def moments(values: Values) -> tuple[Floats, Floats]:
        noise = np.broadcast_to(log_noise(values), (density.judges, density.criteria))
        mean = perceived_strengths(density, values, problem.data["panel"], part)
        return mean, np.exp(noise[part["judge"], part["criterion"]])

    return _score_outcome("scores", part, log_part, moments)


def _criteria_outcome(problem: ScoresProblem) -> Outcome:
    part = problem.data["criteria"]
    first, second = np.minimum(part["first"], part["second"]), np.maximum(part["first"], part["second"])
    about, row = distinct_combinations({"judge": part["judge"], "first": first, "second": second})
    counts = _count_levels(row, (part["first"] != first).astype(int), problem.times(part), len(about["judge"]), 2)
    judge = about["judge"]

    def log_choices(values: Values, xp: Any) -> list[Array]:
        gap = values["weight"][about["first"]] - values["weight"][about["second"]]
        perceived = RATERS[problem.model.reliability.kind].perceived_strength(values, gap, judge, xp)
        return [log_sigmoid(perceived, xp), log_sigmoid(-perceived, xp)]

    return counted_outcome("criteria_votes", counts, log_choices, problem.weight_of(judge))


def _people_scores(problem: ScoresProblem) -> Outcome:
    density, part = problem.density, problem.data["anchors"]
    return _score_outcome(
        "people",
        part,
        lambda part, values, xp: continuous.people_part(density, values, part, xp),
        lambda values: (continuous.people_mean(density, values, part, np), np.exp(values["log_noise_people"])),
    )


def _count_levels(row: Ints, level: Ints, weight: Floats, rows: int, levels: int) -> Floats:
    counts = np.zeros((rows, levels))
    np.add.at(counts, (row, level), weight)
    return np.rint(counts)


def draw_scores(problem: ScoresProblem, values: Values, rng: np.random.Generator) -> Scores:
    """Simulate the scores of a problem under one set of values.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    density, table, scale = problem.density, problem.table, problem.scale
    form = problem.form
    if form not in (ordinal, continuous):
        raise InputError(f"model {problem.model.name} gives no probability of single scores: nothing to draw")
    judge, criterion, item = table.judge, table.criterion, table.item
    perceived = perceived_strengths(density, values, problem.data["panel"], problem.codes(table))
    if density.integrates_repeats:
        unit = (judge * len(table.criteria) + criterion) * len(table.items) + item
        units, unit_row = np.unique(unit, return_inverse=True)
        perceived = perceived + np.exp(values["log_judge_item"])[judge] * rng.standard_normal(len(units))[unit_row]
    if form is continuous:
        noise = np.broadcast_to(log_noise(values), (density.judges, density.criteria))
        noisy = perceived + np.exp(noise[judge, criterion]) * rng.normal(size=len(judge))
        middle = 0.5 * (scale.low + scale.high)
        return replace(table, score=np.asarray(middle + scale.range * np.clip(noisy, -HALF_RANGE, HALF_RANGE)))
    cutpoints = ordinal.answer_cutpoints(density, values, {"judge": judge, "criterion": criterion}, np)
    level = ((perceived + rng.logistic(size=len(judge)))[:, None] > cutpoints).sum(axis=1)
    return replace(table, score=np.array(scale.levels)[level])


def resample_scores(problem: ScoresProblem, rng: np.random.Generator) -> Data:
    """Resample the answers of a problem with replacement, as many as there are; shapes stay the same.

    Raises
    ------
    InputError
        The model is a baseline, which pools scores.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> scores = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "x"], "score": [1, 2]})
    >>> problem = voirdire.fit(scores, method="map").problem
    >>> float(resample_scores(problem, np.random.default_rng(0))["scores"]["weight"].sum())
    2.0
    """
    if "judge" not in problem.data["scores"]:
        raise InputError(
            f"bootstrap() needs a model of single scores; the intervals of {problem.model.name} say already where "
            "another panel's value would lie"
        )
    return {name: resample_weights(part, problem.answer_weight, rng) for name, part in problem.data.items()}
