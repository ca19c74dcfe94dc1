"""Tables of judges, shares of wins, calibration of votes, and scores with and without covariates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from voirdire.infer.posterior import Posterior, integrated_scores, thinned_draws
from voirdire.kinds.answers import Calibration, Shares
from voirdire.kinds.column_checks import effect_checks as checks_of_effects
from voirdire.kinds.columns import Columns, with_intervals
from voirdire.kinds.results import MEDIAN_GAP, level_columns, quantity_table, ranking_table, summarise_quantity
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.response_probabilities import cell_probabilities
from voirdire.model.design import Term
from voirdire.model.panel_density import sum_of_terms
from voirdire.model.problem import Check
from voirdire.model.terms import RELIABILITY, TIES
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.term import Observations, Values
from voirdire.model.terms.ties import log_tie_parts, tie_scale
from voirdire.tables.counts import Votes
from voirdire.tables.votes import VoteRows
from voirdire.typing import Floats


def adjusted_ranking(problem: VotesProblem, posterior: Posterior, prob: float) -> Columns:
    """As :func:`.results.ranking_table`; with covariates also ``unadjusted``, the score that includes their effects.

    It is the score plus the mean effect of the covariates over an item's answers.
    """
    ranking = ranking_table(problem, posterior, prob)
    if not problem.covariates:
        return ranking
    unadjusted = summarise_quantity(posterior, partial(unadjusted_scores, problem), prob).point
    code = {item: index for index, item in enumerate(problem.items)}
    return ranking | {"unadjusted": unadjusted[[code[item] for item in ranking["item"]]]}


def unadjusted_scores(problem: VotesProblem, values: Values) -> Floats:
    """Scores plus mean effects of covariates, sum zero, shape (..., items)."""
    effect = np.einsum("...ck,cki->...i", judge_slopes(problem, values), covariate_means(problem))
    return np.asarray(integrated_scores(problem.density, values) + effect - effect.mean(axis=-1, keepdims=True))


def judge_slopes(problem: VotesProblem, values: Values) -> Floats:
    """Slopes of every judge, shape (..., covariates, judges)."""
    slopes = []
    for c in range(len(problem.covariates)):
        terms = [term for term in problem.added.terms if term.covariate == c and set(term.factors) <= {"judge"}]
        parts = [values[term.name] if term.factors else values[term.name][..., None] for term in terms]
        slopes.append(sum(parts, np.zeros(len(problem.judges))))
    return np.stack(slopes, axis=-2)


def covariate_means(problem: VotesProblem) -> Floats:
    """Mean of covariates over an item's votes by each judge, times the judge's share: (covariates, judges, items)."""
    votes, sides = problem.coded_votes, pair_covariates(problem)
    total = votes.counts.sum(axis=1).astype(float)
    judges, items = len(problem.judges), len(problem.items)
    item = np.concatenate([votes.first, votes.second])
    cell = np.tile(votes.judge, 2) * items + item
    weight = np.tile(total, 2)
    z = sides.transpose(2, 1, 0).reshape(sides.shape[-1], -1)
    means = np.stack([np.bincount(cell, weight * row, judges * items) for row in z]).reshape(-1, judges, items)
    return np.asarray(means / np.maximum(np.bincount(item, weight, items), 1.0))


def effect_checks(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """Make :func:`.effect_checks.effect_checks` for votes alone."""
    if not problem.covariates:
        return []
    return checks_of_effects(
        problem, posterior, [VoteRows(problem.coded_votes)], separating=separating_covariates(problem)
    )


def pair_covariates(problem: VotesProblem) -> Floats:
    """Covariates of both items of each cell, shape (cells, 2, covariates)."""
    votes = problem.votes
    assert isinstance(votes, ContextVotes)
    assert votes.numbers is not None  # there are covariates
    return votes.numbers[..., : len(problem.covariates)]


def separating_covariates(problem: VotesProblem) -> list[str]:
    """Names of covariates of which the larger (or the smaller) value wins every vote."""
    votes, sides = problem.votes, pair_covariates(problem)
    names = []
    for c, name in enumerate(problem.covariates):
        d = sides[:, 0, c] - sides[:, 1, c]
        larger_wins = votes.counts[:, 0][d > 0].sum() + votes.counts[:, 1][d < 0].sum()
        smaller_wins = votes.counts[:, 1][d > 0].sum() + votes.counts[:, 0][d < 0].sum()
        if not min(larger_wins, smaller_wins) and max(larger_wins, smaller_wins):
            names.append(name)
    return names


CALIBRATION_DRAWS = 200  # draws over which calibration averages


def win_shares(problem: VotesProblem, tables: Sequence[Votes]) -> Shares:
    """Compute the share of wins of each item, ties counting half, in tables of the problem's comparisons."""
    votes = problem.votes
    size, total = len(votes.items), votes.counts.sum(axis=1)
    shown = np.bincount(votes.first, total, size) + np.bincount(votes.second, total, size)
    won = np.zeros((len(tables), size))
    for row, table in zip(won, tables, strict=True):
        row += np.bincount(votes.first, table.counts[:, 0] + 0.5 * table.counts[:, 2], size)
        row += np.bincount(votes.second, table.counts[:, 1] + 0.5 * table.counts[:, 2], size)
    with np.errstate(invalid="ignore"):
        share: Floats = won / shown
    return Shares(list(votes.items), [], share)


