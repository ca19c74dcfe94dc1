"""Scores and labels as the fit expects them: replicated shares of each judge's answers, and calibration.

A replicated table has the judges and items of the table and is drawn from one draw of the posterior. Of scores, what a
judge feels of an item is eta plus standard logistic noise (where judges score an item repeatedly, eta has the term of
repeats, drawn anew for every judge and item), and the score is the level between whose cutpoints it falls. Of labels,
the class of every item is drawn from P(class | its labels), and every label from its judge's row of that class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.infer.posterior import some_draws
from voirdire.kinds.labels.influence import codes, labels_given, units, without
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.chances import chances
from voirdire.kinds.scores.density import form_of
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.cumulative import NODES
from voirdire.model.terms.reliability import Values
from voirdire.report.replicated import REPLICATES, binned

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

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
    problem = fit.problem
    scores: ScoresProblem | None = problem.part("scores")
    if scores is not None and form_of(scores.model) is ordinal:
        return scores
    if isinstance(problem, LabelsProblem) and problem.density.latent:
        return problem
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
    problem = rated_problem(fit)
    rng = np.random.default_rng(fit.seed)
    draws = some_draws(fit.posterior, REPLICATES)
    if isinstance(problem, LabelsProblem):
        given = codes(problem)
        column, names = _labels_together(problem, given)
        tables = _labels_drawn(problem, draws, rng)
    else:
        given = np.searchsorted(problem.scale.levels, problem.table.score)
        column, names = _levels_together(problem.scale.names)
        tables = _scores_drawn(problem, draws, rng)
    judge, size = problem.table.judge, len(problem.judges)
    n = np.bincount(judge, minlength=size)

    def shares(found: Ints) -> Floats:
        counts = np.bincount(judge * len(names) + column[found], minlength=size * len(names))
        return np.asarray(counts.reshape(size, len(names))[n > 0] / n[n > 0, None])

    kept = [problem.judges[k] for k in np.flatnonzero(n)]
    return Answers(kept, names, shares(given), np.stack([shares(found) for found in tables]))


def _levels_together(levels: Sequence[str]) -> tuple[Ints, list[str]]:
    """Column of each level, and the columns' names."""
    parts = np.array_split(np.arange(len(levels)), min(COLUMNS, len(levels)))
    names = [
        levels[part[0]] if len(part) == 1 else f"{levels[part[0]]}\u2013{levels[part[-1]]}" for part in parts
    ]
    return np.repeat(np.arange(len(parts)), [len(part) for part in parts]), names


def _labels_together(problem: LabelsProblem, given: Ints) -> tuple[Ints, list[str]]:
    size = len(problem.labels)
    if size <= COLUMNS:
        return np.arange(size), list(problem.labels)
    common = np.sort(np.argsort(-np.bincount(given, minlength=size), kind="stable")[: COLUMNS - 1])
    column = np.full(size, COLUMNS - 1)
    column[common] = np.arange(COLUMNS - 1)
    return column, [*(problem.labels[label] for label in common), OTHERS]


def _repeated(draws: list[Values]) -> list[Values]:
    """One set of values for each replicate: the centre each time where there are no draws."""
    return draws if len(draws) > 1 else draws * REPLICATES


def _scores_drawn(problem: ScoresProblem, draws: list[Values], rng: np.random.Generator) -> list[Ints]:
    table = problem.table
    judge, criterion, item = table.judge, table.criterion, table.item
    unit = (judge * len(table.criteria) + criterion) * len(table.items) + item
    units, place = np.unique(unit, return_inverse=True)
    found = []
    for values in _repeated(draws):
        felt = ordinal.perceived(problem.density, values, problem.judge_group, judge, criterion, item)
        if "log_judge_item" in values:
            felt = felt + np.exp(values["log_judge_item"])[judge] * rng.standard_normal(len(units))[place]
        cuts = ordinal.cutpoints(problem.density, values, np)
        own = cuts[judge if len(cuts) > 1 else judge * 0, criterion]
        found.append(((felt + rng.logistic(size=len(judge)))[:, None] > own).sum(axis=1))
    return found


def _labels_drawn(problem: LabelsProblem, draws: list[Values], rng: np.random.Generator) -> list[Ints]:
    judge, unit = problem.table.judge, units(problem)
    found = []
    for values in _repeated(draws):
        chance = _normal(problem.density.joint(values, problem.data, np))[problem.unit_row]
        of = _pick(chance, rng)
        rates = np.exp(problem.density.rates(values, np))
        found.append(_pick(rates[judge if len(rates) > 1 else judge * 0, of[unit]], rng))
    return found


def _pick(chance: Floats, rng: np.random.Generator) -> Ints:
    """One of the columns of each row, drawn by their probabilities."""
    ends = chance.cumsum(axis=1)
    return np.asarray((rng.random(len(chance))[:, None] * ends[:, -1:] > ends[:, :-1]).sum(axis=1))


def _normal(log: Floats) -> Floats:
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


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
    problem = rated_problem(fit)
    assert isinstance(problem, ScoresProblem)
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
    np.add.at(counts, (row, np.searchsorted(problem.scale.levels, table.score)), 1.0)
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
    problem = rated_problem(fit)
    assert isinstance(problem, LabelsProblem)
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
        total += np.einsum("pj,pjl->pl", _normal(others), np.exp(own))
    return pairs.counts, total / len(draws)
