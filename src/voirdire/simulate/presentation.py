"""Presentation of a truth by a design: the list of comparisons, and the sheet of questions of each judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voirdire.simulate.designs.base import Design
from voirdire.simulate.graph import all_pairs
from voirdire.simulate.questions import (
    UNANSWERED,
    FloatArray,
    IntArray,
    Outcomes,
    Questions,
    swap_outcomes,
    swap_probabilities,
)
from voirdire.simulate.truth import Truth
from voirdire.typing import Bools

Numbers: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """The n comparisons that the panel as a whole is asked, as rows before any judge's own order.

    Items first, criterion by criterion; then, from row ``of_items`` on, the comparisons of criteria, in which
    ``first`` and ``second`` index criteria and ``criterion`` is 0.

    Attributes
    ----------
    criterion, first, second, pair, run : (n,) int
        ``pair`` numbers the design's pairs; for a comparison of criteria it is -1.
    context : (n,) int or None
        None where the design has no contexts.
    questions : Questions
        All n, in the order of presentation of the rows.
    of_items : int
        The number of rows that compare items.
    """

    criterion: IntArray
    first: IntArray
    second: IntArray
    pair: IntArray
    run: IntArray
    context: IntArray | None
    questions: Questions
    of_items: int


def build_comparisons(design: Design, truth: Truth, pairs: IntArray) -> Comparisons:
    """All comparisons of a design: criteria x runs x pairs x orders, and those of the criteria.

    Parameters
    ----------
    design : Design
    truth : Truth
        Of C criteria and N items.
    pairs : (P, 2) int
        What ``design.pairs`` gave.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate import AllPairs
    >>> truth = Truth(("a", "b", "c"), ("x", "y"), np.eye(2, 3), np.zeros(2), np.zeros(3))
    >>> asked = build_comparisons(AllPairs(order="swap"), truth, AllPairs().compared_pairs(3, np.random.default_rng(0)))
    >>> asked.of_items, len(asked.first)
    (12, 14)
    """
    criteria = len(truth.criteria)
    first, second, pair, run = _comparison_rows(design, pairs)
    block = len(first)
    asks_criteria = design.criteria_votes and criteria > 1
    criteria_pairs = all_pairs(criteria) if asks_criteria else np.empty((0, 2), dtype=np.int64)
    first_c, second_c, _, run_c = _comparison_rows(design, criteria_pairs)

    pair_context = design.pair_contexts(len(pairs))
    place = (
        np.zeros(block, dtype=np.int64)
        if pair_context is None or truth.in_contexts is None
        else pair_context[pair]
    )
    strengths = truth.by_context
    scores = np.stack(
        [replace(truth, strengths=context_strengths).scores() for context_strengths in strengths]
    )
    gap = (strengths[place, :, first] - strengths[place, :, second]).T.ravel()
    gap_c = truth.weights[first_c] - truth.weights[second_c]

    def under_all(of_items: Numbers, of_criteria: Numbers) -> Numbers:
        """Numbers of the rows of one criterion, under each of them, then those of the criteria."""
        return np.concatenate([np.tile(of_items, criteria), of_criteria])

    questions = Questions(
        gap=np.concatenate([gap, gap_c]),
        overall=under_all(scores[place, first] - scores[place, second], gap_c),
        length=under_all(truth.length[first] - truth.length[second], np.zeros(len(gap_c))),
        time=_question_times(len(gap) + len(gap_c)),
        alike=under_all(np.arange(block), block + np.arange(len(gap_c))),
    )
    zero = np.zeros(len(gap_c), dtype=np.int64)
    return Comparisons(
        criterion=np.concatenate([np.repeat(np.arange(criteria), block), zero]),
        first=under_all(first, first_c),
        second=under_all(second, second_c),
        pair=under_all(pair, zero - 1),
        run=under_all(run, run_c),
        context=None if pair_context is None else under_all(pair_context[pair], zero),
        questions=questions,
        of_items=len(gap),
    )


def _comparison_rows(design: Design, pairs: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """First, second, pair and run of the rows for one criterion: runs x pairs x orders."""
    orders = 2 if design.order == "swap" else 1
    pair = np.tile(np.repeat(np.arange(len(pairs)), orders), design.repeats)
    run = np.repeat(np.arange(design.repeats), len(pairs) * orders)
    first, second = pairs[pair].T
    if orders == 2:
        first, second = first.copy(), second.copy()
        first[1::2], second[1::2] = second[1::2].copy(), first[1::2].copy()
    return first, second, pair, run


def _questions_with_taste(asked: Comparisons, taste: FloatArray) -> Questions:
    """The questions as a judge with a taste sees them."""
    items = slice(asked.of_items)
    taste_gap = np.zeros(len(asked.first))
    taste_gap[items] = taste[asked.first[items]] - taste[asked.second[items]]
    questions = asked.questions
    return replace(questions, gap=questions.gap + taste_gap, overall=questions.overall + taste_gap)


def _question_times(n: int) -> FloatArray:
    return np.linspace(0.0, 1.0, n) if n > 1 else np.zeros(n)


@dataclass(frozen=True, eq=False)
class Sheet:
    """One judge's questions, and how they lie in the common list of comparisons.

    Attributes
    ----------
    rows : (m,) int or None
        The rows of the comparisons it is asked; None for all of them.
    flipped : (m,) bool or None
        Where it is shown the two items in the other order; None for nowhere.
    questions : Questions
        The m questions.
    """

    rows: IntArray | None
    flipped: Bools | None
    questions: Questions

    def align_outcomes(self, other: Sheet, outcomes: Outcomes, n: int) -> Outcomes:
        """The other judge's outcomes, as they read on this sheet (UNANSWERED where it was not asked).

        ``n`` is the length of the common list of comparisons.
        """
        return self._align(other, outcomes, np.full(n, UNANSWERED, dtype=np.int8), swap_outcomes)

    def align_chances(self, other: Sheet, chances: FloatArray, n: int) -> FloatArray:
        """The other judge's (3, .) chances, as they read on this sheet (0 where it was not asked)."""
        return self._align(other, chances, np.zeros((len(chances), n)), swap_probabilities)

    def _align(self, other: Sheet, values: Numbers, common: Numbers, swap: Callable[..., Numbers]) -> Numbers:
        """Values of the other judge on this sheet; ``common`` is what stands where nobody was asked."""
        if other.flipped is not None:
            values = swap(values, other.flipped)
        if other.rows is not None:
            common[..., other.rows] = values
            values = common
        if self.rows is not None:
            values = values[..., self.rows]
        return values if self.flipped is None else swap(values, self.flipped)


