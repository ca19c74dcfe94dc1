"""Items of known class: what the joint and the cut posterior of labels say of them, left out."""

from __future__ import annotations

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.method import LAPLACE_DRAWS, Inferred, Method
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.human import BASELINE, CUT, JOINT, HumanAnswers, LeftOut, folds
from voirdire.kinds.labels.cut import check_cut, cut_draws, cut_mode
from voirdire.kinds.labels.density import class_probabilities
from voirdire.kinds.labels.problem import LabelsProblem, pose_labels
from voirdire.typing import Floats, Ints


class HumanLabels(HumanAnswers[LabelsProblem]):
    """Items whose class is known."""

    drawn = "judges are drawn given the anchors alone and the shares given judges"

    @property
    def can_cut(self) -> bool:
        """Where the model tells judges apart."""
        return self.problem.density.latent

    def check_cut(self) -> None:
        """As in :class:`.HumanAnswers`."""
        check_cut(self.problem)

    def left_out(self, asked: str | None, joint: Floats) -> dict[str, LeftOut]:
        """What the majority, the joint and the cut mode say of the class of known items left out."""
        problem = self.problem
        at = np.flatnonzero(problem.known >= 0)
        chance = {name: np.empty((len(at), problem.classes)) for name in (BASELINE, JOINT, CUT)}
        for part in folds(len(at)):
            hidden = _without(problem, at[part])
            rows = hidden.unit_row[at[part]]
            given = hidden.data["labels"]["counts"].reshape(
                len(hidden.data["labels"]["counts"]), -1, len(problem.labels)
            )
            votes = given.sum(axis=1)[rows, : problem.classes] + 1.0
            chance[BASELINE][part] = votes / votes.sum(axis=1, keepdims=True)
            for name, mode in ((JOINT, find_mode(hidden)), (CUT, cut_mode(hidden))):
                values = hidden.density.values(mode.x, np)
                chance[name][part] = class_probabilities(hidden.density, [values], hidden.data)[rows]
        return {
            name: LeftOut.of_several(p, problem.known[at], name != BASELINE) for name, p in chance.items()
        }

    def cut(self, how: Method) -> Inferred:
        """The cut posterior, with a check that classes keep their names."""
        problem = self.problem
        mode = cut_mode(problem)
        found = [check.convergence(mode.gradient, mode.converged)]
        at_mode = how.name == "map"
        draws = k = None
        if not at_mode:
            draws, k = cut_draws(problem, mode, LAPLACE_DRAWS, np.random.default_rng(how.seed))
            draws = draws[None]
        found += check.importance(k)
        if problem.density.has_mirror:
            folded, ratio, _ = mirror.fold(problem.density, mode.x if draws is None else draws, problem.data)
            # the rates of classes without an anchor are the prior's, so draws are of all namings as the prior has them
            mass = mirror.mass_from_oriented(ratio) if draws is None else mirror.mass_from_symmetric(ratio)
            found.append(problem.orientation(mass, at_mode=at_mode))
            draws = None if draws is None else folded
        return Inferred(Posterior(problem.density, mode.x, draws), tuple(found))


def _without(problem: LabelsProblem, units: Ints) -> LabelsProblem:
    """The problem with the classes of some units unknown."""
    known = problem.known.copy()
    known[units] = -1
    return pose_labels(problem.model, problem.table, classes=problem.labels[: problem.classes], known=known)
