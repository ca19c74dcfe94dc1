"""Probabilities of the possible answers to a comparison: the first item, the second, a tie."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.votes.contexts import cell_contexts, further_codes
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.layout import difference_effects, tie_propensity_effects
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.specs import Model
from voirdire.model.terms import RELIABILITY, TIES
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.strength import strength_difference
from voirdire.model.terms.term import Observations, Values
from voirdire.model.terms.ties import log_tie_parts, tie_scale
from voirdire.tables.counts import Votes
from voirdire.typing import Floats, Ints


class ComparisonCodes(NamedTuple):
    """Comparisons as codes of judge, criterion, first and second item, shape (comparisons,) each.

    ``context`` is None without contexts; ``further`` has codes and numbers of further terms
    (:func:`.votes.contexts.further_codes`).
    """

    judge: Ints
    criterion: Ints
    first: Ints
    second: Ints
    context: Ints | None = None
    further: Mapping[str, Any] = MappingProxyType({})

    @classmethod
    def of_cells(cls, model: Model, votes: Votes) -> ComparisonCodes:
        """Take the cells of a table that is coded by the levels of a density."""
        criterion = votes.criterion if model.criteria == "separate" else votes.criterion * 0
        context, further = cell_contexts(votes), further_codes(votes)
        return cls(votes.judge, criterion, votes.first, votes.second, context, further)

    def terms(self, density: VotesDensity, values: Values) -> dict[str, Any]:
        """Make the codes for terms; comparisons without a context are in the new context of the values, if any."""
        part: dict[str, Any] = {f"pair_{name}": getattr(self, name) for name in self._fields[:4]}
        part |= {f"pair_{name}": codes for name, codes in self.further.items()}
        if density.contexts or density.tastes or density.added:
            context = self.judge * 0 - 1 if self.context is None else self.context
            unknown_context = bool(density.contexts and (context < 0).any())
            has_new_context = unknown_context and values["context_strength"].shape[-1] > density.contexts
            part["pair_context"] = np.where(context < 0, density.contexts, context) if has_new_context else context
        return part


def vote_probabilities(problem: VotesProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Compute probabilities of (first, second, tie), shape (rows, 3); for many sets of values (..., rows, 3).

    Parameters
    ----------
    rows : tuple of int array
        Judge, criterion, first and second of each row, in the problem's coding; optionally the context (-1 for any)
        and the cell of the problem's votes from which further terms take codes and numbers.
    """
    return answer_probabilities(problem.density, values, _asked_rows(problem, rows))


def vote_log_probabilities(problem: VotesProblem, values: Values, rows: tuple[Ints, ...]) -> list[Array]:
    """Logarithms of :func:`vote_probabilities`: first, second and, with ties, tie, shape (..., rows) each."""
    return answer_log_probabilities(problem.density, values, _asked_rows(problem, rows))


def _asked_rows(problem: VotesProblem, rows: tuple[Ints, ...]) -> ComparisonCodes:
    judge, criterion, first, second, *extra = rows
    comparisons = ComparisonCodes(judge, criterion, first, second, extra[0] if extra else None)
    if len(extra) > 1:
        cell_codes, cell = further_codes(problem.votes), extra[1]
        further = {name: codes[:, cell] if name == "numbers" else codes[cell] for name, codes in cell_codes.items()}
        comparisons = comparisons._replace(further=further)
    return comparisons


def cell_probabilities(model: Model, density: VotesDensity, draws: list[Values], votes: Votes) -> Floats:
    """Compute mean probabilities of (first, second, tie) in each cell of a coded table, shape (cells, 3).

    ``votes`` must be coded by the levels of the density. Unknown contexts are like the known ones: their effects on
    strengths and tie habits are drawn for every draw (seed 0), with both signs.
    """
    comparisons = ComparisonCodes.of_cells(model, votes)
    if density.contexts and (comparisons.context is None or (comparisons.context < 0).any()):
        rng = np.random.default_rng(0)
        draws = [context_values for values in draws for context_values in sample_new_context(density, values, rng)]
    probabilities = (answer_probabilities(density, values, comparisons) for values in draws)
    return sum(probabilities, np.zeros(())) / len(draws)


def answer_probabilities(density: VotesDensity, values: Values, comparisons: ComparisonCodes) -> Floats:
    """Compute probabilities of (first, second, tie) under one set of values, shape (comparisons, 3).

    For many sets of values (arrays with leading dimensions) the shape is (..., comparisons, 3).

    Without a context (or with -1) the effects of contexts on strengths and ties are 0. Without codes and numbers of
    further terms, the effects of these terms are 0, too.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> density = VotesDensity(load_model("bradley-terry"), judges=1, criteria=1, items=2, ties=False)
    >>> zero, one = np.array([0]), np.array([1])
    >>> asked = ComparisonCodes(zero, zero, zero, one)
    >>> answer_probabilities(density, {"strength": np.array([[1.0, -1.0]])}, asked).round(3).tolist()
    [[0.881, 0.119, 0.0]]
    """
    logs = answer_log_probabilities(density, values, comparisons)
    probabilities = np.zeros((*logs[0].shape, 3))
    probabilities[..., : len(logs)] = np.exp(np.stack(logs, axis=-1))
    return probabilities


