"""The verb ``decide``: the best items, the cost of choosing one, and the answers that would separate them.

The rule (:mod:`.pairs`) is the same for every report and table: items share the first place unless another is
distinguishably better; all statements about pairs are right together with probability (1 + prob) / 2, the level of
either end of an interval of probability ``prob``.

The posterior alone determines the cost of a choice: the expected loss of an item is the mean, over draws, of the
difference between the best item and it. Scores are posterior medians, shrunk towards the items' mean according to their
uncertainty, the leader's too: its selection as the highest needs no further correction (Efron 2011, Journal of the
American Statistical Association 106).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.decide.choice_cost import (
    Choice,
    cheapest_choice,
    expected_loss,
    information_growth_factor,
    people_needed,
    read_prices,
)
from voirdire.decide.pairs import Pairs, average_tied_pairs, compare_pairs
from voirdire.errors import InputError
from voirdire.kinds.kind import Entrants
from voirdire.kinds.people import Preference
from voirdire.kinds.registry import kind_of
from voirdire.model.problem import TARGET, Problem
from voirdire.tables.encode import level_positions
from voirdire.tables.numbers import count_in_words
from voirdire.typing import Floats, Ints

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

MAX_ITEMS = 500  # largest number of items that are compared: the likeliest to be best
MAX_NAMED = 5  # largest number of items named in a sentence
PEOPLE_ANSWERS = "answers of people"


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision about the items of a fit (or about systems, where items are their answers).

    Attributes
    ----------
    items : tuple of str
        Best first.
    first : tuple of str
        Items that share the first place.
    row : dict
        The first of them, as in the ranking: item, score, low, high, p_best, ...
    pairs : Pairs
        Comparisons of ``items``, in their order.
    loss : array, shape (items,)
        Expected loss of choosing each, in the unit of scores.
    level : float
        Probability that all statements are right.
    left_out : int
        Number of items that were not compared, because too many others are likelier to be the best.
    next : list of dict
        Alternatives that would each separate the first place: ``of`` ("votes" of the same kind, "contexts" or "judges"
        with as many answers as the present ones) and ``more``, their number (None: more than 100 times the present
        number, or scores are about people, about whom more judges' answers add nothing). Where scores are about
        people, the last alternative is "answers of people" to which is better, the leader or one of the others that
        share its place.
    choice : Choice or None
        The cheapest item that is not worse by more than a margin, where prices were given.
    called : str
        Word for the items: "items", or "systems" whose answers are the items of the fit.
    """

    items: tuple[str, ...]
    first: tuple[str, ...]
    row: dict[str, Any]
    pairs: Pairs
    loss: Floats
    level: float
    left_out: int = 0
    next: list[dict[str, Any]] = field(default_factory=list)
    choice: Choice | None = None
    called: str = "items"

    @property
    def rule(self) -> str:
        """The rule in one sentence."""
        left_out_note = f"; of {self.left_out:,} further items none was compared" if self.left_out else ""
        return (
            "An item shares the first place unless another is distinguishably better; all statements about pairs are "
            f"right together with probability {self.level:.4g} (max-t){left_out_note}."
        )

    @property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """Highest and lowest rank that all statements together allow, by item."""
        low, high = self.pairs.ranks
        high = high + self.left_out
        return {item: (int(a), int(b)) for item, a, b in zip(self.items, low, high, strict=True)}

    def sentence(self, name: Callable[[str], str] = str) -> str:
        """Name the items that share the first place; ``name`` formats a name.

        Examples
        --------
        >>> import pandas as pd
        >>> from voirdire.fit.verb import fit
        >>> votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 60 + ["y"] * 4})
        >>> fit(votes, model="bradley-terry").decide().sentence()
        'x is the best of 2 items, distinguishable from all others.'
        """
        leader, size = name(self.row["item"]), len(self.items) + self.left_out
        if size == 1:
            return f"{leader} is the only item."
        if len(self.first) == 1:
            return f"{leader} is the best of {size:,} {self.called}, distinguishable from all others."
        unnamed_count = len(self.first) - MAX_NAMED
        first_names = ", ".join(map(name, self.first[:MAX_NAMED])) + (
            f" and {unnamed_count:,} more" if unnamed_count > 0 else ""
        )
        cost = f"{self.loss[self.items.index(self.row['item'])]:.2g}"
        return (
            f"{len(self.first):,} of {size:,} {self.called} share the first place ({first_names}); choosing {leader} "
            f"costs {cost} on average against the best."
        )

    def settle(self) -> str:
        """Describe the answers that would separate the first place; empty where it is decided."""
        if not self.next:
            return ""
        counts = [count_in_words(round_up(row["more"]), f"more {row['of']}") for row in self.next if row["more"]]
        if not counts:
            return "No number of further answers of this kind is known to settle it."
        return (
            f"About {' or '.join(counts)}{self._people_sentence()} would settle it if the differences are what they "
            "seem now. They may be smaller: voirdire plan TABLE --apart top says how many answers make up for that."
        )

    def _people_sentence(self) -> str:
        """Describe the question for people, where ``next`` has one."""
        last, others = self.next[-1], len(self.first) - 1
        if last["of"] != PEOPLE_ANSWERS or not last["more"]:
            return ""
        other = "the other" if others == 1 else f"one of the {others:,} others"
        return f" to which is better, the leader or {other} in the first place,"

    def as_dict(self) -> dict[str, Any]:
        """The decision as a dict, as ``decision`` in ``voirdire fit --json``."""
        size = len(self.items)
        leader_scores = {name: self.row[name] for name in ("score", "low", "high", "p_best")}
        return {
            "first": list(self.first),
            "leader": self.row["item"],
            **leader_scores,
            "loss": float(self.loss[self.items.index(self.row["item"])]),
            "distinguishable": int(self.pairs.better.sum()),
            "pairs": size * (size - 1) // 2,
            "level": self.level,
            "ranks": {item: list(ends) for item, ends in self.ranks.items()},
            "rule": self.rule,
            "next": self.next,
            **({} if self.choice is None else {"choice": self.choice._asdict()}),
        }


