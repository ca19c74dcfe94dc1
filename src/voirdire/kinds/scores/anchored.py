"""Scores with human scores of some items: jointly or cut, chosen by how well each way predicts those left out."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer import checks as check
from voirdire.infer.method import LAPLACE_DRAWS, Inferred, Method, infer
from voirdire.infer.mode import Mode, find_modes
from voirdire.infer.posterior import Posterior
from voirdire.kinds.human import DEFAULT, Anchored
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.cut import CUT_KIND, SMOOTHING, check_cut, cut_draws, cut_mode
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.votes.human.choose import LeftOut, compare, folds
from voirdire.model.density import Data
from voirdire.model.terms.cumulative import log_every_level
from voirdire.typing import Bools, Floats, Ints

BASELINE = "people's shares"


def infer_anchored(
    problem: ScoresProblem, mode: Mode, anchor_mode: str | None, how: Method
) -> tuple[Inferred, Anchored]:
    """Decide how the human scores are used, and find the posterior that way.

    Parameters
    ----------
    mode : Mode
        Of the joint posterior.
    anchor_mode : "joint", "cut" or None
        None lets human scores that were left out decide, where both ways are possible.

    Raises
    ------
    InputError
        Mode "cut" for NUTS, or for a model without discriminations.
    """
    can_cut = problem.model.reliability.kind == CUT_KIND and how.name != "nuts"
    if anchor_mode == "cut":
        check_cut(problem)
        if how.name == "nuts":
            raise InputError(
                "anchor mode 'cut' is not for method 'nuts': its discriminations are drawn from the anchors alone and "
                "the rest by Laplace given them; use method='laplace', or anchor_mode='joint'"
            )
    anchored = Anchored(anchor_mode or "joint", anchor_mode or "joint", ())
    if anchor_mode is None and can_cut:
        chosen, rows = compare(left_out(problem, mode), DEFAULT["linked"], (BASELINE,))
        anchored = Anchored(chosen, chosen, rows)
    found = _cut(problem, how) if anchored.mode == "cut" else infer(problem, mode, how)
    return found, anchored


def left_out(problem: ScoresProblem, mode: Mode) -> dict[str, LeftOut]:
    """What people's own shares of the levels, the joint and the cut mode say of human scores left out.

    An item's scores under a criterion are left out together, in up to 20 parts of such cells.
    """
    assert problem.anchors is not None
    people = problem.anchors.table
    level = np.searchsorted(problem.scale.levels, people.score)
    cells, cell = np.unique(people.criterion * len(problem.items) + people.item, return_inverse=True)
    chance = {name: np.empty((people.rows, problem.density.levels)) for name in (BASELINE, "joint", "cut")}
    for part in folds(len(cells)):
        hidden = np.isin(cell, part)
        rows = np.flatnonzero(hidden)
        chance[BASELINE][rows] = _shares(problem, level, hidden)[people.criterion[rows]]
        data = _without(problem, cells[part])
        joint = find_modes(problem.density, [data], starts=[mode.x])[0]
        for name, found in (("joint", joint), ("cut", cut_mode(problem, hidden, data))):
            chance[name][rows] = _predicted(problem, found.x, people.criterion[rows], people.item[rows])
    return {name: LeftOut.of_several(p, level) for name, p in chance.items()}


def _shares(problem: ScoresProblem, level: Ints, hidden: Bools) -> Floats:
    assert problem.anchors is not None
    count = np.full((len(problem.criteria), problem.density.levels), SMOOTHING)
    np.add.at(count, (problem.anchors.table.criterion[~hidden], level[~hidden]), 1.0)
    return np.asarray(count / count.sum(axis=1, keepdims=True))


def _without(problem: ScoresProblem, cells: Ints) -> Data:
    """The problem's tables with the human scores of some cells weighing nothing."""
    part = problem.data["anchors"]
    hidden = np.isin(part["criterion"] * len(problem.items) + part["item"], cells)
    return problem.data | {"anchors": part | {"weight": part["weight"] * ~hidden}}


def _predicted(problem: ScoresProblem, x: Floats, criterion: Ints, item: Ints) -> Floats:
    """Probability of every level of each human score, shape (scores, levels)."""
    density = problem.density
    eta, cuts = ordinal.people_seen(density, density.values(x, np), criterion, item, np)
    return np.asarray(np.exp(np.stack(log_every_level(eta, cuts[criterion], density.levels, np), axis=-1)))


def _cut(problem: ScoresProblem, how: Method) -> Inferred:
    if how.name == "map":
        mode = cut_mode(problem)
        found = check.convergence(mode.gradient, mode.converged)
        return Inferred(Posterior(problem.density, mode.x, None), (found,))
    draws, modes = cut_draws(problem, LAPLACE_DRAWS, np.random.default_rng(how.seed))
    worst = max(modes, key=lambda mode: mode.gradient)
    found = check.convergence(worst.gradient, all(mode.converged for mode in modes))
    return Inferred(Posterior(problem.density, draws.mean(axis=0), draws[None]), (found,))
