"""The cut posterior of scores: judges' discriminations from the anchors alone, then strengths given discriminations.

In the joint posterior judges who agree with each other have high discriminations, even if people disagree with them.
The cut posterior (Plummer 2015, Statistics and Computing 25) removes that feedback:

    p_cut(b, rest) = prod_k p(b_k | people's scores, judge k's scores of the same items) p(rest | b, scores, anchors).

Each judge is compared with people alone, never with another judge. Strengths are theta ~ Normal(0, S), and people
perceive a_people theta. S and a_people are at their prior centres, as two raters identify only their agreement. The
factor of judge k is

    prod_i sum_q w_q P(people's score of i | theta_q) P(judge's score of i | b_k theta_q)

with a quadrature rule for theta, on a grid of b_k. It is exact up to the grid, and has two peaks if the anchors do not
determine the sign of b_k. The cutpoints of both raters follow from the shares of levels that each gave to these items,
so that only the association informs b_k (the two steps of Olsson 1979, Psychometrika 44, with logistic noise).

For each draw of b the rest (strengths, severities, cutpoints, weights) has the Laplace approximation of the second
factor. There b, people's discrimination and the spread of the strengths are fixed. The panel sets the scale of
a_k = b_k / r (root mean square 1), so that S becomes r S and a_people becomes a_people / r. If the spread were learned,
judges who agree with each other would increase it, and with it the weight of their scores.

The module also predicts held-out human scores by the joint and the cut posterior.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit, logsumexp

from voirdire.errors import InputError
from voirdire.infer.infer import draws_given_fixed, insert_fixed_values
from voirdire.infer.mode import find_modes
from voirdire.infer.posterior import Mode
from voirdire.kinds.human import CUT, JOINT, HumanAnswers, LeftOut, anchor_folds, fix_parameters
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.density import Data
from voirdire.model.terms.parameters import TwoSided
from voirdire.model.terms.raters import scaled_discrimination
from voirdire.model.terms.score_probabilities import level_log_probabilities, normal_quadrature
from voirdire.typing import Bools, Floats, Ints

CUT_KIND = "rater-discrimination"
GRID = np.linspace(-4.0, 4.0, 81)
DISCRIMINATION_DRAWS = 24  # draws of discriminations, each with a Laplace approximation of the rest
SMOOTHING = 0.5  # pseudo-count of scores added to each level
MAX_CUTPOINT = 60.0  # bound of the search for cutpoints, in log-odds
BISECTION_STEPS = 40


def log_discriminations(problem: ScoresProblem, hidden: Bools | None = None) -> Floats:
    """Normalised log posterior of each judge's discrimination on ``GRID``, shape (judges, grid).

    Parameters
    ----------
    hidden : bool array, shape (human scores,), optional
        Human scores that are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(j, f"x{n}", n if j == "a" else 7 - n) for j in "ab" for n in range(1, 7)]
    >>> scores = pd.DataFrame(rows, columns=["judge", "item", "score"])
    >>> people = pd.DataFrame({"item": [f"x{n}" for n in range(1, 7)], "score": range(1, 7)})
    >>> fit = voirdire.fit(scores, anchors=people, model="rating-discrimination", anchor_mode="joint", method="map")
    >>> (np.exp(log_discriminations(fit.problem)) @ GRID > 0).tolist()
    [True, False]
    """
    model = problem.model
    assert problem.anchors is not None
    assert model.anchors is not None
    person, people, table = model.anchors.numbers, problem.anchors.table, problem.table
    people = people if hidden is None else people.subset(~hidden)
    levels, items = problem.density.levels, len(problem.items)
    prior = model.reliability.numbers
    log_prior = TwoSided(prior["mean"], prior["sd"], prior["reversed"]).log_density(GRID, np)
    theta, log_weight = normal_quadrature()
    theta = np.exp(model.strength.numbers["mean"]) * theta
    scale = np.array(problem.scale.levels)
    human = np.searchsorted(scale, people.score)
    cell = people.criterion * items + people.item
    perceived = (np.exp(person["mean"]) * theta)[None]
    above = _shares_above(people.criterion, human, np.ones(len(human)), len(problem.criteria), levels)
    people_logs = _log_levels(perceived, above)
    cells, position = np.unique(cell, return_inverse=True)
    log_people = np.zeros((len(cells), len(theta)))
    np.add.at(log_people, position, people_logs[people.criterion, human, 0])
    log_people = log_people + log_weight
    # log weight of each strength given the human scores
    log_people = log_people - logsumexp(log_people, axis=1, keepdims=True)
    judge_cell = table.criterion * items + table.item
    log_posterior = np.empty((len(problem.judges), len(GRID)))
    for judge in range(len(problem.judges)):
        rows = np.flatnonzero((table.judge == judge) & np.isin(judge_cell, cells))
        log_posterior[judge] = log_prior
        if not len(rows):
            continue  # the posterior is the prior
        scored_cells, run = np.unique(judge_cell[rows], return_inverse=True)
        run_weight = 1.0 / np.bincount(run)[run]  # repeated runs of a cell have total weight 1
        level, criterion = np.searchsorted(scale, table.score[rows]), table.criterion[rows]
        above = _shares_above(criterion, level, run_weight, len(problem.criteria), levels)
        logs = _log_levels(GRID[:, None] * theta, above)
        log_joint = np.zeros((len(scored_cells), len(GRID), len(theta)))
        np.add.at(log_joint, run, run_weight[:, None, None] * logs[criterion, level])
        log_joint += log_people[np.searchsorted(cells, scored_cells)][:, None, :]
        log_posterior[judge] += logsumexp(log_joint, axis=2).sum(axis=0)
    return np.asarray(log_posterior - logsumexp(log_posterior, axis=1, keepdims=True))


def _shares_above(criterion: Ints, level: Ints, weight: Floats, criteria: int, levels: int) -> Floats:
    """Smoothed share of the scores above each level but the last, shape (criteria, levels - 1)."""
    count = np.full((criteria, levels), SMOOTHING)
    np.add.at(count, (criterion, level), weight)
    return np.asarray(1.0 - count.cumsum(axis=1)[:, :-1] / count.sum(axis=1, keepdims=True))


def _log_levels(perceived: Floats, above: Floats) -> Floats:
    """Log probability of each level given the perceived strength, shape (criteria, levels, grid, nodes).

    Cutpoints are such that the mean of P(y > level) over the nodes is the share ``above``.

    Parameters
    ----------
    perceived : array, shape (grid, nodes)
        Perceived strengths.
    above : array, shape (criteria, levels - 1)
        Shares of the scores above each level.
    """
    weight = np.exp(normal_quadrature()[1])
    low = np.full((*above.shape, len(perceived)), -MAX_CUTPOINT)
    high = -low
    for _ in range(BISECTION_STEPS):
        middle = 0.5 * (low + high)
        is_higher = expit(perceived - middle[..., None]) @ weight > above[..., None]  # the cutpoint lies higher
        low, high = np.where(is_higher, middle, low), np.where(is_higher, high, middle)
    upper = expit(perceived - (0.5 * (low + high))[..., None])  # criteria, levels - 1, grid, nodes
    ends = np.zeros((len(above), 1, *perceived.shape))
    probability = np.concatenate([ends + 1.0, upper], axis=1) - np.concatenate([upper, ends], axis=1)
    return np.asarray(np.log(np.maximum(probability, 1e-300)))


def cut_mode(problem: ScoresProblem, hidden: Bools | None = None, data: Data | None = None) -> Mode:
    """Mode of all other parameters given the posterior means of discriminations.

    Parameters
    ----------
    hidden : bool array, shape (human scores,), optional
        Human scores that do not inform discriminations.
    data : Data, optional
        The tables, by default the problem's.
    """
    table = fix_discriminations(problem, np.exp(log_discriminations(problem, hidden)) @ GRID, data)
    mode = find_modes(problem.density, [table])[0]
    return replace(mode, x=insert_fixed_values(mode.x, table))


def fix_discriminations(problem: ScoresProblem, b: Floats, data: Data | None = None) -> Data:
    """The tables with judges' discriminations b, that of people and the spread of strengths fixed; see the module."""
    model = problem.model
    assert model.anchors is not None
    # r of the module: a = b / r
    r = np.sqrt((b**2).sum() / max((scaled_discrimination(b) ** 2).sum(), 1e-300)) if b.any() else 0.1
    log_people, log_spread = model.anchors.numbers["mean"] - np.log(r), model.strength.numbers["mean"] + np.log(r)
    values = {"raw_discrimination": b, "log_people": log_people, "log_spread": log_spread}
    return fix_parameters(problem.density, problem.data if data is None else data, values)