def decide(fit: Fit, prices: Mapping[str, float] | object | None = None, margin: float = 0.0) -> Decision:
    """Decide which items of a fit share the first place, which are distinguishable, and what would separate them.

    Parameters
    ----------
    fit : Fit
        With scores and draws (any method but "map").
    prices : mapping, dataframe or path, optional
        Price of every item (columns item, price), to name the cheapest that is not worse than the best by more than
        ``margin``.
    margin : float
        In the unit of scores; above 0 where there are prices.

    Raises
    ------
    InputError
        The fit has no scores or no draws, or its items are not linked; prices are missing, negative or of others.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 9 + ["y"] * 7})
    >>> decision = decide(fit(votes, model="bradley-terry"), prices={"x": 3.0, "y": 1.0}, margin=1.5)
    >>> decision.first, decision.choice.item
    (('x', 'y'), 'y')
    """
    check_decidable(fit.problem)
    entrants = fit.kind.board_entrants(fit.problem, fit.posterior, fit.prob)
    order = level_positions((row["item"] for row in entrants.rows), entrants.names)
    draws, rows = entrants.draws[:, order], entrants.rows
    if len(order) > MAX_ITEMS:
        kept = np.sort(np.argsort(-np.quantile(draws, 0.99, axis=0), kind="stable")[:MAX_ITEMS])
        draws, rows = draws[:, kept], [rows[index] for index in kept]
    level = 0.5 * (1.0 + fit.prob)
    pairs = average_tied_pairs(compare_pairs(draws, level), _tied_item_groups(rows))
    items = tuple(row["item"] for row in rows)
    shared = np.flatnonzero(pairs.in_first_place)
    leader = int(shared[0])
    known_prices = None if prices is None else read_prices(prices, margin, entrants.names)
    return Decision(
        items,
        tuple(items[index] for index in shared),
        rows[leader],
        pairs,
        expected_loss(draws),
        level,
        len(order) - len(items),
        _answers_needed(fit, entrants, pairs, shared, items),
        None if known_prices is None else cheapest_choice(entrants.draws, known_prices, entrants.names, margin, level),
        "items" if set(entrants.names) <= set(fit.problem.items) else "systems",
    )


