"""Questions to a person about pairs that nothing links, to answer the others by stacking.

A person's answer to one such pair tells of another only through the judges: which of them to follow. The model's
strengths are no guide to that. The order of a pair on which judges are divided is the least sure, and its answer says
least about them; people asked about such pairs alone never learn what a majority is worth, so that asking at random is
better. With the regression of :mod:`voirdire.kinds.votes.human.stacking`, f_p the log-odds that people prefer the one
item of pair p, what is unknown is what people would say of every pair,

    P(T_p = one | f) = sigmoid(f_p),   P(answer to q = one | f) = sigmoid(f_q),

independent given f, which is drawn from the regression's posterior (its prior before anybody was asked).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from voirdire.fit.next.information import Unknowns, expected_information
from voirdire.fit.next.questions import Questions
from voirdire.kinds.votes.human.candidates import Evidence, stacking_regression
from voirdire.kinds.votes.human.comparisons import unconnected_pairs
from voirdire.kinds.votes.human.votes import gather_evidence
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.typing import Floats, Ints

DRAWS = 500
KEEP = 200  # questions that are looked at for a batch
TARGETS = 500  # pairs whose answers are to become surer, at most: a random part of them


@dataclass(frozen=True, eq=False)
class Stacked:
    """Draws of what people would say.

    Attributes
    ----------
    asked : Questions
        Those that tell most by themselves.
    expected : array, shape (draws, questions, 2)
        Probability of first and second.
    unsure : Unknowns
        What people would say of the pairs.
    """

    asked: Questions
    expected: Floats
    unsure: Unknowns


def stacking_evidence(problem: VotesProblem) -> Evidence | None:
    """Evidence that stacking learns from; None where items are linked, or the model's judges are no coins."""
    if problem.model.criteria == "separate" or not unconnected_pairs(problem):
        return None
    found = gather_evidence(problem)
    return found if found.prior else None


def stacked_questions(evidence: Evidence, asked: Questions, rng: np.random.Generator) -> Stacked:
    """Draw what people would say, and keep the questions that tell most.

    Parameters
    ----------
    asked : Questions
        Of a person, about pairs of ``evidence``.
    """
    p = expit(stacking_regression(evidence).draws(DRAWS, rng))
    place = _pair_places(evidence, asked)
    turned = evidence.found.one[place] != asked.first
    yes = np.where(turned, 1.0 - p[:, place], p[:, place])
    expected = np.stack([yes, 1.0 - yes], axis=2)
    some = np.sort(rng.permutation(p.shape[1])[:TARGETS])
    unsure = Unknowns(p[:, some], np.arange(len(some)))
    if len(place) > KEEP:
        tells = expected_information(expected, unsure, np.full(DRAWS, 1.0 / DRAWS))
        kept = np.sort(np.argsort(-tells, kind="stable")[:KEEP])
        asked, expected = asked.select_questions(kept), expected[:, kept]
    return Stacked(asked, expected, unsure)


def _pair_places(evidence: Evidence, asked: Questions) -> Ints:
    found = evidence.found
    size = int(max(found.one.max(), found.other.max())) + 1
    keys = found.one * size + found.other
    order = np.argsort(keys)
    wanted = np.minimum(asked.first, asked.second) * size + np.maximum(asked.first, asked.second)
    return np.asarray(order[np.searchsorted(keys, wanted, sorter=order)])
