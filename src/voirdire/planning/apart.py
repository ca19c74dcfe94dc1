"""Plan until two items are distinguishable: how many more answers a pilot table needs, by its own posterior.

By the rule of :mod:`voirdire.decide.prospects`, which decisions and boards go by, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from voirdire.decide.decision import (
    PEOPLE,
    deviation_between_contexts,
    is_about_people,
    people_preference,
)
from voirdire.decide.prospects import HOPELESS, POWER, least_growth_factor, people_needed
from voirdire.errors import InputError
from voirdire.tables.problems import nearest_name
from voirdire.tables.rated import known_names
from voirdire.tables.words import count_in_words

if TYPE_CHECKING:
    from voirdire.decide.decision import Decision
    from voirdire.kinds.fit import Fit


@dataclass(frozen=True)
class ApartPlan:
    """Result of :func:`plan_to_distinguish`.

    Attributes
    ----------
    items : tuple of str
        The two.
    rows : list of dict
        Ways to it, each by itself: ``of`` (what there would be more of), ``there`` (how many there are), ``more`` and
        ``probability`` (of being distinguishable then; with ``more`` None the highest within 100 times what there is).
    distinguishable : bool
        As it is.
    margin : float or None
        The smallest difference of scores that matters.
    within : bool
        As it is, the two are surely no further apart than that.
    """

    items: tuple[str, str]
    rows: list[dict[str, Any]]
    distinguishable: bool
    margin: float | None = None
    within: bool = False

    def __str__(self) -> str:
        one, other = self.items
        if self.distinguishable:
            return f"{one} and {other} are distinguishable already."
        if self.within:
            return f"{one} and {other} are within {self.margin:g} of each other already."
        settled = "distinguishable" + ("" if self.margin is None else f", or surely within {self.margin:g},")
        ways = [
            count_in_words(row["more"], f"more {row['of']}") for row in self.rows if row["more"] is not None
        ]
        if ways:
            return f"{one} and {other} are {settled} with probability {POWER:g} after {', or '.join(ways)}."
        return (
            f"Nothing within {HOPELESS:g} times the answers there are makes {one} and {other} {settled} with "
            f"probability {POWER:g}: take them as equal, or ask other judges."
        )


def plan_to_distinguish(
    fit: Fit, apart: str | tuple[str, str] = "top", *, margin: float | None = None
) -> ApartPlan:
    """Find how many more votes, scores or rankings, contexts or judges make two items distinguishable.

    Parameters
    ----------
    fit : Fit
        Of the pilot table, with draws.
    apart : "top" or two names
        By default the two that are ranked first.
    margin : float, optional
        The smallest difference that matters, in scores: items that are surely no further apart are settled, too.

    Raises
    ------
    InputError
        The fit has no scores or draws, or fewer than two items; an item that it does not have; a margin that is not
        above 0.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 12 + ["y"] * 7})
    >>> found = plan_to_distinguish(fit(votes, model="bradley-terry"))
    >>> found.items, found.rows[0]["of"], found.rows[0]["more"] > 19
    (('x', 'y'), 'votes of this kind', True)
    """
    if margin is not None and not 0.0 < margin < float("inf"):
        raise InputError(
            f"margin {margin} is not above 0 and finite; it is the smallest difference that matters"
        )
    decision = fit.decide()
    one, other = _item_places(decision, apart)
    items = decision.items[one], decision.items[other]
    done = bool(decision.pairs.better[one, other] or decision.pairs.better[other, one])
    if done:
        return ApartPlan(items, [], True, margin)
    m, s = float(decision.pairs.median[one, other]), float(decision.pairs.deviation[one, other])
    if margin is not None and abs(m) + decision.pairs.t * s <= margin:
        return ApartPlan(items, [], False, margin, True)
    matters = margin or 0.0
    entrants = fit.kind.board_entrants(fit.problem, fit.posterior, fit.prob)
    counts = fit.kind.named_counts(fit.problem)
    answers = next(iter(counts)) if len(counts) == 1 else "answers"
    total, judges = sum(counts.values()), len(fit.problem.judges)
    ways, stays = [(f"{answers} of this kind", total, 0.0)], 0.0
    if entrants.contexts:
        stays = deviation_between_contexts(fit, entrants, items, s)
        each = f"{round(total / entrants.contexts):,} {answers} each"
        ways = [(f"contexts, asked as much ({each})", entrants.contexts, 0.0)]
        ways += [(f"{answers} in the same contexts", total, stays)]
    ways += [(f"judges, asked as much ({round(total / judges):,} {answers} each)", judges, stays)]
    about_people, rows = is_about_people(fit), []
    for of, there, stays in ways:
        part = s if about_people else stays
        factor, probability = least_growth_factor(m, s, decision.pairs.t, part, matters)
        more = None if factor is None else ceil((factor - 1.0) * there)
        rows.append({"of": of, "there": there, "more": more, "probability": probability})
    people = people_preference(fit, items) if about_people else None
    if people is not None:
        count, probability = people_needed(m, s, decision.pairs.t, people, matters)
        more = None if count is None else ceil(count)
        rows.append({"of": f"{PEOPLE} about the two", "there": 0, "more": more, "probability": probability})
    return ApartPlan(items, rows, False, margin)


def _item_places(decision: Decision, apart: str | tuple[str, str]) -> tuple[int, int]:
    names = decision.items
    if len(names) < 2:
        raise InputError("there is one item, so there are no two to be distinguishable")
    if apart == "top":
        return 0, 1
    two = tuple(part.strip() for part in apart.split(",")) if isinstance(apart, str) else tuple(apart)
    problems = [
        f"{one!r} is none of the {len(names)} items{nearest_name(one, names) or f'; known are {known_names(names)}'}"
        for one in two
        if one not in names
    ]
    if len(two) != 2 or two[0] == two[1]:
        problems.append(f"{apart!r} is not two items; write A,B, or top for the two that are ranked first")
    if problems:
        raise InputError(problems)
    return names.index(two[0]), names.index(two[1])
