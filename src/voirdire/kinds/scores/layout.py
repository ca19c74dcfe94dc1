"""Sizes of a table of scores that the forms of its density need.

Cells of answers of a table of scores, as the forms of a density give them to its latent Gaussian model.
"""

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
from voirdire.model.terms.discrimination import LearnedLinkedPosition
from voirdire.model.terms.raters import JudgeItem
from voirdire.model.terms.reliability import Values
from voirdire.model.terms.severity import total_severity
from voirdire.typing import Ints


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Answers whose probability depends on a few sums of latent values, with their terms beside strengths.

    Attributes
    ----------
    codes : Cells
        Judge, criterion and item (and context, -1 for none) of each.
    terms : list of Term
        Of the form's own.
    predictors : int
    answers : CellAnswers
    location : str
        The parameter that has the location of the scores under each criterion, and
    sign : float
        whether strengths that are all larger make it larger (1) or smaller (-1).
    well_identified : set of str
        Dimensions of values that many scores tell, so that they stay when the others are integrated out.
    """

    codes: Cells
    terms: list[Term]
    predictors: int
    answers: CellAnswers
    location: str
    sign: float
    well_identified: frozenset[str]


def distinct_combinations(about: Mapping[str, Ints]) -> tuple[dict[str, Ints], Ints]:
    """Distinct combinations of codes in their order, and which one each row is, shape (rows,).

    Parameters
    ----------
    about : dict of str to int array, shape (rows,)
        Codes by name; the first changes slowest.

    Examples
    --------
    >>> found, row = distinct_combinations({"judge": np.array([1, 0, 1]), "item": np.array([0, -1, 0])})
    >>> {name: code.tolist() for name, code in found.items()}, row.tolist()
    ({'judge': [0, 1], 'item': [-1, 0]}, [1, 0, 1])
    """
    lowest = {name: int(code.min(initial=0)) for name, code in about.items()}
    shape = [int(code.max(initial=0)) + 1 - lowest[name] for name, code in about.items()]
    number = np.ravel_multi_index([code - lowest[name] for name, code in about.items()], shape)
    numbers, row = np.unique(number, return_inverse=True)
    codes = np.unravel_index(numbers, shape)
    return {name: code + lowest[name] for name, code in zip(about, codes, strict=True)}, row


FACTOR_NAMES = ("judge", "criterion", "item")  # what a score is about, beside its context


@dataclass(frozen=True)
class ScoresLayout(LogDensity):
    """Sizes and structure of its table that a density of scores knows.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
    levels : int
        Levels of the scale; 0 where the model takes scores as numbers.
    groups : int
        Groups of judges; 1 where the table has no such column.
    repeats : bool
        Whether some judge scored an item more than once (in a context, where the model tells these apart); without that
        the term of repeats is left out.
    voted : bool
        Whether there are votes on criteria.
    fixed_weights : tuple of float, optional
        Weights of the criteria, where they are given; they sum to one.
    answers, runs : float
        Judges of an item under a criterion and scores of each, on average: the units of strengths are made for them.
    families : tuple of int
        Family of each judge whose errors are shared with others, -1 for the others; empty where none are shared.
    contexts : int
        Contexts that the model tells apart; 0 where it does not, or the table has none in which items recur.
    tastes : bool
        Whether the model has tastes of judges, and the table something to say of them.
    added : tuple of Term
        Terms beside those of the sections of the model.
    added_levels : tuple of (str, int)
        Number of levels of each factor of these that is none of the others.
    anchors : tuple of (share, count)
        Shares of the cells (items under criteria) that have so many human scores; empty without anchors.
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
        """True if what a judge makes of an item in all its runs is integrated out, no latent value."""
        return self.repeats and self.model.repeats is not None and self.model.repeats.kind == JudgeItem.kind

    @cached_property
    def code_names(self) -> tuple[str, ...]:
        """Names of the codes of a score: its factors, and its row of numbers where there are such."""
        known = (*FACTOR_NAMES, "context") if self.contexts else FACTOR_NAMES
        factors = {factor for term in self.added for factor in term.factors} - {*known, STEP}
        numbers = ("numbers",) if any(term.covariate is not None for term in self.added) else ()
        return (*known, *sorted(factors), *numbers)

    def score_parts(self, data: Data) -> list[dict[str, Any]]:
        """Scores of the judges, then those of people where there are such, with -1 for what these are not about."""
        parts = [data["scores"]]
        if self.anchors:
            people = data["anchors"]
            parts.append({**dict.fromkeys(self.code_names, np.full(len(people["item"]), -1)), **people})
        return parts

    def about_rows(self, rows: tuple[Ints, ...]) -> dict[str, Ints]:
        """Codes by name of rows that are told by :attr:`code_names`, or by the first of these; -1 of all others."""
        missing = rows[0] * 0 - 1
        return {
            **dict.fromkeys((*self.code_names, "context"), missing),
            **dict(zip(self.code_names, rows, strict=False)),
        }


