"""Sizes of a table of scores that the forms of its density need, and cells of answers for its latent Gaussian model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.answers import CellAnswers
from voirdire.model.density import Data, LogDensity
from voirdire.model.design import Cells, Term
from voirdire.model.panel_density import STEP, sum_of_terms
from voirdire.model.terms import RATERS
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.cutpoints import total_severity
from voirdire.model.terms.discrimination import LearnedLinkedPosition
from voirdire.model.terms.raters import JudgeItem
from voirdire.model.terms.term import Values
from voirdire.typing import Ints


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Cells of answers that depend on a few sums of latent values, with terms other than the perceived strength.

    Attributes
    ----------
    codes : Cells
        Judge, criterion and item (and context, -1 for none) of each cell.
    terms : list of Term
        Terms of the form of scores.
    predictors : int
        Number of sums that a cell depends on.
    answers : CellAnswers
    location : str
        The parameter that holds the location of the scores under each criterion.
    sign : float
        1 if the location grows when all strengths grow, -1 if it falls.
    well_identified : set of str
        Dimensions of values that many scores inform; these values are not integrated out with the others.
    """

    codes: Cells
    terms: list[Term]
    predictors: int
    answers: CellAnswers
    location: str
    sign: float
    well_identified: frozenset[str]


def distinct_combinations(codes: Mapping[str, Ints]) -> tuple[dict[str, Ints], Ints]:
    """Return the sorted distinct combinations of codes, and the combination of each row, shape (rows,).

    Parameters
    ----------
    codes : dict of str to int array, shape (rows,)
        Codes by name; the first changes slowest.

    Examples
    --------
    >>> found, row = distinct_combinations({"judge": np.array([1, 0, 1]), "item": np.array([0, -1, 0])})
    >>> {name: code.tolist() for name, code in found.items()}, row.tolist()
    ({'judge': [0, 1], 'item': [-1, 0]}, [1, 0, 1])
    """
    lowest = {name: int(code.min(initial=0)) for name, code in codes.items()}
    shape = [int(code.max(initial=0)) + 1 - lowest[name] for name, code in codes.items()]
    number = np.ravel_multi_index([code - lowest[name] for name, code in codes.items()], shape)
    numbers, row = np.unique(number, return_inverse=True)
    combination_codes = np.unravel_index(numbers, shape)
    return {name: code + lowest[name] for name, code in zip(codes, combination_codes, strict=True)}, row


FACTOR_NAMES = ("judge", "criterion", "item")  # factors of a score, except its context


@dataclass(frozen=True)
class ScoresLayout(LogDensity):
    """Sizes and structure of the table of a density of scores.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
    levels : int
        Levels of the scale; 0 if the model takes scores as numbers.
    groups : int
        Groups of judges; 1 if the table has no column ``group``.
    repeats : bool
        True if some judge scored an item more than once (in one context, if the model has contexts); else the term for
        repeated scores is left out.
    voted : bool
        True if there are votes on criteria.
    fixed_weights : tuple of float, optional
        Weights of the criteria set by the user; they sum to one.
    answers, runs : float
        Mean number of judges of an item under a criterion, and of scores of each; they set the units of strengths.
    families : tuple of int
        Family of each judge that shares errors with others, -1 for other judges; empty if no errors are shared.
    contexts : int
        Contexts in the model; 0 if it has none, or no items of the table recur in contexts.
    tastes : bool
        True if the model has tastes of judges and the table identifies them.
    added : tuple of Term
        Terms in addition to the sections of the model.
    added_levels : tuple of (str, int)
        Number of levels of each factor of added terms that is not among the dimensions above.
    anchors : tuple of (share, count)
        Share of the cells (items under criteria) with each count of human scores; empty without anchors.
    """

    levels: int
    groups: int = 1
    repeats: bool = False
    voted: bool = False
    fixed_weights: tuple[float, ...] | None = None
    answers: float = 1.0
    runs: float = 1.0
    anchors: tuple[tuple[float, float], ...] = ()
    families: tuple[int, ...] = ()
    contexts: int = 0
    tastes: bool = False
    added: tuple[Term, ...] = ()
    added_levels: tuple[tuple[str, int], ...] = ()

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""
        return {
            "judge": self.judges,
            "criterion": self.criteria,
            "item": self.items,
            "group": self.groups,
            "gap": max(self.levels - 2, 0),
            "family": max(self.families, default=-1) + 1,
            "context": self.contexts,
            **dict(self.added_levels),
        }

    @property
    def integrates_repeats(self) -> bool:
        """True if effects of judges on items, common to all runs, are integrated out and not latent values."""
        return self.repeats and self.model.repeats is not None and self.model.repeats.kind == JudgeItem.kind

    @cached_property
    def code_names(self) -> tuple[str, ...]:
        """Names of the codes of a score: its factors, and ``numbers``, its row of covariates, if terms have any."""
        known = (*FACTOR_NAMES, "context") if self.contexts else FACTOR_NAMES
        factors = {factor for term in self.added for factor in term.factors} - {*known, STEP}
        numbers = ("numbers",) if any(term.covariate is not None for term in self.added) else ()
        return (*known, *sorted(factors), *numbers)

    def score_parts(self, data: Data) -> list[dict[str, Any]]:
        """Scores of the judges, then those of people if any, with -1 for codes that these do not have."""
        parts = [data["scores"]]
        if self.anchors:
            people = data["anchors"]
            parts.append({**dict.fromkeys(self.code_names, np.full(len(people["item"]), -1)), **people})
        return parts

    def about_rows(self, rows: tuple[Ints, ...]) -> dict[str, Ints]:
        """Name the codes in ``rows``, which are in the order of :attr:`code_names`; missing codes are -1."""
        missing = rows[0] * 0 - 1
        return {
            **dict.fromkeys((*self.code_names, "context"), missing),
            **dict(zip(self.code_names, rows, strict=False)),
        }


