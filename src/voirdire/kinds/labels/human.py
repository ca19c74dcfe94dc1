"""Items of known class: what the joint and the cut posterior of labels say of them, left out."""

from __future__ import annotations

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.method import LAPLACE_DRAWS, Inferred, Method, at_mode
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
        """Where the model tells judges apart, who err independently."""
        return self.problem.density.latent and not self.problem.density.shares_errors

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
        if how.name == "map":
            return at_mode(problem, mode, found)
        rng = np.random.default_rng(how.seed)
        draws, k = cut_draws(problem, mode, LAPLACE_DRAWS, rng)
        draws = draws[None]
        found += check.importance(k)
        if problem.density.has_mirror:
            # the rates of classes without an anchor are the prior's, so draws are of all namings as the prior has them
            both = mirror.orientations(problem.density, draws, problem.data, True, rng)
            found.append(problem.orientation(both.mass))
            draws = both.whole
        return Inferred(Posterior(problem.density, mode.x, draws), tuple(found))


def _without(problem: LabelsProblem, units: Ints) -> LabelsProblem:
    """The problem with the classes of some units unknown."""
    known = problem.known.copy()
    known[units] = -1
    return pose_labels(
        problem.model,
        problem.table,
        classes=problem.labels[: problem.classes],
        known=known,
        families=problem.families,
    )