def answer_log_probabilities(
    density: VotesDensity, values: Values, comparisons: ComparisonCodes, xp: Any = np
) -> list[Array]:
    """As :func:`answer_probabilities`, but logarithms: of first, second and, with ties, tie."""
    part, judge = comparisons.terms(density, values), comparisons.judge
    d = _strength_differences(density, values, part)
    habits = tie_propensity_effects(density, values, part, judge, np.arange(len(judge))) if density.ties else 0.0
    return _log_probabilities_by_difference(density, values, d, judge, comparisons.criterion, habits, xp)


def strength_differences(density: VotesDensity, values: Values, comparisons: ComparisonCodes) -> Floats:
    """Strength of the first item less that of the second, all effects included, shape (comparisons,)."""
    return np.asarray(_strength_differences(density, values, comparisons.terms(density, values)))


def _strength_differences(density: VotesDensity, values: Values, part: dict[str, Any]) -> Array:
    d = strength_difference(values["strength"], part["pair_criterion"], part["pair_first"], part["pair_second"])
    return d + difference_effects(density, values, part) if "pair_context" in part else d


def criterion_vote_log_probabilities(
    density: VotesDensity, values: Values, judge: Ints, first: Ints, second: Ints, xp: Any = np
) -> list[Array]:
    """Compute log probabilities of first, second (and tie) of each vote on criteria.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> density = VotesDensity(load_model("maple-fixed-reliability"), judges=1, criteria=2, items=2, ties=False)
    >>> zero, one = np.array([0]), np.array([1])
    >>> values = {"weight": np.array([1.0, -1.0])}
    >>> np.exp(criterion_vote_log_probabilities(density, values, zero, zero, one)).round(3).ravel().tolist()
    [0.881, 0.119]
    """
    d = values["weight"][..., first] - values["weight"][..., second]
    return _log_probabilities_by_difference(density, values, d, judge, np.full(len(judge), density.criteria), 0.0, xp)


def _log_probabilities_by_difference(
    density: VotesDensity, values: Values, d: Array, judge: Ints, criterion: Ints, habits: Any, xp: Any
) -> list[Array]:
    """Compute log probabilities of the answers, given the difference of the items as the judge perceives it."""
    cells = np.arange(len(judge))
    reliability = RELIABILITY[density.model.reliability.kind]
    sizes = (density.judges, density.criteria)
    observations = (Observations(judge, cells, cells * 0 + outcome, criterion, *sizes) for outcome in (0, 1))
    log = [reliability.log_decided(values, d, observation, xp) for observation in observations]
    if not density.ties or density.model.ties is None:
        return log
    propensity = TIES[density.model.ties.kind].log_tie_propensity(values, judge) + habits
    scaled = reliability.scaled_difference(values, d, judge, cells, xp)
    tie, decided = log_tie_parts(propensity, scaled, xp, tie_scale(values, xp))
    return [log[0] + decided, log[1] + decided, tie + 0 * d]


_CONTEXT_EFFECTS: tuple[str, ...] = ("context_strength", "tie_context", "tie_judge_context")


def sample_new_context(density: VotesDensity, values: Values, rng: np.random.Generator) -> list[Values]:
    """Add a new context as the last one; also return the values with the effects of that context negated.

    Its effects are drawn with the learned spreads, so that it is like the contexts of the table.
    """
    names = [name for name in _CONTEXT_EFFECTS if name in values]
    sd: dict[str, Any] = {name: np.exp(values[f"log_{name.removesuffix('_strength')}_spread"]) for name in names}
    axis = dict.fromkeys(names, -1)
    for term in density.added:
        if "context" in term.factors:
            assert term.scale is not None  # all added terms have one
            sd[term.name] = np.exp(values[term.scale.spread]) if term.scale.spread else term.scale.sd
            axis[term.name] = term.factors.index("context") - len(term.factors)
    effects = {
        name: rng.normal(0.0, np.squeeze(sd[name]), values[name].take([0], axis=axis[name]).shape) for name in sd
    }
    return [
        values | {name: np.concatenate([values[name], sign * effects[name]], axis=axis[name]) for name in sd}
        for sign in (1.0, -1.0)
    ]


def refuse_pooled_models(problem: VotesProblem) -> None:
    """Refuse models that pool votes, and so have no probability of single votes.

    Raises
    ------
    InputError
    """
    if problem.model.pool != "none":
        raise InputError(f"model {problem.model.name} gives no probability of single votes: nothing to draw")