def vote_calibration(problem: VotesProblem, posterior: Posterior) -> Calibration:
    """Count votes by the probability that the fit gives them, shape (2, cells).

    Every comparison counts twice, for the answer "first" and for the answer "second", each with its probability. The
    result therefore does not depend on the order of items.
    """
    draws = thinned_draws(posterior, CALIBRATION_DRAWS)
    probability = cell_probabilities(problem.model, problem.density, draws, problem.coded_votes).T[:2]
    counts = problem.votes.counts.T.astype(float)
    return Calibration(probability, counts[:2], np.broadcast_to(counts.sum(axis=0), probability.shape))


def judge_table(problem: VotesProblem, posterior: Posterior, prob: float) -> Columns:
    """Table of judges: votes, reliability and position bias with intervals, and behaviour on a typical pair.

    ``reliability`` and ``position_bias`` are (e1 + e2) / 2 and (e1 - e2) / 2 of the coins e1, e2; with effects of
    position by judge, of the coins that would answer a typical pair alike in both orders without such effects. For the
    discrimination family, which has no coins, they are the probability of being right on a typical pair and the rate of
    first picks minus a half. They are missing if the model does not estimate them. ``p_right``, ``first_rate`` and
    ``tie_rate`` are the behaviour on a typical pair under every model: two random items, whose strengths differ by
    0.954 times the standard deviation of the strengths, in both orders.
    """
    size = len(problem.judges)
    columns: Columns = {"judge": np.array(problem.judges, dtype=object), "votes": problem.judge_votes}
    return columns | with_intervals(posterior, lambda values: judge_values(problem, values), prob, size)


def judges_by_criterion(problem: VotesProblem, posterior: Posterior, prob: float) -> Columns:
    """Table of the reliability of every judge under every criterion, for the model that estimates it.

    Raises
    ------
    ValueError
        The model has one reliability per judge.
    """
    if "reliability_deviation" not in posterior.central_values:
        raise ValueError(f"model {problem.model.name} has one reliability per judge; use judges()")

    def criterion_reliability(values: Values) -> Floats:
        log_odds = values["reliability"][..., None] + values["reliability_deviation"]
        return np.asarray(logistic_sigmoid(log_odds, np))

    levels = level_columns(judge=problem.judges, criterion=problem.criteria)
    return quantity_table(posterior, criterion_reliability, prob, "reliability", levels)