def make_judge_sheet(
    design: Design,
    asked: Comparisons,
    pairs: int,
    rng: np.random.Generator,
    taste: FloatArray | None = None,
) -> Sheet:
    """One judge's sheet: the pairs it answers, its order of presentation, its sequence.

    The generator is the judge's own; designs that leave nothing to chance do not touch it. With a ``taste``, shape
    (N,), items differ by as much more for this judge, by every criterion and so overall.
    """
    n = len(asked.first)
    questions = asked.questions if taste is None else _questions_with_taste(asked, taste)
    rows: IntArray | None = None
    flipped: Bools | None = None
    answered = design.answered_pairs(pairs, rng)
    if design.order == "random":
        coins = rng.random(int(questions.alike.max()) + 1) < 0.5
        flipped = coins[questions.alike]
    elif design.order == "random-by-criterion":
        flipped = rng.random(n) < 0.5
    if flipped is not None:
        questions = questions.with_items_swapped(np.where(flipped, -1.0, 1.0))
        if design.order != "random":
            # Shown the other way round, a question is another question to a criterion-blind judge.
            questions = replace(questions, alike=2 * questions.alike + flipped)
    if answered is not None:
        # The comparisons of criteria (pair -1) are everyone's.
        rows = np.flatnonzero(np.append(answered, True)[asked.pair])
        flipped = None if flipped is None else flipped[rows]
        questions = questions.take_rows(rows)
    if design.shuffle or rows is not None:
        time = _question_times(len(questions))
        questions = replace(questions, time=rng.permutation(time) if design.shuffle else time)
    return Sheet(rows, flipped, questions)
