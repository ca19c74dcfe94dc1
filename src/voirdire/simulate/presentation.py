"""Comparisons of a truth under a design: the common list, and the sheet of questions of each judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voirdire.simulate.designs.base import Design
from voirdire.simulate.graph import all_pairs
from voirdire.simulate.judges.base import (
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
    """Common list of the n comparisons of a panel, as rows in the order of the design.

    Comparisons of items are first, criterion by criterion. Comparisons of criteria begin at row ``of_items``; there
    ``first`` and ``second`` index criteria and ``criterion`` is 0.

    Attributes
    ----------
    criterion, first, second, pair, run : (n,) int
        Indices. ``pair`` is the number of the design's pair; -1 for a comparison of criteria.
    context : (n,) int or None
        Index of the context; None if the design has no contexts.
    questions : Questions
        The n questions, with the items in the order of ``first`` and ``second``.
    of_items : int
        Number of rows that compare items.
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
    """List all comparisons of a design: criteria x runs x pairs x orders, and those of the criteria.

    Parameters
    ----------
    design : Design
    truth : Truth
        Truth with C criteria and N items.
    pairs : (P, 2) int
        Result of ``design.compared_pairs``.

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
    place = np.zeros(block, dtype=np.int64) if pair_context is None or truth.in_contexts is None else pair_context[pair]
    strengths = truth.by_context
    scores = np.stack([replace(truth, strengths=context_strengths).overall_scores() for context_strengths in strengths])
    gap = (strengths[place, :, first] - strengths[place, :, second]).T.ravel()
    gap_c = truth.weights[first_c] - truth.weights[second_c]

    def under_all(item_values: Numbers, criterion_values: Numbers) -> Numbers:
        """Repeat the values of the rows of one criterion for each criterion, and append those of the criteria."""
        return np.concatenate([np.tile(item_values, criteria), criterion_values])

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
    """Return first, second, pair and run of the rows for one criterion: runs x pairs x orders."""
    orders = 2 if design.order == "swap" else 1
    pair = np.tile(np.repeat(np.arange(len(pairs)), orders), design.repeats)
    run = np.repeat(np.arange(design.repeats), len(pairs) * orders)
    first, second = pairs[pair].T
    if orders == 2:
        first, second = first.copy(), second.copy()
        first[1::2], second[1::2] = second[1::2].copy(), first[1::2].copy()
    return first, second, pair, run


def _questions_with_taste(comparisons: Comparisons, taste: FloatArray) -> Questions:
    """Return the questions as a judge with a taste perceives them."""
    items = slice(comparisons.of_items)
    taste_gap = np.zeros(len(comparisons.first))
    taste_gap[items] = taste[comparisons.first[items]] - taste[comparisons.second[items]]
    questions = comparisons.questions
    return replace(questions, gap=questions.gap + taste_gap, overall=questions.overall + taste_gap)


def _question_times(n: int) -> FloatArray:
    return np.linspace(0.0, 1.0, n) if n > 1 else np.zeros(n)


@dataclass(frozen=True, eq=False)
class Sheet:
    """Questions of one judge, with their rows in the common list of comparisons.

    Attributes
    ----------
    rows : (m,) int or None
        Rows of the judge's comparisons; None for all of them.
    flipped : (m,) bool or None
        True where the judge sees the two items in the other order; None for nowhere.
    questions : Questions
        The judge's m questions.
    """

    rows: IntArray | None
    flipped: Bools | None
    questions: Questions

    def align_outcomes(self, other: Sheet, outcomes: Outcomes, n: int) -> Outcomes:
        """Convert the other judge's outcomes to this sheet (UNANSWERED where that judge has no question).

        ``n`` is the length of the common list of comparisons.
        """
        return self._align(other, outcomes, np.full(n, UNANSWERED, dtype=np.int8), swap_outcomes)

    def align_chances(self, other: Sheet, probabilities: FloatArray, n: int) -> FloatArray:
        """Convert the other judge's (3, .) probabilities to this sheet (0 where that judge has no question)."""
        return self._align(other, probabilities, np.zeros((len(probabilities), n)), swap_probabilities)

    def _align(self, other: Sheet, values: Numbers, common: Numbers, swap: Callable[..., Numbers]) -> Numbers:
        """Convert values of the other judge to this sheet; ``common`` has the values for rows without a question."""
        if other.flipped is not None:
            values = swap(values, other.flipped)
        if other.rows is not None:
            common[..., other.rows] = values
            values = common
        if self.rows is not None:
            values = values[..., self.rows]
        return values if self.flipped is None else swap(values, self.flipped)


def make_judge_sheet(
    design: Design, comparisons: Comparisons, pairs: int, rng: np.random.Generator, taste: FloatArray | None = None
) -> Sheet:
    """Make the sheet of one judge: its pairs, their order of presentation, and their sequence.

    ``rng`` is the judge's own generator; designs without random choices do not use it. A ``taste``, shape (N,), is
    added to the strengths of the items for this judge under every criterion, and so to the overall scores.
    """
    n = len(comparisons.first)
    questions = comparisons.questions if taste is None else _questions_with_taste(comparisons, taste)
    kept_rows: IntArray | None = None
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
            # A question in the other order is a different question for a criterion-blind judge.
            questions = replace(questions, alike=2 * questions.alike + flipped)
    if answered is not None:
        # All judges have the comparisons of criteria (pair -1).
        kept_rows = np.flatnonzero(np.append(answered, True)[comparisons.pair])
        flipped = None if flipped is None else flipped[kept_rows]
        questions = questions.take_rows(kept_rows)
    if design.shuffle or kept_rows is not None:
        time = _question_times(len(questions))
        questions = replace(questions, time=rng.permutation(time) if design.shuffle else time)
    return Sheet(kept_rows, flipped, questions)
