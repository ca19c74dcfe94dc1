"""Votes on criteria, which inform the weights of criteria, with scores or rankings of items.

P(first) = sigmoid(w_first - w_second) for all judges, except in models in which the discrimination of judges applies to
these votes, too. Where it does not, no answer depends on both weights and other parameters, and their posteriors are
independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.latent_gaussian.answers import Answers as CellCounts
from voirdire.infer.latent_gaussian.joined_answers import AnsweredSums
from voirdire.kinds.answers import Answers, repeated_indices
from voirdire.model.density import Data, LogDensity
from voirdire.model.design import Cells, LatentPositions, Term, build_design
from voirdire.model.family.sharpness import sharpness_family
from voirdire.model.problem import Problem
from voirdire.model.terms import WEIGHTS
from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.term import Values
from voirdire.tables.counts import Votes
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among
from voirdire.tables.votes import read_votes
from voirdire.typing import Floats

CRITERIA_DATA = "criteria"  # key of these votes in a problem's data
CRITERIA_ANSWERS = "votes on criteria"


def holds_weights(table: object) -> bool:
    """True if a table on the importance of criteria has weights, not votes."""
    return columns_among(table, ["weight", "winner"], Problems(CRITERIA_DATA)) == ["weight"]


def read_votes_on_criteria(table: object) -> Votes:
    """Read votes on criteria.

    Raises
    ------
    InputError
        The table has weights, which models of votes do not take.
    """
    if holds_weights(table):
        raise InputError(
            "criteria: weights are for tables with scores or rankings; for votes alone give votes on the criteria "
            "(judge, first, second, winner), or leave the weights out and take maple-fixed-weights, which weighs "
            "criteria equally"
        )
    return read_votes(table, name=CRITERIA_ANSWERS)


def encode_criteria_votes(votes: Votes, judges: Sequence[str], criteria: Sequence[str]) -> dict[str, Any]:
    """Encode distinct votes as ``judge``, ``first`` (the winner), ``second`` and ``weight``, shape (votes,) each."""
    judge = np.array([judges.index(name) for name in votes.judges], dtype=np.int64)[votes.judge]
    criterion = np.array([criteria.index(name) for name in votes.items], dtype=np.int64)
    first, second, counts = criterion[votes.first], criterion[votes.second], votes.counts
    won, lost = counts[:, 0] > 0, counts[:, 1] > 0
    return {
        "judge": np.concatenate([judge[won], judge[lost]]),
        "first": np.concatenate([first[won], second[lost]]),
        "second": np.concatenate([second[won], first[lost]]),
        "weight": np.concatenate([counts[won, 0], counts[lost, 1]]).astype(float),
    }


def log_criteria_votes(
    values: Values, part: Mapping[str, Array], xp: Any, perceive: Callable[[Array, Array], Array] | None = None
) -> tuple[Array, Array]:
    """Compute the log probability of each vote on criteria, P(first) = sigmoid(w_first - w_second), and its weight.

    Parameters
    ----------
    part : dict of array
        Votes from :func:`encode_criteria_votes`.
    perceive : callable, optional
        Function from the difference and the judge of each vote to the perceived difference; by default the identity.
    """
    gap = values["weight"][..., part["first"]] - values["weight"][..., part["second"]]
    return log_sigmoid(gap if perceive is None else perceive(gap, part["judge"]), xp), part["weight"]


def sums_of_criteria_votes(part: dict[str, Any], places: LatentPositions) -> AnsweredSums:
    """Make the sums on which votes on criteria depend: weight of the first, which was chosen, less the second's."""
    cells = Cells(len(part["first"]), {}, (part["first"], part["second"]))
    terms = [Term("weight", ("item",), 0)]
    design, learned = (build_design(terms, cells, layout) for layout in (places, places.of_learned))
    family = sharpness_family(ties=False)
    counts = np.stack([part["weight"], 0.0 * part["weight"]])[None]
    answers = CellCounts(family.log_probabilities, counts, family.closed_form, family.name)
    return AnsweredSums(design, answers, len(family.predictors), learned)


@dataclass(frozen=True)
class WeightsDensity(LogDensity):
    """Density of criterion weights given votes on the criteria, with the same weights for all judges.

    w_c ~ Normal(0, weights.sd) with sum zero, P(first) = sigmoid(w_first - w_second); log-concave.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> WeightsDensity(load_model("rating-halo"), judges=2, criteria=3, items=4).size
    2
    """

    @property
    def sizes(self) -> dict[str, int]:
        """Number of criteria."""
        return {"criterion": self.criteria}

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameter ``weight``."""
        assert self.model.weights is not None  # else nothing would be voted on
        weights: tuple[Parameter, ...] = WEIGHTS[self.model.weights.kind].parameters(self.model.weights.numbers)
        return weights

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """See :func:`log_criteria_votes`."""
        return [log_criteria_votes(values, data[CRITERIA_DATA], xp)]

    def outcome_names(self, data: Data) -> list[str]:
        """Name of the votes."""
        return ["criteria_votes"]


def weights_problem(problem: Problem) -> Problem:
    """Make the problem of the weights of criteria alone, given the votes on criteria."""
    density = problem.density
    weights_density = WeightsDensity(problem.model, density.judges, density.criteria, density.items)
    names = (problem.judges, problem.criteria, problem.items, problem.judge_votes)
    return Problem(weights_density, {CRITERIA_DATA: problem.data[CRITERIA_DATA]}, *names)


def criteria_vote_answers(problem: Problem, counts: Floats) -> Answers:
    """Collect every vote on criteria; ``counts`` are the numbers of the distinct votes, shape (votes,).

    Their probabilities are the last part of the density's.
    """
    votes = problem.data[CRITERIA_DATA]

    def log_probability(values: Values) -> Floats:
        return np.asarray(problem.density.log_parts(values, problem.data, np)[-1][0])

    vote_row = repeated_indices(counts)
    judges, criteria = np.array(problem.judges), np.array(problem.criteria)
    about = {"judge": judges[votes["judge"]][vote_row]}
    about |= {side: criteria[votes[side]][vote_row] for side in ("first", "second")}
    return Answers(CRITERIA_ANSWERS, log_probability, vote_row, vote_row * 0, about, 20 * len(votes["weight"]))
