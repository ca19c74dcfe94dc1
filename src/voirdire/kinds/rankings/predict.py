"""Predicted rankings, and simulated rankings with the same numbers of tied items at each place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.infer.outcomes import Outcome
from voirdire.infer.posterior import MAX_DRAWS, Posterior
from voirdire.kinds import target_predictions
from voirdire.kinds.columns import Columns
from voirdire.kinds.further_terms import FAMILY
from voirdire.kinds.rankings.problem import RankingsProblem, order_rankings, ranking_cells
from voirdire.kinds.unseen import predictive_draws
from voirdire.model.family.ranking import draw_orders as drawn_order
from voirdire.model.terms.arrays import Array, logistic_sigmoid
from voirdire.model.terms.reliability import Values
from voirdire.tables.problems import Problems
from voirdire.tables.rankings import Rankings, read_rankings
from voirdire.tables.read import columns_among
from voirdire.typing import Floats


def ranking_outcomes(problem: RankingsProblem) -> list[Outcome]:
    """Make the outcomes: item at each place of a ranking, numbered by its observed place.

    Observed rankings are 0, 1, 2, ..., shape (places, rankings), people's rankings last; see
    :mod:`voirdire.infer.outcomes`.
    """
    density, data = problem.density, problem.data
    groups = np.asarray(data["panel"]["answers"])
    places, rankings = groups.shape
    observed = np.tile(np.arange(places)[:, None], (1, rankings))
    column = np.arange(rankings)[None, :]

    def log_probability(value: Any, values: Values, xp: Any) -> Array:
        eta = density.predictors(values, data, xp)[value, column]
        parts = density.family.log_parts(eta, groups, xp)
        return sum(log * weight for log, weight in parts)

    def draw_places(values: Values, rng: np.random.Generator) -> npt.NDArray[Any]:
        eta = np.asarray(density.predictors(values, data, np))
        return drawn_order(np.where(groups >= 0, eta, -np.inf), rng)

    return [Outcome("rankings", observed, log_probability, draw_places)]


def predict_rankings(problem: RankingsProblem, posterior: Posterior, table: object) -> Columns:
    """Predict each ranking of a table: probability of the first place, and expected rank, of each item.

    For an item i among others j, with w = exp(eta) (:mod:`.rankings.density`), these are the posterior means of
    w_i / sum w and of 1 + sum_j w_j / (w_i + w_j).

    Parameters
    ----------
    table : path, dataframe or Rankings
        Judges, items and criteria that the fit knows; ``rank`` is not needed. If the model has contexts, rankings
        without a known context are predicted for a new context like the known ones.

    Returns
    -------
    dict of array, shape (rows,)
        judge, criterion, item, context (where the table has it), p_first, expected_rank.

    Raises
    ------
    InputError
        An item, judge or criterion that the fit does not know.
    """
    problems, rankings = Problems("rankings"), read_rankings(table, answered=False)
    codes, columns = target_predictions.fit_codes(problem, rankings, ["judge", "criterion", "item"], problems)
    problems.raise_any()
    columns |= target_predictions.context_column(rankings.contexts, rankings.context)
    contexts = "context_strength" in posterior.central_values
    if contexts:
        codes["context"] = codes["judge"] * 0 - 1
        if rankings.context is not None:
            known = target_predictions.known_contexts(rankings.contexts, problem.table.contexts)
            codes["context"] = known[rankings.context]
    order, sides = order_rankings(rankings), problem.density.sides
    if len(order.row) > sides:
        problems.stop(
            f"rankings of {len(order.row)} items, but the longest that was fitted has {sides}; predict shorter ones"
        )
    order = order.padded(sides)
    cells = ranking_cells(replace(rankings, **codes), order)
    fitted_codes = {name: getattr(problem.table, name) for name in codes}
    if FAMILY in problem.added.levels:
        families = problem.family_of_judges
        cells = replace(cells, factors={**cells.factors, FAMILY: families[cells.factors["judge"]]})
        codes[FAMILY], fitted_codes[FAMILY] = families[codes["judge"]], families[fitted_codes["judge"]]
    first, rank = np.zeros((2, rankings.rows))
    is_ranked, draws = order.row >= 0, predictive_draws(posterior, fitted_codes, codes)
    unknown_context = np.flatnonzero(order.by_ranking(codes["context"]) < 0) if contexts else np.empty(0, np.int64)
    rng = np.random.default_rng(0)
    if len(draws) == 1 and len(unknown_context):
        draws *= MAX_DRAWS  # each draw has a new context
    for values in draws:
        eta = problem.item_predictors(values, cells)
        if len(unknown_context):
            eta[:, unknown_context] += np.exp(values["log_context_spread"]) * rng.standard_normal(
                (sides, len(unknown_context))
            )
        for total, value in zip((first, rank), _first_and_rank(eta), strict=True):
            total[order.row[is_ranked]] += value[is_ranked] / len(draws)
    return columns | {"p_first": first, "expected_rank": rank}


def _first_and_rank(eta: Floats) -> tuple[Floats, Floats]:
    """Probability of the first place, and expected rank, from predictors of places, shape (places, rankings)."""
    w = np.exp(eta - eta.max(axis=0))
    with np.errstate(invalid="ignore"):
        # probabilities that others are ranked above; 1 / 2 for the item itself
        p_beaten = logistic_sigmoid(eta[None] - eta[:, None], np)
    return w / w.sum(axis=0), 0.5 + np.where(np.isfinite(eta)[None], p_beaten, 0.0).sum(axis=1)


def draw_rankings(problem: RankingsProblem, values: Values, rng: np.random.Generator) -> Rankings:
    """Simulate the rankings of a problem under one set of values, with the same numbers of ties at each place."""
    cells, order = problem.cells(), problem.order
    new_order = drawn_order(problem.item_predictors(values, cells), rng)
    is_ranked = order.row >= 0
    rows = np.take_along_axis(order.row, new_order, axis=0)
    rank = np.array(problem.table.rank)
    rank[rows[is_ranked]] = rank[order.row[is_ranked]]
    return replace(problem.table, rank=rank)


def ranked_items(problem: RankingsProblem, table: object) -> target_predictions.ItemQuestions:
    """Make the questions of rankings: probability of the first place, and expected rank, of each item.

    As in :func:`.rankings.predict.predict_rankings`, but by scores of items instead of the judges' perception.

    Parameters
    ----------
    problem : RankingsProblem
    table : path, dataframe or Rankings
        Column item, and columns criterion, judge, run that define the rankings; ``rank`` is not needed.

    Returns
    -------
    ItemQuestions
        Quantities p_first and expected_rank.

    Raises
    ------
    InputError
        The fit does not know an item or criterion, or both the table and the model have contexts.
    """
    by_judge = isinstance(table, Rankings) or columns_among(table, ["judge"], Problems("rankings"))
    rankings = read_rankings(table, judge=None if by_judge else "people", answered=False)
    item, criterion, columns = target_predictions.item_codes(problem, rankings)
    target_predictions.refuse_contexts(problem.model.context is not None, rankings.context is not None)
    order = order_rankings(rankings)
    is_ranked = order.row >= 0

    def predict_answers(_: Values, strengths: Floats) -> target_predictions.Predicted:
        item_scores = strengths[:, criterion, item]
        first, rank = np.zeros((2, *item_scores.shape))
        for draw, scores in enumerate(item_scores):
            eta = np.where(is_ranked, scores[order.row], -np.inf)
            for of_draw, value in zip((first[draw], rank[draw]), _first_and_rank(eta), strict=True):
                of_draw[order.row[is_ranked]] = value[is_ranked]
        return {"p_first": first, "expected_rank": rank}

    return target_predictions.ItemQuestions(columns, tuple(np.unique(criterion)), predict_answers)
