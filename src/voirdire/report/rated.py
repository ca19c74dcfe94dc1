"""Scores and labels as the fit expects them: replicated shares of each judge's answers, and calibration.

A replicated table has the judges and items of the table and is drawn (``draw`` of its kind) from one draw of the
posterior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import some_draws
from voirdire.kinds.labels.influence import labels_given, without
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.registry import kind_of
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.chances import chances
from voirdire.kinds.scores.density import form_of
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.cumulative import NODES
from voirdire.model.terms.reliability import Values
from voirdire.report.replicated import REPLICATES, binned
from voirdire.typing import Floats, Ints

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

DRAWS = 50  # that calibration of labels averages over
WORK = 20_000_000  # probabilities that calibration of scores computes, about
COLUMNS = 10  # answers told apart in the shares of a judge
OTHERS = "others"


@dataclass(frozen=True, eq=False)
class Answers:
    """Share of each answer among those of each judge who gave any.

    Attributes
    ----------
    judges, names : list of str
        Judges; levels of the scale (runs of neighbouring ones where there are more than ten) or labels (the nine most
        frequent and the others).
    observed : array, shape (judges, names)
    drawn : array, shape (replicates, judges, names)
        Of 200 replicated tables, one for each draw of the posterior.
    """

    judges: list[str]
    names: list[str]
    observed: Floats
    drawn: Floats


def rated_problem(fit: Fit) -> ScoresProblem | LabelsProblem:
    """The problem of a fit of scores or labels; the scores' of one of votes and scores.

    Raises
    ------
    InputError
        The model takes scores as numbers, or knows no classes: it gives no probability of single answers.
    """
    scores, labels = fit.problem.part("scores"), fit.problem.part("labels")
    if scores is not None and form_of(scores.model) is ordinal:
        return scores  # type: ignore[no-any-return]
    if labels is not None and labels.density.latent:
        return labels  # type: ignore[no-any-return]
    raise InputError(
        f"model {fit.model.name} gives no probability of single {fit.model.data}: nothing to draw"
    )


def answers(fit: Fit) -> Answers:
    """Shares of each judge's answers, observed and in replicated tables.

    Raises
    ------
    InputError
        As :func:`rated_problem`.
    """
    problem: Any = rated_problem(fit)
    kind, rng = kind_of(problem), np.random.default_rng(fit.seed)
    draws = some_draws(fit.posterior, REPLICATES)
    # the centre each time where there are no draws
    drawn = [kind.draw(problem, values, rng) for values in (draws if len(draws) > 1 else draws * REPLICATES)]
    given = problem.given(problem.table)
    column, names = (_neighbours if problem.ordered else _common)(problem.possible, given)
    judge, size = problem.table.judge, len(problem.judges)
    n = np.bincount(judge, minlength=size)

    def shares(found: Ints) -> Floats:
        counts = np.bincount(judge * len(names) + column[found], minlength=size * len(names))
        return np.asarray(counts.reshape(size, len(names))[n > 0] / n[n > 0, None])

    kept = [problem.judges[k] for k in np.flatnonzero(n)]
    return Answers(kept, names, shares(given), np.stack([shares(problem.given(table)) for table in drawn]))


def _neighbours(levels: Sequence[str], given: Ints) -> tuple[Ints, list[str]]:
    """Column of each level, and the columns' names."""
    parts = np.array_split(np.arange(len(levels)), min(COLUMNS, len(levels)))
    names = [
        levels[part[0]] if len(part) == 1 else f"{levels[part[0]]}\u2013{levels[part[-1]]}" for part in parts
    ]
    return np.repeat(np.arange(len(parts)), [len(part) for part in parts]), names


def _common(labels: Sequence[str], given: Ints) -> tuple[Ints, list[str]]:
    """Column of each label, the less common in one, and the columns' names."""
    size = len(labels)
    if size <= COLUMNS:
        return np.arange(size), list(labels)
    common = np.sort(np.argsort(-np.bincount(given, minlength=size), kind="stable")[: COLUMNS - 1])
    column = np.full(size, COLUMNS - 1)
    column[common] = np.arange(COLUMNS - 1)
    return column, [*(labels[label] for label in common), OTHERS]


