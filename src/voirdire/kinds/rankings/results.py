"""Table of judges of a fit of rankings, single and held-out rankings, and predictions.

The probability of held-out rankings (see :mod:`voirdire.kinds.answers`) is the mean over draws. At the mode, tastes and
contexts without rankings would be zero, as if they had no effect.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.infer.latent_gaussian.mode import LatentMode, draw_about_mode
from voirdire.infer.mode import find_mode
from voirdire.infer.outcomes import Outcome
from voirdire.infer.posterior import MAX_DRAWS, Posterior
from voirdire.kinds import target_predictions
from voirdire.kinds.answers import Answers, PredictionScores
from voirdire.kinds.columns import Columns, with_intervals
from voirdire.kinds.criteria_votes import CRITERIA_DATA, criteria_vote_answers
from voirdire.kinds.further_terms import FAMILY
from voirdire.kinds.rankings.problem import RankingsProblem, encode_rankings, order_rankings, ranking_cells
from voirdire.kinds.target_predictions import predictive_draws
from voirdire.model.family.ranking import draw_orders as drawn_order
from voirdire.model.specs import Model
from voirdire.model.terms.arrays import Array, logistic_sigmoid
from voirdire.model.terms.term import Values
from voirdire.tables.problems import Problems
from voirdire.tables.rankings import Rankings, read_rankings
from voirdire.tables.read import columns_among
from voirdire.typing import Bools, Floats, Ints


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


PREDICTION_DRAWS = 100


def score_held_out(model: Model, table: Rankings, held_out: Bools) -> PredictionScores:
    """Compute log probabilities of held-out rankings, and 1 where a ranking was the most probable one, else 0.

    The probability is among all rankings of the same items with the same numbers of tied items at each place.

    Parameters
    ----------
    held_out : bool array, shape (rankings,)
        True for the rankings that the fit does not see.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.rankings import read_rankings
    >>> rows = {"judge": ["a", "a", "b", "b"], "item": ["x", "y"] * 2, "rank": [1, 2] * 2}
    >>> log, right = score_held_out(
    ...     load_model("plackett-luce"), read_rankings(pd.DataFrame(rows)), np.array([True, False])
    ... )
    >>> bool((log > np.log(0.5)).all()), right.tolist()
    (True, [1.0])
    """
    problem = encode_rankings(model, table)
    mode = find_mode(_hide_rankings(problem, held_out))
    assert isinstance(mode, LatentMode)  # true for all models of rankings
    draws = draw_about_mode(mode, np.random.default_rng(0), PREDICTION_DRAWS)
    eta = problem.item_predictors(problem.density.values(draws, np), problem.cells())[..., held_out]
    group = problem.order.group[:, held_out]
    parts = problem.density.family.log_parts(np.where(group >= 0, eta, 0.0), group, np)
    logs = sum(part * weight for part, weight in parts)
    log = np.logaddexp.reduce(logs, axis=0) - np.log(len(draws))
    return log, _order_matches_strengths(eta.mean(axis=0), group)


def _hide_rankings(problem: RankingsProblem, hidden: Bools) -> RankingsProblem:
    """Remove the information of some rankings by tying all of their items."""
    group = np.where(hidden & (problem.order.group >= 0), 0, problem.order.group)
    data = problem.data | {"panel": problem.data["panel"] | {"answers": group}}
    return replace(problem, data=data)


def _order_matches_strengths(strengths: Floats, group: Ints) -> Floats:
    """Compute 1 where no item is ranked below an item of lower strength, else 0, shape (rankings,)."""
    is_behind = group[:, None] > group[None]
    is_better = strengths[:, None] > strengths[None]
    both_ranked = (group >= 0)[:, None] & (group >= 0)[None]
    return np.asarray(~(is_behind & is_better & both_ranked).any(axis=(0, 1)), dtype=float)


def ranking_answers(problem: RankingsProblem) -> list[Answers]:
    """Collect every ranking, people's last: place of each item, -1 if it is not ranked, shape (rankings, items)."""
    density, table = problem.density, problem.table
    groups = np.asarray(problem.data["panel"]["answers"])
    count = groups.shape[1]

    def log_probability(values: Values) -> Floats:
        parts = density.ranking_parts(values, problem.data, np)
        return np.asarray(sum(np.where(weight > 0, log, 0.0) * weight for log, weight in parts))

    panel_judge = problem.order.by_ranking(table.judge)
    judge = np.append(np.array(problem.judges)[panel_judge], ["people"] * (count - len(panel_judge)))
    rank = np.full((count, len(problem.items)), -1)
    item = problem.order.by_place(table.item)
    for position in range(len(item)):
        rankings = np.flatnonzero(item[position] >= 0)
        rank[rankings, item[position, rankings]] = groups[position, rankings]
    answers = [Answers("rankings", log_probability, np.arange(count), rank, {"judge": judge}, 50 * groups.size)]
    if density.voted:
        answers.append(criteria_vote_answers(problem, problem.data[CRITERIA_DATA]["weight"]))
    return answers


def judge_table(problem: RankingsProblem, posterior: Posterior, prob: float) -> Columns:
    """Table of judges: number of rankings, and quantities of the model with intervals.

    ``p_right`` is the probability that the judge ranks the better of two items above the worse, the mean over all pairs
    of items and over criteria. ``reliability`` is the same, but missing if all judges are alike in the model, without
    tastes, effects of families, and an error of the panel. Both are missing for judges that only voted on criteria.
    """
    columns: Columns = {"judge": np.array(problem.judges, dtype=object), "votes": problem.judge_votes}
    quantities = with_intervals(posterior, lambda values: judge_values(problem, values), prob, len(problem.judges))
    ranked = problem.judge_votes > 0
    return columns | {name: np.where(ranked, column, np.nan) for name, column in quantities.items()}


def judge_values(problem: RankingsProblem, values: Values) -> dict[str, Floats]:
    """Compute the values of :func:`judge_table`, shape (..., judges)."""
    strength = values["strength"]
    taste, error = values.get("taste"), values.get("panel_error")
    judge_effects = [] if taste is None else [taste]
    for term in problem.added.terms:
        if {*term.factors} == {FAMILY, "item"} and term.covariate is None:
            family = problem.family_of_judges
            shared = np.moveaxis(values[term.name], term.factors.index(FAMILY) - 2, -2)
            judge_effects.append(np.where((family >= 0)[:, None], shared[..., np.maximum(family, 0), :], 0.0))
    panel_strength = strength if error is None else strength + error[..., 0, :, :]
    p_right = np.zeros((*strength.shape[:-2], problem.density.judges))
    pairs = max(problem.density.items - 1, 1) * problem.density.criteria * problem.density.items / 2
    for item in range(1, problem.density.items):
        gap = strength[..., item, None] - strength[..., :item]  # (..., criteria, others)
        perceived = (panel_strength[..., item, None] - panel_strength[..., :item])[..., None, :, :]
        for effect in judge_effects:
            perceived = perceived + (effect[..., item, None] - effect[..., :item])[..., :, None, :]
        p_right = p_right + logistic_sigmoid(np.sign(gap)[..., None, :, :] * perceived, np).sum(axis=(-1, -2)) / max(
            pairs, 1.0
        )
    if problem.density.items < 2:
        p_right = p_right + np.nan
    equal_judges = not judge_effects and error is None
    return {"reliability": np.full_like(p_right, np.nan) if equal_judges else p_right, "p_right": p_right}
