"""Probabilities of scores of an item by a judge, and predicted scores."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import MAX_DRAWS, Posterior
from voirdire.kinds import target_predictions
from voirdire.kinds.answers import Claims
from voirdire.kinds.columns import Columns
from voirdire.kinds.scores import continuous, ordinal
from voirdire.kinds.scores.baseline import single_scores_message
from voirdire.kinds.scores.layout import perceived_strengths
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.target_predictions import predictive_draws
from voirdire.model.terms.arrays import log_normal_cdf
from voirdire.model.terms.raters import judge_discriminations, log_noise
from voirdire.model.terms.score_probabilities import (
    HALF_RANGE,
    level_log_probabilities,
    normal_quadrature,
    score_log_density,
)
from voirdire.model.terms.term import Values
from voirdire.tables.problems import Problems
from voirdire.tables.scores import read_scores
from voirdire.typing import Floats, Ints


def score_probabilities(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Probability of every level of each score under one set of values, shape (rows, levels).

    On a continuous scale, the probabilities of its low and its high end.

    Parameters
    ----------
    rows : tuple of int array
        Judge, criterion and item of each row, in the problem's coding, then the other codes of
        :attr:`.ScoresLayout.code_names`: -1, or no array, for a new context or level, and for mean covariates.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    form = problem.form
    if form is continuous:
        return ends_and_mean(problem, values, rows)[:, :2]
    if form is not ordinal:
        raise InputError(f"model {problem.model.name} gives no probability of single scores; leave it out")
    perceived, cuts, weight = _perceptions_and_cutpoints(problem, values, rows)
    p = np.exp(np.stack(level_log_probabilities(perceived, cuts, problem.density.levels, np), axis=-1))
    marginal: Floats = np.einsum("rel,e->rl", p, weight)
    return marginal


def expected_scores(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Expected score of each row under one set of values, shape (rows,)."""
    if problem.form is continuous:
        return problem.scale.from_parts(ends_and_mean(problem, values, rows)[:, 2])
    return np.asarray(score_probabilities(problem, values, rows) @ np.array(problem.scale.levels))


def exceedance_probabilities(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> tuple[Floats, Floats]:
    """Probability of a score above each level but the highest, given unknown effects at the nodes of a quadrature rule.

    Unknown effects are those of the judge on the item and, in rows without a context, those of the context.

    Returns
    -------
    above : array, shape (rows, effects, levels - 1)
    weight : array, shape (effects,)
        Weight of each node; one node without unknown effects.
    """
    perceived, cuts, weight = _perceptions_and_cutpoints(problem, values, rows)
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(cuts - perceived[..., None])), weight


def _perceptions_and_cutpoints(
    problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]
) -> tuple[Floats, Floats, Floats]:
    """Perceptions of judges, shape (rows, effects), cutpoints, (rows, 1, levels - 1), and weights, (effects,)."""
    density = problem.density
    codes = density.about_rows(rows)
    perceived = perceived_strengths(density, values, problem.data["panel"], codes)[:, None]
    variance, weight = _unknown_effect_variance(problem, values, codes), np.ones(1)
    if variance.any():
        z, log_weight = normal_quadrature()
        weight = np.exp(log_weight)
        perceived = perceived + np.sqrt(variance)[:, None] * z
    cutpoints = ordinal.answer_cutpoints(density, values, codes, np)
    return perceived, cutpoints[:, None, :], weight


def check_answer_probabilities(problem: ScoresProblem) -> None:
    """Refuse models that take scores as numbers.

    Raises
    ------
    InputError
    """
    if problem.form is not ordinal:
        raise InputError(f"model {problem.model.name} gives no probability of single scores: nothing to draw")


