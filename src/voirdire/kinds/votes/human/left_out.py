"""Predictions by the joint and the cut mode of comparisons that people answered, without these answers."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from voirdire.infer.mode import find_modes
from voirdire.infer.posterior import integrated_scores
from voirdire.kinds.human import anchor_folds
from voirdire.kinds.votes.human.candidates import Evidence, coin_means
from voirdire.kinds.votes.human.cut import cut_mode
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.density import Data
from voirdire.tables.pairs import pair_keys
from voirdire.typing import Floats, Ints


def people_prefer(
    problem: VotesProblem, values: dict[str, Floats], evidence: Evidence, rows: Ints | None = None
) -> Floats:
    """Mean probability that people prefer the one item, over draws of named values with a leading axis."""
    found = evidence.found
    pick = np.arange(len(found.keys)) if rows is None else rows
    if problem.anchors is not None and problem.anchors.overall:
        score = integrated_scores(problem.density, values)
        d = score[..., found.one[pick]] - score[..., found.other[pick]]
    else:
        criterion = (
            found.criterion[pick] if problem.model.criteria == "separate" else found.criterion[pick] * 0
        )
        strength = values["strength"]
        d = strength[..., criterion, found.one[pick]] - strength[..., criterion, found.other[pick]]
    coin = expit(values["anchor"])[..., None]
    return np.asarray((coin * expit(d) + (1.0 - coin) * expit(-d)).mean(axis=0))


def joint_left_out(problem: VotesProblem, evidence: Evidence, joint: Floats) -> Floats:
    """At the joint mode without each fold of anchors; searches of spreads begin at ``joint``, the mode with all."""
    parts = anchor_folds(len(evidence.rows))
    starts = [joint] * len(parts) if problem.density.is_nested else None
    modes = find_modes(
        problem.density, [_hide_fold(problem, evidence, fold) for fold in parts], starts=starts
    )
    return _predict_folds(problem, evidence, parts, [mode.x for mode in modes])


def cut_left_out(problem: VotesProblem, evidence: Evidence) -> Floats:
    """At the mode given the coins' means, without each fold of anchors."""
    parts = anchor_folds(len(evidence.rows))
    near = cut_mode(problem, *coin_means(evidence)).x if problem.density.is_nested else None
    found = []
    for fold in parts:
        part = evidence
        for index in sorted(fold, reverse=True):
            part = part.without(int(index))
        found.append(cut_mode(problem, *coin_means(part), _hide_fold(problem, evidence, fold), near).x)
    return _predict_folds(problem, evidence, parts, found)


def without_panel_votes(problem: VotesProblem) -> Data:
    """The problem's tables with the judges' votes on items weighing nothing."""
    part = problem.data["votes"]
    return problem.data | {"votes": part | {"weight": part["weight"] * 0.0}}


def _predict_folds(
    problem: VotesProblem, evidence: Evidence, parts: list[Ints], modes: list[Floats]
) -> Floats:
    p = np.empty(len(evidence.rows))
    for fold, x in zip(parts, modes, strict=True):
        values = problem.density.values(x[None], np)
        p[fold] = people_prefer(problem, values, evidence, evidence.rows[fold])
    return p


def _hide_fold(problem: VotesProblem, evidence: Evidence, fold: Ints) -> Data:
    """The problem's tables with the anchors of a fold weighing nothing."""
    assert problem.anchors is not None
    people = problem.anchors.votes
    keys = pair_keys(people, criteria=people.has_criteria and problem.votes.has_criteria)
    hidden = np.isin(keys, evidence.found.keys[evidence.rows[fold]])
    part = problem.data["anchors"]
    return problem.data | {"anchors": part | {"counts": part["counts"] * ~hidden[:, None]}}
