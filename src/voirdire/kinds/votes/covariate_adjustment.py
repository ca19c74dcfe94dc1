"""Scores of votes with and without covariates, and covariates that decide every vote."""

from __future__ import annotations

from functools import partial

import numpy as np

from voirdire.infer.posterior import Posterior, integrated_scores
from voirdire.kinds.columns import Columns
from voirdire.kinds.effect_checks import effect_checks as checks_of_effects
from voirdire.kinds.results import ranking_table, summarise_quantity
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.problem import Check
from voirdire.model.terms.reliability import Values
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
