"""Human scores of some items: what the joint and the cut posterior of scores say of them, left out."""

from __future__ import annotations

import numpy as np

from voirdire.infer.mode import find_modes
from voirdire.infer.posterior_mode import Mode
from voirdire.kinds.human import CUT, JOINT, HumanAnswers, LeftOut, anchor_folds
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.cut import CUT_KIND, SMOOTHING, check_cut, cut_draws, cut_mode
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.density import Data
from voirdire.model.terms.cumulative import log_every_level
from voirdire.typing import Bools, Floats, Ints

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
        """As in :class:`.HumanAnswers`."""
        check_cut(self.problem)

    def cut_mode(self) -> Mode:
        """As in :class:`.HumanAnswers`."""
        return cut_mode(self.problem)

    def cut_draws(self, count: int, rng: np.random.Generator) -> tuple[Floats, list[Mode]]:
        """As in :class:`.HumanAnswers`."""
        return cut_draws(self.problem, count, rng)

    def left_out(self, asked: str | None, joint: Floats) -> dict[str, LeftOut]:
        """Predictions of human scores left out: by people's own shares of the levels, the joint and the cut mode.

        An item's scores under a criterion are left out together, in up to 20 parts of such cells.
        """
        problem = self.problem
        assert problem.anchors is not None
        people = problem.anchors.table
        level = np.searchsorted(problem.scale.levels, people.score)
        cells, cell = np.unique(people.criterion * len(problem.items) + people.item, return_inverse=True)
        about = problem.codes(people)
        chance = {name: np.empty((people.rows, problem.density.levels)) for name in (BASELINE, JOINT, CUT)}
        for part in anchor_folds(len(cells)):
            hidden = np.isin(cell, part)
            rows = np.flatnonzero(hidden)
            chance[BASELINE][rows] = _level_shares(problem, level, hidden)[people.criterion[rows]]
            data = _hide_cells(problem, cells[part])
            of_joint = find_modes(problem.density, [data], starts=[joint])[0]
            for name, found in ((JOINT, of_joint), (CUT, cut_mode(problem, hidden, data))):
                chance[name][rows] = _level_probabilities(
                    problem, found.x, {n: c[rows] for n, c in about.items()}
                )
        return {name: LeftOut.of_several(p, level, name != BASELINE) for name, p in chance.items()}


def _level_shares(problem: ScoresProblem, level: Ints, hidden: Bools) -> Floats:
    assert problem.anchors is not None
    count = np.full((len(problem.criteria), problem.density.levels), SMOOTHING)
    np.add.at(count, (problem.anchors.table.criterion[~hidden], level[~hidden]), 1.0)
    return np.asarray(count / count.sum(axis=1, keepdims=True))


def _hide_cells(problem: ScoresProblem, cells: Ints) -> Data:
    """The problem's tables with the human scores of some cells weighing nothing."""
    part = problem.data["anchors"]
    hidden = np.isin(part["criterion"] * len(problem.items) + part["item"], cells)
    return problem.data | {"anchors": part | {"weight": part["weight"] * ~hidden}}


def _level_probabilities(problem: ScoresProblem, x: Floats, about: dict[str, Ints]) -> Floats:
    """Probability of every level of each human score, shape (scores, levels)."""
    density = problem.density
    eta, cuts = ordinal.people_seen(density, density.values(x, np), about, np)
    logs = log_every_level(eta, cuts[about["criterion"]], density.levels, np)
    return np.asarray(np.exp(np.stack(logs, axis=-1)))