def judge_values(problem: VotesProblem, values: Values) -> dict[str, Floats]:
    """Compute quantities of judges, shape (..., judges) each; NaN where the model does not have the quantity."""
    lead = values["strength"].shape[:-2]
    behaviour = _typical_pair_probabilities(problem, values)
    missing = np.full((*lead, problem.density.judges), np.nan)
    out = {"reliability": missing, "position_bias": missing}
    if any("judge" in term.factors for term in _position_terms(problem)):
        gain = np.tanh(0.5 * _typical_gap(values))  # 2 sigmoid(gap) - 1
        informedness = (2.0 * behaviour["p_right"] - 1.0) / np.maximum(gain, 1e-12)
        out = {"reliability": 0.5 + 0.5 * informedness, "position_bias": behaviour["first_rate"] - 0.5}
    elif "coin_first" in values:
        first = logistic_sigmoid(values["coin_first"], np)
        second = logistic_sigmoid(values["coin_second"], np)
        out = {"reliability": 0.5 * (first + second), "position_bias": 0.5 * (first - second)}
    elif "reliability" in values:
        out["reliability"] = logistic_sigmoid(values["reliability"], np)
    elif "log_discrimination" in values:
        out["reliability"] = behaviour["p_right"]
        if "shift" in values:
            out["position_bias"] = behaviour["first_rate"] - 0.5
        out["discrimination"] = np.exp(values["log_discrimination"])
    return out | behaviour


def _typical_pair_probabilities(problem: VotesProblem, values: Values) -> dict[str, Floats]:
    """Compute P(right), P(first) of decided votes and P(tie) of each judge on a typical pair, over both orders.

    With effects of position by context they are means over the contexts of the table.
    """
    density = problem.density
    strength = values["strength"]
    gap = _typical_gap(values)
    judge = np.arange(density.judges)
    shifts = _position_shifts(problem, values)
    reliability = RELIABILITY[density.model.reliability.kind]
    obs = Observations(judge, judge, judge * 0, judge * 0 + density.criteria, density.judges, density.criteria)
    with np.errstate(divide="ignore"):  # an outcome has probability 0 in extreme draws
        better_first, worse_first = (
            sum(np.exp(reliability.log_decided(values, d + shift, obs, np)) for shift in shifts) / len(shifts)
            for d in (gap, -gap)
        )
    tie = 0.0 * better_first
    if "tie" in values and density.model.ties is not None:
        propensity = TIES[density.model.ties.kind].log_tie_propensity(values, judge)
        for d in [side * gap + shift for shift in shifts for side in (1.0, -1.0)]:
            scaled = reliability.scaled_difference(values, d, judge, judge, np)
            parts = log_tie_parts(propensity, scaled, np, tie_scale(values, np))
            tie = tie + np.exp(parts[0]) / (2 * len(shifts))
    shape = (*strength.shape[:-2], density.judges)  # one value for all judges where they are alike
    behaviour = {
        "p_right": 0.5 * (better_first + 1.0 - worse_first),
        "first_rate": 0.5 * (better_first + worse_first),
        "tie_rate": tie,
    }
    return {name: np.broadcast_to(value, shape) for name, value in behaviour.items()}


def _typical_gap(values: Values) -> Floats:
    """Difference between two random items, shape (..., 1)."""
    strength = values["strength"]
    return np.asarray(MEDIAN_GAP * strength.reshape(*strength.shape[:-2], -1).std(axis=-1, keepdims=True))


def _position_terms(problem: VotesProblem) -> list[Term]:
    """List the effects of position by judge or context."""
    return [t for t in problem.density.added if not t.contrast and {*t.factors} <= {"judge", "context"}]


def _position_shifts(problem: VotesProblem, values: Values) -> list[Floats]:
    """Effects of position on each judge, in each context, shape (..., judges) each; a single one without contexts."""
    terms, judge = _position_terms(problem), np.arange(problem.density.judges)
    by_context = any("context" in term.factors for term in terms)
    codes = [judge * 0 + context for context in range(problem.density.sizes["context"])] if by_context else [judge * 0]
    return [
        np.zeros(len(judge)) + sum_of_terms(terms, values, {"judge": judge, "context": code}, None) for code in codes
    ]