BASELINE = "people's shares"


class HumanScores(HumanAnswers[ScoresProblem]):
    """People's scores of some items."""

    drawn = "its discriminations are drawn from the anchors alone and the rest by Laplace given them"
    reference = BASELINE

    @property
    def can_cut(self) -> bool:
        """True if the model has discriminations."""
        return self.problem.model.reliability.kind == CUT_KIND

    def check_cut(self) -> None:
        """As in :class:`.HumanAnswers`: a model must have discriminations."""
        if not self.can_cut:
            instead = "rating-maple" if self.problem.density.voted else "rating-discrimination"
            raise InputError(
                "anchor mode 'cut' learns judges' discriminations from the anchors, but model "
                f"{self.problem.model.name} has none; take {instead}, or anchor_mode='joint'"
            )

    def cut_mode(self) -> Mode:
        """As in :class:`.HumanAnswers`."""
        return cut_mode(self.problem)

    def cut_draws(self, count: int, rng: np.random.Generator) -> tuple[Floats, list[Mode]]:
        """As in :class:`.HumanAnswers`."""
        problem = self.problem
        log = log_discriminations(problem)
        size, step = min(DISCRIMINATION_DRAWS, count), GRID[1] - GRID[0]
        draws = np.stack([rng.choice(GRID, size, p=np.exp(row)) for row in log], axis=1)
        draws = draws + step * rng.uniform(-0.5, 0.5, draws.shape)
        tables = [fix_discriminations(problem, b) for b in draws]
        modes = [find_modes(problem.density, [table])[0] for table in tables]  # small problems need no compilation
        return draws_given_fixed(problem, tables, modes, count, rng), modes

    def left_out(self, requested: str | None, joint: Floats) -> dict[str, LeftOut]:
        """Predictions of held-out human scores: by people's shares of the levels, the joint mode and the cut mode.

        Scores of an item under a criterion are left out together, in up to 20 folds of such cells.
        """
        problem = self.problem
        assert problem.anchors is not None
        people = problem.anchors.table
        level = np.searchsorted(problem.scale.levels, people.score)
        cells, cell = np.unique(people.criterion * len(problem.items) + people.item, return_inverse=True)
        codes = problem.codes(people)
        probabilities = {name: np.empty((people.rows, problem.density.levels)) for name in (BASELINE, JOINT, CUT)}
        for fold in anchor_folds(len(cells)):
            hidden = np.isin(cell, fold)
            rows = np.flatnonzero(hidden)
            probabilities[BASELINE][rows] = _level_shares(problem, level, hidden)[people.criterion[rows]]
            data = _hide_cells(problem, cells[fold])
            joint_mode = find_modes(problem.density, [data], starts=[joint])[0]
            for name, mode in ((JOINT, joint_mode), (CUT, cut_mode(problem, hidden, data))):
                held_out_codes = {n: c[rows] for n, c in codes.items()}
                probabilities[name][rows] = _level_probabilities(problem, mode.x, held_out_codes)
        return {
            name: LeftOut.from_answer_probabilities(p, level, name != BASELINE) for name, p in probabilities.items()
        }


def _level_shares(problem: ScoresProblem, level: Ints, hidden: Bools) -> Floats:
    assert problem.anchors is not None
    count = np.full((len(problem.criteria), problem.density.levels), SMOOTHING)
    np.add.at(count, (problem.anchors.table.criterion[~hidden], level[~hidden]), 1.0)
    return np.asarray(count / count.sum(axis=1, keepdims=True))


def _hide_cells(problem: ScoresProblem, cells: Ints) -> Data:
    """The problem's tables with weight 0 for the human scores of some cells."""
    part = problem.data["anchors"]
    hidden = np.isin(part["criterion"] * len(problem.items) + part["item"], cells)
    return problem.data | {"anchors": part | {"weight": part["weight"] * ~hidden}}


def _level_probabilities(problem: ScoresProblem, x: Floats, codes: dict[str, Ints]) -> Floats:
    """Probability of every level for each human score, shape (scores, levels)."""
    density = problem.density
    eta, cuts = ordinal.people_perceptions(density, density.values(x, np), codes, np)
    logs = level_log_probabilities(eta, cuts[codes["criterion"]], density.levels, np)
    return np.asarray(np.exp(np.stack(logs, axis=-1)))