def item_strengths(values: Values, codes: Mapping[str, Array], xp: Any = np) -> Array:
    """theta_c,i + u_c,i,x of each answer, shape (..., answers); u is 0 for context -1, and in models without contexts.

    Parameters
    ----------
    codes : dict of str to int array, shape (answers,)
        Codes: criterion and item, and context if the model has contexts.

    Examples
    --------
    >>> values = {"strength": np.array([[1.0, -1.0]]), "context_strength": np.array([[[0.5, 0.25], [0.0, 0.0]]])}
    >>> about = {"criterion": np.zeros(2, dtype=int), "item": np.array([0, 0]), "context": np.array([1, -1])}
    >>> item_strengths(values, about).tolist()
    [1.25, 1.0]
    """
    criterion, item = codes["criterion"], codes["item"]
    strength = values["strength"][..., criterion, item]
    if "context_strength" not in values:
        return strength
    return strength + _in_contexts(values["context_strength"], xp)[..., criterion, item, codes["context"]]


def _in_contexts(values: Array, xp: Any) -> Array:
    """Append 0 to the last axis, contexts, so that context -1 (no context) has the value 0."""
    return xp.concatenate([values, 0.0 * values[..., :1]], axis=-1)


def perceived_strengths(
    density: ScoresLayout, values: Values, panel: Mapping[str, Array], codes: Mapping[str, Array], xp: Any = np
) -> Array:
    """Perceived strength of each answer: the item's strength as the judge perceives it; a_k is 1 if judges are alike.

    a_k (theta_c,i + u_c,i,x + taste_k,i + own_k,c,i,x + shared_f(k),i) - severity + added terms.

    Parameters
    ----------
    panel : dict of array
        ``group`` of every judge, shape (judges,), and ``numbers`` of added terms, by row.
    codes : dict of str to int array, shape (answers,)
        As of :func:`item_strengths`, and the judge and the factors of added terms.

    Returns
    -------
    array, shape (..., answers)
        Leading axes of the values (draws) are kept; in the unit of strengths.
    """
    judge, criterion, item = codes["judge"], codes["criterion"], codes["item"]
    strength = item_strengths(values, codes, xp)
    if "taste" in values:
        strength = strength + values["taste"][..., judge, item]
    if "judge_item_effect" in values:
        judge_item = values["judge_item_effect"]
        if density.contexts:
            judge_item = _in_contexts(judge_item, xp)[..., judge, criterion, item, codes["context"]]
        else:
            judge_item = judge_item[..., judge, criterion, item]
        strength = strength + judge_item
    if "family_item" in values:
        family = xp.take(np.array(density.families), judge)
        shared = values["family_item"][..., xp.maximum(family, 0), item]
        strength = strength + (family >= 0) * shared
    rater = RATERS[density.model.reliability.kind]
    linked = rater.kind == LearnedLinkedPosition.kind  # a_k also scales severities and the location of cutpoints
    perceived = strength if linked else rater.perceived_strength(values, strength, judge, xp)
    if "severity" in values:
        perceived = perceived - total_severity(values, panel["group"])[..., judge]
    if "severity_criterion" in values:
        perceived = perceived - values["severity_criterion"][..., criterion, judge]
    numbers = panel["numbers"][codes["numbers"]] if "numbers" in codes else None
    perceived = perceived + sum_of_terms(density.added, values, codes, numbers)
    if not linked:
        return perceived
    location = values["cut_location"][..., criterion]
    return rater.perceived_strength(values, perceived - location, judge, xp) + location
