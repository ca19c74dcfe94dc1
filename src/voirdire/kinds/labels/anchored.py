"""Labels with items of known class: jointly or cut, chosen by how well each way predicts known items left out."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.method import LAPLACE_DRAWS, Inferred, Method, infer
from voirdire.infer.mode import Mode, find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.human import DEFAULT, Anchored
from voirdire.kinds.labels.cut import check_cut, cut_draws, cut_mode
from voirdire.kinds.labels.density import class_probabilities
from voirdire.kinds.labels.problem import LabelsProblem, pose_labels
from voirdire.kinds.votes.human.choose import BASELINE, LeftOut, compare, folds
from voirdire.typing import Ints


def infer_anchored(
    problem: LabelsProblem, mode: Mode, anchor_mode: str | None, how: Method
) -> tuple[Inferred, Anchored]:
    """Decide how the known items are used, and find the posterior that way.

    Parameters
    ----------
    mode : Mode
        Of the joint posterior.
    anchor_mode : "joint", "cut" or None
        None lets known items that were left out decide, where both ways are possible.

    Raises
    ------
    InputError
        Mode "cut" for NUTS, or for a model that takes all judges alike.
    """
    can_cut = problem.density.latent and how.name != "nuts"
    if anchor_mode == "cut":
        check_cut(problem)
        if how.name == "nuts":
            raise InputError(
                "anchor mode 'cut' is not for method 'nuts': judges are drawn given the anchors alone and the shares "
                "given judges; use method='laplace', or anchor_mode='joint'"
            )
    anchored = Anchored(anchor_mode or "joint", anchor_mode or "joint", ())
    if anchor_mode is None and can_cut:
        chosen, rows = compare(left_out(problem), DEFAULT["linked"])
        anchored = Anchored(chosen, chosen, rows)
    found = _cut(problem, how) if anchored.mode == "cut" else infer(problem, mode, how)
    return found, anchored


def left_out(problem: LabelsProblem) -> dict[str, LeftOut]:
    """What the majority, the joint and the cut mode say of the class of known items left out, in up to 20 parts."""
    at = np.flatnonzero(problem.known >= 0)
    chance = {name: np.empty((len(at), problem.classes)) for name in (BASELINE, "joint", "cut")}
    for part in folds(len(at)):
        hidden = _without(problem, at[part])
        rows = hidden.unit_row[at[part]]
        given = hidden.data["labels"]["counts"].reshape(
            len(hidden.data["labels"]["counts"]), -1, len(problem.labels)
        )
        votes = given.sum(axis=1)[rows, : problem.classes] + 1.0
        chance[BASELINE][part] = votes / votes.sum(axis=1, keepdims=True)
        for name, mode in (("joint", find_mode(hidden)), ("cut", cut_mode(hidden))):
            values = hidden.density.values(mode.x, np)
            chance[name][part] = class_probabilities(hidden.density, [values], hidden.data)[rows]
    return {name: LeftOut.of_several(p, problem.known[at]) for name, p in chance.items()}


def _without(problem: LabelsProblem, units: Ints) -> LabelsProblem:
    """The problem with the classes of some units unknown."""
    known = problem.known.copy()
    known[units] = -1
    return pose_labels(problem.model, problem.table, classes=problem.labels[: problem.classes], known=known)


def _cut(problem: LabelsProblem, how: Method) -> Inferred:
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