def item_strengths(values: Values, about: Mapping[str, Array], xp: Any = np) -> Array:
    """theta_c,i + u_c,i,x of each answer, shape (..., answers); u is 0 of context -1, and of models without contexts.

    Parameters
    ----------
    about : dict of str to int array, shape (answers,)
        Codes: criterion and item, and context where the model tells contexts apart.

    Examples
    --------
    >>> values = {"strength": np.array([[1.0, -1.0]]), "context_strength": np.array([[[0.5, 0.25], [0.0, 0.0]]])}
    >>> about = {"criterion": np.zeros(2, dtype=int), "item": np.array([0, 0]), "context": np.array([1, -1])}
    >>> item_strengths(values, about).tolist()
    [1.25, 1.0]
    """
    criterion, item = about["criterion"], about["item"]
    strength = values["strength"][..., criterion, item]
    if "context_strength" not in values:
        return strength
    return strength + _in_contexts(values["context_strength"], xp)[..., criterion, item, about["context"]]


def _in_contexts(values: Array, xp: Any) -> Array:
    """Values whose last axis is contexts, with 0 for the last of these, -1, which is no context."""
    return xp.concatenate([values, 0.0 * values[..., :1]], axis=-1)


def perceived_strengths(
    density: ScoresLayout,
    values: Values,
    panel: Mapping[str, Array],
    about: Mapping[str, Array],
    xp: Any = np,
) -> Array:
    """Worth of an item as a judge sees it, of each answer, elementwise; a_k is 1 where judges are alike.

    a_k (theta_c,i + u_c,i,x + taste_k,i + own_k,c,i,x + shared_f(k),i) - severity, and what added terms are.

    Parameters
    ----------
    panel : dict of array
        ``group`` of every judge, shape (judges,), and ``numbers`` of added terms, by row.
    about : dict of str to int array, shape (answers,)
        As of :func:`item_strengths`, and judge, and what added terms are of.

    Returns
    -------
    array, shape (..., answers)
        Leading axes of the values (draws) are kept. In the unit of strengths.
    """
    judge, criterion, item = about["judge"], about["criterion"], about["item"]
    strength = item_strengths(values, about, xp)
    if "taste" in values:
        strength = strength + values["taste"][..., judge, item]
    if "judge_item_effect" in values:
        judge_item = values["judge_item_effect"]
        if density.contexts:
            judge_item = _in_contexts(judge_item, xp)[..., judge, criterion, item, about["context"]]
        else:
            judge_item = judge_item[..., judge, criterion, item]
        strength = strength + judge_item
    if "family_item" in values:
        family = xp.take(np.array(density.families), judge)
        shared = values["family_item"][..., xp.maximum(family, 0), item]
        strength = strength + (family >= 0) * shared
    rater = RATERS[density.model.reliability.kind]
    linked = rater.kind == LearnedLinkedPosition.kind  # a_k also of severities and of where the cutpoints are
    perceived = strength if linked else rater.perceived_strength(values, strength, judge, xp)
    if "severity" in values:
        perceived = perceived - total_severity(values, panel["group"])[..., judge]
    if "severity_criterion" in values:
        perceived = perceived - values["severity_criterion"][..., criterion, judge]
    numbers = panel["numbers"][about["numbers"]] if "numbers" in about else None
    perceived = perceived + sum_of_terms(density.added, values, about, numbers)
    if not linked:
        return perceived
    location = values["cut_location"][..., criterion]
    return rater.perceived_strength(values, perceived - location, judge, xp) + location
