"""Table of judges of a fit of rankings, single rankings, and held-out rankings.

The probability of held-out rankings (see :mod:`voirdire.kinds.answers`) is the mean over draws. At the mode, tastes and
contexts without rankings would be zero, as if they had no effect.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.infer.latent_gaussian.mode import LatentMode, draw_about_mode
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.answers import Answers, PredictionScores
from voirdire.kinds.columns import Columns, with_intervals
from voirdire.kinds.criteria_votes import CRITERIA_DATA, criteria_vote_answers
from voirdire.kinds.further_terms import FAMILY
from voirdire.kinds.rankings.problem import RankingsProblem, encode_rankings
from voirdire.model.specs import Model
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.reliability import Values
from voirdire.tables.rankings import Rankings
from voirdire.typing import Bools, Floats, Ints

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
