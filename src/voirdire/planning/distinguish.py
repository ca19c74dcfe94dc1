"""Plan until two items are distinguishable: the number of further answers, from the posterior of a pilot table.

The difference of two items has the posterior median m and the standard deviation s (see
:class:`voirdire.decide.pairs.Pairs`). A part e of s does not decrease with more answers (for more votes or judges in
the same contexts, the part between contexts). With f times the answers the standard deviation is
s_f = (e^2 + (s^2 - e^2) / f)^(1/2). As a posterior mean is a martingale, the new median is Normal(m, s^2 - s_f^2). So
the items are distinguishable with probability

    P(f) = Phi((|m| - t s_f) / v) + Phi((-|m| - t s_f) / v),   v = (s^2 - s_f^2)^(1/2)

(expected power: O'Hagan, Stevens and Campbell 2005, Pharmaceutical Statistics 4), which allows for a smaller
difference than observed. With a margin d, the smallest difference that matters, answers also suffice if the
difference is surely not larger: |median| + t s_f <= d. This adds Phi((a - |m|) / v) - Phi((-a - |m|) / v) with
a = d - t s_f; if 2 t s_f <= d, one of the two results is certain. For scores about people, all of s remains for any
number of panel answers. People's answers to the comparison of the two items, n with information i each, give
f = 1 + n s^2 i.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.decide.choice_cost import MAX_GROWTH_FACTOR, MAX_PEOPLE, information_growth_factor, people_needed
from voirdire.decide.decision import (
    PEOPLE_ANSWERS,
    check_decidable,
    deviation_between_contexts,
    is_about_people,
    people_preference,
    round_up,
)
from voirdire.errors import InputError, raise_problems
from voirdire.kinds.registry import kind_of
from voirdire.settings import is_number
from voirdire.tables.numbers import count_in_words
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit
    from voirdire.model.problem import Problem

POWER = 0.8
PLANNED_PROBABILITY = 0.9  # planned, above POWER: the plan assumes the same t and a normal posterior


@dataclass(frozen=True)
class ApartPlan:
    """Result of :func:`plan_to_distinguish`.

    Attributes
    ----------
    items : tuple of str
        Names of the two items.
    rows : list of dict
        Alternative ways: ``of`` (the unit to add), ``there`` (the current number), ``more`` (the number to add; None if
        no number within 100 times the current one suffices) and ``probability`` (of a result then; with ``more`` None
        the largest), and ``seeming``, the number to add if the true difference equals the current median, as on boards.
    distinguishable : bool
        True if the items are distinguishable already.
    margin : float or None
        The smallest difference of scores that matters.
    within : bool
        True if the difference is surely within the margin already.
    """

    items: tuple[str, str]
    rows: list[dict[str, Any]]
    distinguishable: bool
    margin: float | None = None
    within: bool = False

    def __str__(self) -> str:
        first, second = self.items
        if self.distinguishable:
            return f"{first} and {second} are distinguishable already."
        if self.within:
            return f"{first} and {second} are within {self.margin:g} of each other already."
        settled = "distinguishable" + ("" if self.margin is None else f", or surely within {self.margin:g},")
        if alternatives := self._ways("more"):
            sentence = f"{first} and {second} are {settled} with probability {POWER:g} after about {alternatives}."
        else:
            sentence = (
                f"Nothing within {MAX_GROWTH_FACTOR:g} times the answers there are makes {first} and {second} "
                f"{settled} with probability {POWER:g}: take them as equal, or ask other judges."
            )
        if seeming := self._ways("seeming"):
            sentence += (
                " That allows for a smaller difference than the one seen so far; if the difference is as large as "
                f"seen so far, it takes about {seeming}."
            )
        return sentence

    def _ways(self, column: str) -> str:
        """Describe the alternatives with their counts."""
        counts = [(round_up(row[column]), f"more {row['of']}") for row in self.rows if row[column] is not None]
        return ", or ".join(count_in_words(*pair) for pair in counts)


def plan_to_distinguish(fit: Fit, apart: str | tuple[str, str] = "top", *, margin: float | None = None) -> ApartPlan:
    """Find the number of further votes, scores, rankings, contexts or judges that make two items distinguishable.

    Parameters
    ----------
    fit : Fit
        Fit of the pilot table, with draws.
    apart : "top" or two names
        The two items; by default the first two of the ranking.
    margin : float, optional
        The smallest difference of scores that matters; a difference that is surely within the margin is a result, too.

    Raises
    ------
    InputError
        If the fit has no scores or draws, fewer than two items, or not a named item, or the margin is not above 0.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 12 + ["y"] * 7})
    >>> found = plan_to_distinguish(fit(votes, model="bradley-terry"))
    >>> found.items, found.rows[0]["of"], found.rows[0]["more"] > 19
    (('x', 'y'), 'votes of this kind', True)
    """
    check_apart(fit.problem, apart, margin)
    decision = fit.decide()
    first, second = _item_places(decision.items, apart)
    items = decision.items[first], decision.items[second]
    is_done = bool(decision.pairs.better[first, second] or decision.pairs.better[second, first])
    if is_done:
        return ApartPlan(items, [], True, margin)
    m, s, t = decision.pairs.gap_between(first, second)
    if margin is not None and abs(m) + t * s <= margin:
        return ApartPlan(items, [], False, margin, True)
    matters = margin or 0.0
    entrants = fit.kind.board_entrants(fit.problem, fit.posterior, fit.prob)
    counts = fit.kind.named_counts(fit.problem)
    answers = next(iter(counts)) if len(counts) == 1 else "answers"
    total, judges = sum(counts.values()), len(fit.problem.judges)
    alternatives, stays = [(f"{answers} of this kind", total, 0.0)], 0.0
    if entrants.contexts:
        stays = deviation_between_contexts(fit, entrants, items, s)
        per_context = f"{round(total / entrants.contexts):,} {answers} each"
        alternatives = [(f"contexts, asked as much ({per_context})", entrants.contexts, 0.0)]
        alternatives += [(f"{answers} in the same contexts", total, stays)]
    alternatives += [(f"judges, asked as much ({round(total / judges):,} {answers} each)", judges, stays)]
    about_people, rows = is_about_people(fit), []
    for unit, count, stays in alternatives:
        part = s if about_people else stays
        factor, probability = _smallest_factor(abs(m), s, part, t, matters)
        additional, seeming = (
            None if growth is None else ceil((growth - 1.0) * count)
            for growth in (factor, information_growth_factor(m, s, t, part))
        )
        rows.append({"of": unit, "there": count, "more": additional, "probability": probability, "seeming": seeming})
    people = people_preference(fit, items) if about_people else None
    if people is not None:
        # information of an answer over that of the fit
        answer_information = s**2 * people.information_per_answer(abs(m))
        max_factor = 1.0 + MAX_PEOPLE * answer_information
        factor, probability = _smallest_factor(abs(m), s, 0.0, t, matters, max_factor)
        additional = None if factor is None else ceil((factor - 1.0) / answer_information)
        needed = people_needed(m, s, t, people)
        row = {"of": f"{PEOPLE_ANSWERS} about the two", "there": 0, "more": additional, "probability": probability}
        rows.append(row | {"seeming": None if needed is None else ceil(needed)})
    return ApartPlan(items, rows, False, margin)


def check_apart(problem: Problem, apart: str | tuple[str, str] = "top", margin: float | None = None) -> None:
    """Check a request of :func:`plan_to_distinguish` before a fit.

    Raises
    ------
    InputError
        As in :func:`plan_to_distinguish`.
    """
    if margin is not None and not (is_number(margin) and margin > 0.0):
        raise InputError(f"margin {margin!r} is not above 0 and finite; it is the smallest difference that matters")
    check_decidable(problem)
    _item_places(kind_of(problem).board_names(problem), apart)


def _item_places(names: tuple[str, ...], apart: str | tuple[str, str]) -> tuple[int, int]:
    if len(names) < 2:
        raise InputError("there is only one item; two are needed")
    if apart == "top":
        return 0, 1
    pair = tuple(part.strip() for part in apart.split(",")) if isinstance(apart, str) else tuple(apart)
    problems = [
        f"{name!r} is none of the {len(names)} items{nearest_name(name, names) or f'; known are {known_names(names)}'}"
        for name in pair
        if name not in names
    ]
    if len(pair) != 2 or pair[0] == pair[1]:
        problems.append(f"{apart!r} is not two items; write A,B, or top for the two that are ranked first")
    raise_problems(problems)
    return names.index(pair[0]), names.index(pair[1])


def _smallest_factor(
    m: float, s: float, constant_deviation: float, t: float, margin: float = 0.0, max_factor: float = MAX_GROWTH_FACTOR
) -> tuple[float | None, float]:
    """Smallest factor that reaches the planned probability, with its probability; else None and the largest one."""
    from scipy.special import ndtr

    f = np.geomspace(min(1.01, max_factor), max_factor, 2000)
    sd_left = np.sqrt(constant_deviation**2 + (s**2 - constant_deviation**2) / f)
    v = np.sqrt(np.maximum(s**2 - sd_left**2, 1e-300))
    p = ndtr((m - t * sd_left) / v) + ndtr((-m - t * sd_left) / v)
    inside = np.maximum(margin - t * sd_left, 0.0)
    p = np.where(inside >= t * sd_left, 1.0, p + ndtr((inside - m) / v) - ndtr((-inside - m) / v))
    reached = np.flatnonzero(p >= PLANNED_PROBABILITY)
    return (float(f[reached[0]]), float(p[reached[0]])) if len(reached) else (None, float(p.max()))
