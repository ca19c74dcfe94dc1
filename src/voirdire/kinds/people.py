"""Encoding of people's answers (anchors) like a panel's, and the model of their answers to comparisons.

    P(better) = p sigmoid(d / c) + (1 - p) sigmoid(-d / c)

with p the coin of people and c the scale of their noise. c is 1 for votes and rankings, with scores in log-odds. It is
the root of 2 for scores in levels, and 2^(1/2) n / 1.702 for scores in points, n the noise of a single score, because
two scores are compared. If each answer is about another context, in which the difference is Normal(d, v),

    c^2 grows by pi v / 8

(MacKay 1992, Neural Computation 4; 1.702: the logistic function nearest to the normal distribution function, Bowling et
al. 2009). The information of an answer about d is

    i(d) = (dP/dd)^2 / (P (1 - P)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.model.specs import Model
from voirdire.model.terms import ANCHORS
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.term import Values
from voirdire.tables.encode import level_positions
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.ratings import Rated, known_names
from voirdire.typing import Floats, Ints

PEOPLE = "people"
UNUSED_NOTE = "they say nothing about this panel and are not used."
UNKNOWN_CONTEXT_NOTE = "strengths of items there are not known, so they are not used."

R = TypeVar("R", bound=Any)


@dataclass(frozen=True, eq=False)
class PeopleTable(Generic[R]):
    """Scores or rankings of people, coded like a panel's.

    Attributes
    ----------
    table : Scores or Rankings
        Answers in the panel's coding of items and criteria (and of contexts, if the model has them).
    notes : tuple of str
        Notes on answers that could not be used.
    """

    table: R
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of answers."""
        return int(self.table.rows)


def match_items(people: R, panel: R, problems: Problems, answered: str) -> tuple[R, str]:
    """Encode people's table like a panel's, unknown items as -1; also describe these items in words."""
    criterion = criterion_codes(people, panel, problems)
    message = describe_unknown_anchors(people.items, people.item, panel.items, "about item", answered)
    names = {"criteria": panel.criteria, "items": panel.items, "has_criteria": panel.has_criteria}
    item = level_positions(people.items, panel.items)[people.item]
    coded = replace(people, **names, criterion=criterion[people.criterion], item=item)
    return coded, message


def criterion_codes(people: Rated, panel: Rated, problems: Problems) -> Ints:
    """Find the panel's code of each criterion of the anchors; unknown criteria are -1, and reported."""
    if not people.has_criteria:
        if len(panel.criteria) > 1:
            problems.table(
                f"the {panel.data} have criteria {known_names(panel.criteria)}; give a column 'criterion' that says "
                "which each anchor is about"
            )
        return np.zeros(1, dtype=np.int64)
    codes = level_positions(people.criteria, panel.criteria)
    for code in np.flatnonzero(codes < 0):
        name = people.criteria[code]
        rows = np.flatnonzero(people.criterion == code) + 1
        if not panel.has_criteria:
            problems.rows(rows, f"the {panel.data} have no column 'criterion', so none is {name!r}; leave it out")
        else:
            hint = nearest_name(name, panel.criteria) or f"; known are {known_names(panel.criteria)}"
            problems.rows(rows, f"the {panel.data} have no criterion {name!r}{hint}")
    return codes


def describe_unknown_anchors(
    names: Sequence[str], code: Ints, known: Sequence[str], where: str, answered: str = "scored"
) -> str:
    """Describe anchors about items or contexts that no judge has scored; "" if there are none.

    Parameters
    ----------
    names : sequence of str
        Names of items, or of contexts.
    code : int array, shape (anchors,) or (anchors, names of each)
        Codes of the names of each anchor.
    known : sequence of str
        Names in the judges' answers.
    where : str
        "about item", or "in context".
    answered : str
        Participle for the judges' answers, such as "scored".
    """
    unknown = [number for number, name in enumerate(names) if name not in set(known)]
    if not unknown:
        return ""
    rows = int(np.isin(code, unknown).reshape(len(code), -1).any(axis=1).sum())
    examples = known_names([names[number] for number in unknown])
    preposition, _, noun = where.partition(" ")
    article = "an" if noun[0] in "aeiou" else "a"
    subject = f"1 anchor is {preposition} {article} {noun}" if rows == 1 else f"{rows} anchors are {where}s"
    return f"{subject} that no judge has {answered} ({examples}{nearest_name(names[unknown[0]], known)})"


def match_contexts(
    contexts: Sequence[str], code: Ints, known: Sequence[str], answered: str, table: str
) -> tuple[Ints, list[str]]:
    """Find the panel's code of the context of each anchor, -1 for others; also return a note on these.

    Raises
    ------
    InputError
        No anchor is in a context of the panel.
    """
    codes = level_positions(contexts, known)[code]
    message = describe_unknown_anchors(contexts, code, known, "in context", answered)
    if message and (codes < 0).all():
        raise InputError(
            f"anchors: all {message}; name contexts as in the {table}, or leave the column out if people were asked "
            "about items as such"
        )
    return codes, [f"{message}: {UNKNOWN_CONTEXT_NOTE}"] if message else []


TWO_SCORE_SCALE = float(np.sqrt(2.0))  # scale of the difference of two noises, in units of the scale of one
PROBIT_SCALE = 1.702


@dataclass(frozen=True)
class Preference:
    """Model of people's answers to comparisons.

    Attributes
    ----------
    coin : float
        Probability that a person answers as it sees the items.
    scale : float
        Scale of the noise, in the unit of scores.
    """

    coin: float = 1.0
    scale: float = 1.0

    def better_item_probability(self, difference: Floats) -> Floats:
        """Compute the probability that the better of two items is preferred.

        Examples
        --------
        >>> Preference().better_item_probability(np.array([0.0, 1.0])).round(3).tolist()
        [0.5, 0.731]
        """
        p_better = logistic_sigmoid(np.asarray(difference) / self.scale, np)
        return np.asarray(1.0 - self.coin + (2.0 * self.coin - 1.0) * p_better)

    def information_per_answer(self, difference: float) -> float:
        """Compute the information of one answer about the difference.

        Examples
        --------
        >>> Preference().information_per_answer(0.0), Preference(scale=2.0).information_per_answer(0.0)
        (0.25, 0.0625)
        """
        p = float(self.better_item_probability(np.array(difference)))
        p_better = float(logistic_sigmoid(np.array(difference / self.scale), np))
        slope = (2.0 * self.coin - 1.0) * p_better * (1.0 - p_better) / self.scale
        return slope**2 / max(p * (1.0 - p), 1e-300)

    def over_contexts(self, variance: float) -> Preference:
        """Make the model for answers about different contexts, with this variance of the difference over contexts."""
        return replace(self, scale=float(np.sqrt(self.scale**2 + np.pi * variance / 8.0)))


def people_reliability(model: Model, values: Values) -> float:
    """Probability that people answer as they see items: from their answers, else the prior mean; 1 without a coin.

    Parameters
    ----------
    model : Model
    values : dict of array
        Values of the parameters: one draw, or the centre.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> round(people_reliability(load_model("crowd-bt"), {}), 2)
    0.95
    """
    if "anchor" in values:
        return float(logistic_sigmoid(np.asarray(values["anchor"]), np))
    if model.anchors is None or model.anchors.kind not in ANCHORS:
        return 1.0
    return float(logistic_sigmoid(np.array(ANCHORS[model.anchors.kind].expected(model.anchors.numbers)), np))
