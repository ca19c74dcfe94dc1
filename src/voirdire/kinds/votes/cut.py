"""Cut posterior: judges' coins given the anchors alone, then strengths given coins and votes.

In the joint posterior a confident wrong majority can outvote a few anchors: the judges then look reliable, and the
anchors look like errors of the person. The cut posterior (Plummer 2015, Statistics and Computing 25) excludes this
feedback:

    p_cut(coins, rest) = p(coins | anchors) p(rest | coins, votes, anchors).

Coins are drawn exactly from the first factor (:mod:`.votes.candidates`). Given each draw of the coins, the rest
(strengths, weights, ties) is drawn from the Laplace approximation of the second factor. The draws thus include the
uncertainty about the judges. The coin of people is fixed at its prior mean.

Predictions of comparisons that people answered, at the joint and at the cut mode, without these answers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit

from voirdire.infer.infer import draws_given_fixed, insert_fixed_values
from voirdire.infer.mode import find_modes
from voirdire.infer.posterior import Mode, integrated_scores
from voirdire.kinds.human import anchor_folds, fix_parameters
from voirdire.kinds.votes.candidates import Evidence, coin_means, learn_judge_coins
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.density import Data
from voirdire.model.specs import Model
from voirdire.model.terms import ANCHORS
from voirdire.tables.graph import pair_keys
from voirdire.typing import Floats, Ints

# kinds of reliability that anchors alone can teach
CUT_KINDS = ("one-coin", "two-coin", "pooled-one-coin", "pooled-two-coin")
COIN_DRAWS = 24
MIN_LOG_ODDS = 0.05  # smallest mean and smallest spread of fixed coins, in log-odds


def learns_from_anchors(model: Model) -> bool:
    """True if anchors alone can teach the judges of a model: it has coins, and no contexts."""
    return model.reliability.kind in CUT_KINDS and model.context is None


def cut_draws(
    problem: VotesProblem, evidence: Evidence, count: int, rng: np.random.Generator
) -> tuple[Floats, list[Mode]]:
    """Draw from the cut posterior, shape (count, size); also return the mode given each draw of the coins."""
    coins = _coin_draws(evidence, min(COIN_DRAWS, count), rng)
    tables = [fix_coins(problem, *pair) for pair in zip(*coins, strict=True)]
    starts = None
    if problem.density.uses_marginal_likelihood:
        starts = [cut_mode(problem, *coin_means(evidence)).x] * len(tables)
    modes = find_modes(problem.density, tables, starts=starts)
    return draws_given_fixed(problem, tables, modes, count, rng), modes


def cut_mode(
    problem: VotesProblem, first: Floats, second: Floats, data: Data | None = None, start: Floats | None = None
) -> Mode:
    """Find the mode of the rest given coins.

    Parameters
    ----------
    problem : VotesProblem
    first, second : array, shape (judges,)
        Coins of the judges.
    data : Data, optional
        Tables to use in place of the problem's.
    start : array, shape (size,), optional
        Start of the search.
    """
    table = (problem.data if data is None else data) | {"pinned": fix_coins(problem, first, second)["pinned"]}
    mode = find_modes(problem.density, [table], starts=None if start is None else [start])[0]
    return replace(mode, x=insert_fixed_values(mode.x, table))


def fix_coins(problem: VotesProblem, first: Floats, second: Floats) -> Data:
    """Add fixed coins of judges and people to the problem's tables.

    A learned population of coins is fixed at the mean and the standard deviation of their log-odds: given the coins,
    nothing else depends on it.
    """
    odds = np.log(first) - np.log1p(-first), np.log(second) - np.log1p(-second)
    log_odds = np.stack(odds)
    values = {"reliability": 0.5 * (odds[0] + odds[1]), "coin_first": odds[0], "coin_second": odds[1]}
    values["log_coin_mean"] = np.log(max(float(log_odds.mean()), MIN_LOG_ODDS))
    values["log_coin_spread"] = np.log(max(float(log_odds.std()), MIN_LOG_ODDS))
    if (anchors := problem.model.anchors) is not None:
        values["anchor"] = np.array(ANCHORS[anchors.kind].expected(anchors.numbers))
    return fix_parameters(problem.density, problem.data, values)


def _coin_draws(evidence: Evidence, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    edge = 1e-6  # the log-odds of a coin must be finite
    first, second = learn_judge_coins(evidence)
    first_draws = np.clip(first.draws(count, rng), edge, 1 - edge)
    return first_draws, first_draws if second is first else np.clip(second.draws(count, rng), edge, 1 - edge)


def people_preference_probability(
    problem: VotesProblem, values: dict[str, Floats], evidence: Evidence, rows: Ints | None = None
) -> Floats:
    """Mean over draws of the probability that people prefer the one item, shape (comparisons,); values by draw."""
    comparisons = evidence.comparisons
    selected = np.arange(len(comparisons.keys)) if rows is None else rows
    first, second = comparisons.item_a[selected], comparisons.item_b[selected]
    if problem.anchors is not None and problem.anchors.overall:
        strength = integrated_scores(problem.density, values)
        d = strength[..., first] - strength[..., second]
    else:
        strength, criterion = values["strength"], comparisons.criterion[selected]
        criterion = criterion if problem.model.criteria == "separate" else criterion * 0
        d = strength[..., criterion, first] - strength[..., criterion, second]
    coin = expit(values["anchor"])[..., None]
    return np.asarray((coin * expit(d) + (1.0 - coin) * expit(-d)).mean(axis=0))


def joint_left_out_predictions(problem: VotesProblem, evidence: Evidence, joint: Floats) -> Floats:
    """Predict each fold of anchors at the joint mode without it; searches of spreads begin at ``joint``."""
    folds = anchor_folds(len(evidence.rows))
    starts = [joint] * len(folds) if problem.density.uses_marginal_likelihood else None
    modes = find_modes(problem.density, [_hide_fold(problem, evidence, fold) for fold in folds], starts=starts)
    return _predict_folds(problem, evidence, folds, [mode.x for mode in modes])


def cut_left_out_predictions(problem: VotesProblem, evidence: Evidence) -> Floats:
    """Predict each fold of anchors without it, at the mode given the means of the coins."""
    folds = anchor_folds(len(evidence.rows))
    start = cut_mode(problem, *coin_means(evidence)).x if problem.density.uses_marginal_likelihood else None
    modes = []
    for fold in folds:
        remaining = evidence
        for index in sorted(fold, reverse=True):
            remaining = remaining.without(int(index))
        modes.append(cut_mode(problem, *coin_means(remaining), _hide_fold(problem, evidence, fold), start).x)
    return _predict_folds(problem, evidence, folds, modes)


def without_panel_votes(problem: VotesProblem) -> Data:
    """Set the weights of the judges' votes on items, ties included, to 0 in the problem's tables."""
    part = problem.data["votes"]
    silent = {name: part[name] * 0.0 for name in ("weight", "tied", "decided") if name in part}
    return problem.data | {"votes": part | silent}


def _predict_folds(problem: VotesProblem, evidence: Evidence, parts: list[Ints], modes: list[Floats]) -> Floats:
    """Predict by the order of items: people's coin is taken as above chance, also where a mode has it below."""
    p = np.empty(len(evidence.rows))
    for fold, x in zip(parts, modes, strict=True):
        values = problem.density.values(x[None], np)
        values["anchor"] = np.abs(values["anchor"])
        p[fold] = people_preference_probability(problem, values, evidence, evidence.rows[fold])
    return p


def _hide_fold(problem: VotesProblem, evidence: Evidence, fold: Ints) -> Data:
    """Set the counts of the anchors of a fold to 0 in the problem's tables."""
    assert problem.anchors is not None
    people = problem.anchors.votes
    keys = pair_keys(people, criteria=people.has_criteria and problem.votes.has_criteria)
    hidden = np.isin(keys, evidence.comparisons.keys[evidence.rows[fold]])
    part = problem.data["anchors"]
    return problem.data | {"anchors": part | {"counts": part["counts"] * ~hidden[:, None]}}