def ends_and_mean(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Probabilities of the low and the high end, and the mean of each score, shape (scores, 3).

    For y = mu + s e, e ~ Normal(0, 1), censored at -1/2 and 1/2, with a = (-1/2 - mu) / s and b = (1/2 - mu) / s, these
    are Phi(a), 1 - Phi(b), and mu (Phi(b) - Phi(a)) - s (phi(b) - phi(a)) + (1 - Phi(b) - Phi(a)) / 2 (Tobin 1958). The
    noise s includes contexts in rows without a context.
    """
    mu, spread = predicted_moments(problem, values, rows)
    a, b = (-HALF_RANGE - mu) / spread, (HALF_RANGE - mu) / spread
    low, high = np.exp(log_normal_cdf(a, np)), np.exp(log_normal_cdf(-b, np))
    slope = np.exp(-0.5 * b * b) - np.exp(-0.5 * a * a)
    mean = mu * (1.0 - low - high) - spread * slope / np.sqrt(2.0 * np.pi) + HALF_RANGE * (high - low)
    return np.stack([low, high, mean], axis=1)


def predicted_moments(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each uncensored score, in parts of the scale, shape (rows,) each.

    In rows without a context, if the model has contexts, the standard deviation includes contexts.

    Parameters
    ----------
    rows : tuple of int array
        As in :func:`.scores.response_probabilities.score_probabilities`.
    """
    density = problem.density
    codes = density.about_rows(rows)
    mu = perceived_strengths(density, values, problem.data["panel"], codes)
    log = np.broadcast_to(log_noise(values), (density.judges, density.criteria))
    variance = np.exp(2.0 * log[codes["judge"], codes["criterion"]])
    return mu, np.sqrt(variance + _unknown_effect_variance(problem, values, codes))


def _unknown_effect_variance(problem: ScoresProblem, values: Values, codes: dict[str, Ints]) -> Floats:
    """Variance of the unknown effects on each score: of a context that is not named, and of judge and item.

    The effect of judge and item is unknown without a context, and in all rows where it is integrated out.
    """
    density, no_context = problem.density, codes["context"] < 0
    variance = np.zeros(len(no_context))
    if "log_judge_item" in values:
        own_variance = np.exp(2.0 * values["log_judge_item"])[codes["judge"]]
        variance += own_variance * (("judge_item_effect" not in values) | (no_context & (density.contexts > 0)))
    if "log_context_spread" in values:
        variance += np.where(no_context, np.exp(2.0 * values["log_context_spread"]), 0.0)
    slope = None if density.integrates_repeats else judge_discriminations(values, np)
    return variance if slope is None else slope[codes["judge"]] ** 2 * variance


def log_score_density(problem: ScoresProblem, values: Values, score: Floats, rows: tuple[Ints, ...]) -> Floats:
    """Log density of each score, per point of the scale; at the ends the log probability of the end."""
    mu, spread = predicted_moments(problem, values, rows)
    number = problem.scale.to_parts(score)
    end = np.where(number <= -HALF_RANGE, -1, np.where(number >= HALF_RANGE, 1, 0))
    log: Floats = score_log_density(number, end, mu, np.log(spread), np)
    return np.where(end == 0, log - np.log(problem.scale.range), log)


def expected_uncensored_scores(problem: ScoresProblem, values: Values, score: Floats, rows: tuple[Ints, ...]) -> Floats:
    """Scores in parts of the scale from its middle; at an end the expectation of the uncensored score.

    With a and b as in :func:`ends_and_mean`, mu + s phi(b) / (1 - Phi(b)) at the high end and mu - s phi(a) / Phi(a) at
    the low end.
    """
    mu, spread = predicted_moments(problem, values, rows)
    number = problem.scale.to_parts(score)
    end = np.where(number <= -HALF_RANGE, -1.0, np.where(number >= HALF_RANGE, 1.0, 0.0))
    inward = (HALF_RANGE - end * mu) / spread
    hazard = np.exp(-0.5 * inward * inward - 0.5 * np.log(2.0 * np.pi) - log_normal_cdf(-inward, np))
    return np.where(end == 0, number, mu + end * spread * hazard)


def predict_scores(problem: ScoresProblem, posterior: Posterior, table: object) -> Columns:
    """Predict each score of a table: the posterior mean probability of every level, and the expected score.

    On a continuous scale the levels are its two ends, with the probability of a score at each end.

    Parameters
    ----------
    table : path, dataframe or Scores
        Judges, items and criteria of the fit; ``score`` is not needed. In models with contexts, rows without a context,
        or with an unknown one, are predicted for a new context like those of the fit.

    Returns
    -------
    dict of array, shape (rows,)
        judge, criterion, item, context (where the table has it), p_<level> for each level, expected.

    Raises
    ------
    InputError
        An unknown item, judge or criterion, or a baseline, which has no model of single scores.
    """
    problems, scores = Problems("scores"), read_scores(table, answered=False)
    form = problem.form
    if form not in (ordinal, continuous):
        problems.stop(single_scores_message(problem.model.name))
    codes, columns = target_predictions.fit_codes(problem, scores, ("judge", "criterion", "item"), problems)
    problems.raise_any()
    columns |= target_predictions.context_column(scores.contexts, scores.context)
    row_codes = dict(codes)
    if problem.density.contexts and scores.context is not None:
        known = target_predictions.known_contexts(scores.contexts, problem.table.contexts)
        row_codes["context"] = known[scores.context]
    table_codes = {name: getattr(problem.table, name) for name in row_codes}
    draws = predictive_draws(posterior, _with_families(problem, table_codes), _with_families(problem, row_codes))
    rows = tuple(row_codes.values())
    if form is continuous:
        moments = np.mean([ends_and_mean(problem, values, rows) for values in draws], axis=0)
        probability, expected = moments[:, :2], problem.scale.from_parts(moments[:, 2])
    else:
        probability = np.mean([score_probabilities(problem, values, rows) for values in draws], axis=0)
        expected = probability @ np.array(problem.scale.levels)
    columns |= {f"p_{name}": probability[:, level] for level, name in enumerate(problem.scale.names)}
    return columns | {"expected": expected}


def _with_families(problem: ScoresProblem, codes: dict[str, Ints]) -> dict[str, Ints]:
    """Codes with the family of each judge, if families share errors."""
    families = problem.density.families
    return codes | ({"family": np.array(families)[codes["judge"]]} if families else {})


JUDGE_SPECIFIC_TERMS = ("taste", "family_item", "judge_item_effect")  # effects of single judges and families on items


def item_score_questions(problem: ScoresProblem, table: object) -> target_predictions.ItemQuestions:
    """Expected scores of the items of a table: the mean over all judges of the panel, without their tastes.

    Parameters
    ----------
    problem : ScoresProblem
    table : path, dataframe or Scores
        Column item (or context and system), and criterion if the fit has several; ``judge`` and ``score`` are ignored.

    Returns
    -------
    ItemQuestions
        Questions with predictions ``expected``, on the scale of the scores.

    Raises
    ------
    InputError
        An item or criterion is unknown, contexts are given to a fit with contexts, the criterion is missing, or the
        model is a baseline.
    """
    form = problem.form
    if form not in (ordinal, continuous):
        raise InputError(single_scores_message(problem.model.name))
    scores = read_scores(table, judge="people", answered=False)
    item, criterion, columns = target_predictions.item_codes(problem, scores)
    target_predictions.refuse_contexts(bool(problem.density.contexts), scores.context is not None)
    if (criterion < 0).any():
        if len(problem.criteria) > 1:
            raise InputError(
                "scores: the fit has several criteria, each with a scale of its own; give a column 'criterion' "
                "(ranking() has scores over all criteria)"
            )
        criterion = item * 0
    cells, row = np.unique(np.stack([criterion, item]), axis=1, return_inverse=True)
    judges = len(problem.judges)
    judge = np.tile(np.arange(judges), cells.shape[1])
    rows = (judge, *np.repeat(cells, judges, axis=1))

    def predict_answers(values: Values, strengths: Floats) -> target_predictions.Predicted:
        shared = {name: value for name, value in values.items() if name not in JUDGE_SPECIFIC_TERMS}
        draws = [
            {name: value[n] for name, value in shared.items()} | {"strength": strengths[n, :-1]}
            for n in range(len(strengths))
        ]
        expected = np.stack([expected_scores(problem, draw, rows) for draw in draws])
        return {"expected": expected.reshape(len(expected), -1, judges).mean(axis=2)[:, row.ravel()]}

    return target_predictions.ItemQuestions(columns, tuple(np.unique(criterion)), predict_answers, MAX_DRAWS)


def claimed_scores(problem: ScoresProblem, posterior: Posterior) -> Claims:
    """Score of every item under each criterion: the mean expected score of its judges, or the baseline's score.

    The confidence is 1 / (1 + r), with r the root mean square deviation of the item's scores from that score.
    """
    table = problem.table
    width = len(table.items)
    units, unit = np.unique(table.criterion * width + table.item, return_inverse=True)
    count = np.bincount(unit)
    if problem.model.pool == "none":
        answer = np.bincount(unit, predict_scores(problem, posterior, table)["expected"]) / count
    else:
        origin, unit_size = problem.unit
        answer = origin + unit_size * posterior.central_values["strength"].ravel()[units]
    rms_deviation = np.sqrt(np.bincount(unit, (table.score - answer[unit]) ** 2) / count)
    columns = {"criterion": np.array(table.criteria)[units // width], "item": np.array(table.items)[units % width]}
    answered = np.zeros(len(units), dtype=bool)
    if problem.anchors is not None:
        people = problem.anchors.table
        answered = np.isin(units, people.criterion * width + people.item)
    return Claims(columns, answer, 1.0 / (1.0 + rms_deviation), answered)