def exceedance_bins(fit: Fit) -> dict[str, Floats]:
    """Scores in ten bins by the probability of exceeding a level that the other scores give, with the share that did.

    Every score counts once for each level but the highest: P(score > level | all other scores). What a fit says of the
    very scores that it has seen would lie off the diagonal wherever items have few; that is all that there is where it
    has no draws (``map``).

    Returns
    -------
    dict of array, shape (bins,)
        As :func:`.replicated.binned`.

    Raises
    ------
    InputError
        As :func:`rated_problem`.
    """
    rated_problem(fit)
    problem: ScoresProblem = fit.problem.part("scores")
    counts, chance = scores_left_out(problem, some_draws(fit.posterior, _affordable(problem)))
    total = counts.sum(axis=1, keepdims=True)
    above = 1.0 - chance.cumsum(axis=1)[:, :-1]
    hits = total - counts.cumsum(axis=1)[:, :-1]
    return binned(above.ravel(), hits.ravel(), np.broadcast_to(total, hits.shape).ravel())


def scores_left_out(problem: ScoresProblem, draws: list[Values]) -> tuple[Floats, Floats]:
    """How often each judge gave each level to an item under a criterion, and its probability by all other scores.

    With y what the judge scored there and p_s(.) under draw s, the draws are weighted by 1 / p_s(y), as if that had not
    been seen (Gelfand, Dey and Chang 1992); no weight is above the square root of their number times their mean
    (Ionides 2008, JCGS 17).

    Returns
    -------
    counts, chance : array, shape (triples of judge, criterion and item, levels)
    """
    table, part = problem.table, problem.data["scores"]
    names = ("judge", "criterion", "item")
    sizes = (len(problem.judges), len(problem.criteria), len(problem.items))
    cells, row = np.unique(
        np.ravel_multi_index([getattr(table, name) for name in names], sizes), return_inverse=True
    )
    place = np.searchsorted(cells, np.ravel_multi_index([part[name] for name in names], sizes))
    codes = np.unravel_index(cells, sizes)
    counts = np.zeros((len(cells), len(problem.scale.levels)))
    np.add.at(counts, (row, problem.given(table)), 1.0)
    log = np.empty((len(draws), len(cells)))
    for number, values in enumerate(draws):
        answer, weight = problem.density.log_parts(values, problem.data, np)[0]
        log[number] = np.bincount(place, answer * weight, len(cells))
    own = np.exp(log.min(axis=0) - log)  # the largest is 1
    own = np.minimum(own, own.mean(axis=0) * np.sqrt(len(draws)))
    own /= own.sum(axis=0)
    chance = np.zeros_like(counts)
    for share, values in zip(own, draws, strict=True):
        chance += share[:, None] * chances(problem, values, codes)
    return counts, chance


def _affordable(problem: ScoresProblem) -> int:
    """Draws, 100 to 1,000, that take seconds: repeated scores cost a rule of points each."""
    each = problem.table.rows * len(problem.scale.levels) * (NODES if problem.density.repeats else 1)
    return int(np.clip(WORK // each, 100, 1000))


def label_bins(fit: Fit) -> dict[str, Floats]:
    """Labels in ten bins by the probability that the other judges' labels of the item give them.

    Of judge k's labels of item i, with n_i,m,l the labels of the others,

        P(l) = sum_j P(j | the others' labels of i) rate_k,j,l,
        P(j | the others' labels of i) ~ share_j prod_(m not k),l' rate_m,j,l' ^ n_i,m,l',

    averaged over draws of shares and rates, which are those of the whole table. Every answer counts once for each label
    there is, so that the picture does not depend on which label one asks for.

    Returns
    -------
    dict of array, shape (bins,)
        As :func:`.replicated.binned`.

    Raises
    ------
    InputError
        As :func:`rated_problem`.
    """
    rated_problem(fit)
    problem: LabelsProblem = fit.problem.part("labels")
    counts, chance = labels_left_out(problem, some_draws(fit.posterior, DRAWS))
    weight = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    return binned(chance.ravel(), counts.ravel(), weight.ravel())


def labels_left_out(problem: LabelsProblem, draws: list[Values]) -> tuple[Floats, Floats]:
    """How often each judge gave each label to an item, and the labels' probability by the others' labels of the item.

    Returns
    -------
    counts, chance : array, shape (pairs of item and judge, labels)
    """
    pairs = labels_given(problem)
    total = np.zeros_like(pairs.counts)
    for values in draws:
        others, own = without(problem, values, pairs)
        total += np.einsum("pj,pjl->pl", np.exp(log_softmax(others, problem.classes, np)), np.exp(own))
    return pairs.counts, total / len(draws)