def check_decidable(problem: Problem, prices: Mapping[str, float] | None = None, margin: float = 0.0) -> None:
    """Refuse problems without a decision, and prices that do not match its items; needs no fit.

    Raises
    ------
    InputError
        Items are not linked; prices are missing, negative or of unknown items.
    """
    kind = kind_of(problem)
    if kind.has_unlinked_pairs(problem):
        raise InputError(
            "each of these pairs of items stands by itself: no vote links it with another, so no item is first of all; "
            "collect votes between the pairs, or give people's answers to some (anchors=, --anchors): pairs() then has "
            "the probability of each pair"
        )
    if prices is not None:
        read_prices(prices, margin, kind.board_names(problem))


def _tied_item_groups(rows: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Groups of items with the same results to the last digit, as indices.

    See :mod:`voirdire.kinds.twins`.
    """
    places: dict[tuple[Any, ...], list[int]] = {}
    for index, row in enumerate(rows):
        places.setdefault(tuple(row[name] for name in ("score", "low", "high", "p_best")), []).append(index)
    return [group for group in places.values() if len(group) > 1]


def round_up(count: int) -> int:
    """Round a count up to two significant digits."""
    unit: int = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // unit) * unit


def is_about_people(fit: Fit) -> bool:
    """True where scores are about people's opinion, about which more judges' answers add nothing."""
    return fit.problem.about == TARGET and fit.kind.has_scores(fit.problem)


def people_needed_between(
    fit: Fit, item_pair: tuple[str, str], median: float, deviation: float, t: float
) -> float | None:
    """Count people's answers until two items are distinguishable; None where no number suffices."""
    preference = people_preference(fit, item_pair)
    return None if preference is None else people_needed(median, deviation, t, preference)


def people_preference(fit: Fit, item_pair: tuple[str, str]) -> Preference | None:
    """Distribution of people's answers to which of two items is better, each in a new context if there are contexts."""
    preference = fit.kind.people_preference(fit.problem, fit.posterior)
    if preference is None:
        return None
    return preference.over_contexts(fit.kind.context_difference_variance(fit.problem, fit.posterior, item_pair))


def _answers_needed(
    fit: Fit, entrants: Entrants, pairs: Pairs, shared: Ints, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Find the answers that make the leader distinguishable from all others that share the first place."""
    leader, *others = shared.tolist()
    if not others:
        return []
    counts = fit.kind.named_counts(fit.problem)
    available = {next(iter(counts)) if len(counts) == 1 else "answers": sum(counts.values())}
    available |= {"contexts": entrants.contexts} if entrants.contexts else {}
    available |= {"judges": len(fit.problem.judges)}
    if is_about_people(fit):
        needed = [people_needed_between(fit, (names[leader], names[i]), *pairs.gap_between(leader, i)) for i in others]
        people = (
            None if None in needed else sum(ceil(people_count) for people_count in needed if people_count is not None)
        )
        return [{"of": unit, "more": None} for unit in available] + [{"of": PEOPLE_ANSWERS, "more": people}]
    between = cache(
        lambda i: deviation_between_contexts(
            fit, entrants, (names[leader], names[i]), float(pairs.deviation[leader, i])
        )
    )
    factors = {
        unit: _largest_factor(pairs, leader, others, between if unit == "judges" else (lambda i: 0.0))
        for unit in available
    }
    return [
        {"of": unit, "more": None if factor is None else ceil((factor - 1.0) * available[unit])}
        for unit, factor in factors.items()
    ]


def _largest_factor(pairs: Pairs, leader: int, others: list[int], irreducible: Callable[[int], float]) -> float | None:
    """Factor on answers, contexts or judges that distinguishes the leader from all others; None where too large.

    ``irreducible`` gives the part of a standard deviation that remains: more judges in the same contexts do not reduce
    the variation between contexts.
    """
    worst = 1.0
    for i in others:
        median, deviation, t = pairs.gap_between(leader, i)
        factor = information_growth_factor(median, deviation, t, irreducible(i))
        if factor is None:
            return None
        worst = max(worst, factor)
    return worst


def deviation_between_contexts(fit: Fit, entrants: Entrants, items: tuple[str, str], s: float) -> float:
    """Part of the standard deviation ``s`` of a difference that more answers in the same contexts do not reduce."""
    if not entrants.contexts or getattr(fit.problem.density, "over", "new") == "these":
        return 0.0
    between = fit.kind.context_difference_variance(fit.problem, fit.posterior, items)
    return float(np.sqrt(min(between / entrants.contexts, s * s)))
