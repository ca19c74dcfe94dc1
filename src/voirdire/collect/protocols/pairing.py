"""Pairs to compare, their order of presentation, repetitions, and the winner of several runs and orders."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from voirdire.collect.protocol import Item, Setting
from voirdire.errors import InputError
from voirdire.settings import Count, Size
from voirdire.simulate.designs import design_from_spec

#: Values of a vote's winner, which no item may have as its id.
OUTCOMES = ("first", "second", "tie")
TIE = OUTCOMES[2]

_T = TypeVar("_T")


@dataclass(frozen=True)
class PairOptions:
    """Options of every protocol that compares pairs.

    Attributes
    ----------
    evaluators : tuple of str
        Judges that compare; empty: all judges of the panel without another role. One name: the single-model
        variant.
    design : "all-pairs", "share" or "referenced"
        Every pair; a random connected share of the pairs; every item against the reference.
    share : float
        Share of the pairs, for the design "share".
    reference : str
        An item's id, for the design "referenced".
    order : "random", "fixed", "swap" or "random-by-criterion"
        Random for each judge, pair and run (the same for all criteria); as the items are listed; both orders,
        as two questions; random for each criterion, too.
    repeats : int
        Runs of each question.
    task : str
        Purpose of the texts.
    rubric : str
        The holistic rubric.
    longest : int
        Most characters of each free text in an answer; 0: no bound.

    Examples
    --------
    >>> PairOptions(order="swap").design
    'all-pairs'
    """

    evaluators: tuple[str, ...] = ()
    design: Literal["all-pairs", "share", "referenced"] = "all-pairs"
    share: float = 1.0
    reference: str = ""
    order: Literal["random", "fixed", "swap", "random-by-criterion"] = "random"
    repeats: Count = 1
    task: str = ""
    rubric: str = ""
    longest: Size = 0


def keyed_generator(seed: int, *key: str | int) -> np.random.Generator:
    """Return a random generator that depends only on the seed and the key.

    Examples
    --------
    >>> float(keyed_generator(1, "a").random()) == float(keyed_generator(1, "a").random())
    True
    """
    digest = hashlib.sha256(repr(key).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64([seed, *words]))


def items_by_context(items: Sequence[Item]) -> dict[str | None, list[Item]]:
    """Group items by context; only items of one context are compared.

    Examples
    --------
    >>> list(items_by_context([Item("a", "x"), Item("b", "y")]))
    [None]
    """
    groups: dict[str | None, list[Item]] = {}
    for item in items:
        groups.setdefault(item.context, []).append(item)
    return groups


def draw_pairs(setting: Setting, items: Sequence[Item]) -> list[tuple[Item, Item]]:
    """Draw the pairs of one context that all judges compare; the item listed earlier comes first.

    Raises
    ------
    InputError
        The design does not suit the number of items.

    Examples
    --------
    >>> items = tuple(Item(name, "text") for name in "abc")
    >>> setting = Setting((), items, PairOptions(design="referenced", reference="b"))
    >>> [(one.id, other.id) for one, other in draw_pairs(setting, items)]
    [('a', 'b'), ('b', 'c')]
    """
    options: PairOptions = setting.options
    if len(items) < 2:
        raise InputError("there is one item; give at least two to compare")
    spec: dict[str, object] = {"kind": options.design}
    if options.design == "share":
        spec |= {"share": options.share, "connect": "tree"}
    if options.design == "referenced":
        names, reference = [item.id for item in items], options.reference
        if reference not in names:
            raise InputError(f"option reference: {reference!r} is none of the items; give an item's id")
        spec |= {"reference": names.index(reference)}
    design = design_from_spec(spec)
    if problems := design.design_problems(len(items)):
        raise InputError(problems)
    rng = keyed_generator(setting.seed, "pairs", items[0].context or "")
    return [(items[i], items[j]) for i, j in design.compared_pairs(len(items), rng)]


def order_pairs(
    setting: Setting, pairs: Sequence[tuple[_T, _T]], judge: str, criterion: str, group: str
) -> list[tuple[_T, _T, int]]:
    """List one judge's questions by one criterion, runs x pairs x orders, as (first shown, second shown, run).

    Examples
    --------
    >>> [pair[:2] for pair in order_pairs(Setting((), (), PairOptions(order="swap")), ["ab"], "ann", "style", "")]
    [('a', 'b'), ('b', 'a')]
    """
    options: PairOptions = setting.options
    key = (criterion,) if options.order == "random-by-criterion" else ()
    rng = keyed_generator(setting.seed, "order", judge, group, *key)
    coins = rng.random((options.repeats, len(pairs))) < 0.5
    ordered: list[tuple[_T, _T, int]] = []
    for run in range(1, options.repeats + 1):
        for (first, second), coin in zip(pairs, coins[run - 1], strict=True):
            swapped = options.order.startswith("random") and coin
            ordered.append((second, first, run) if swapped else (first, second, run))
            if options.order == "swap":
                ordered.append((second, first, run))
    return ordered


def pair_problems(setting: Setting) -> list[str]:
    """Return the faults of the items and the design, one sentence each.

    Examples
    --------
    >>> pair_problems(Setting((), (Item("a", "x"), Item("tie", "y")), PairOptions()))
    ["items: id 'tie' is what a vote's winner may be called; rename the item"]
    """
    problems = [
        f"items: id {item.id!r} is what a vote's winner may be called; rename the item"
        for item in setting.items
        if item.id in OUTCOMES
    ]
    for context, items in items_by_context(setting.items).items():
        try:
            draw_pairs(setting, items)
        except InputError as error:
            prefix = "items" if context is None else f"context {context!r}"
            problems += [f"{prefix}: {problem}" for problem in error.problems]
    return list(dict.fromkeys(problems))


def orders_of_pair(options: PairOptions) -> int:
    """Return the number of questions to a judge about a pair by one criterion.

    Examples
    --------
    >>> orders_of_pair(PairOptions(order="swap", repeats=3))
    6
    """
    return (2 if options.order == "swap" else 1) * options.repeats


def count_questions(setting: Setting) -> int:
    """Count the questions to one judge by one criterion.

    Examples
    --------
    >>> count_questions(Setting((), (Item("a", "x"), Item("b", "y"), Item("c", "z")), PairOptions()))
    3
    """
    pairs = sum(len(draw_pairs(setting, items)) for items in items_by_context(setting.items).values())
    return pairs * orders_of_pair(setting.options)


def majority_of_runs(answers: Sequence[str | None]) -> str | None:
    """Return the answer of more than half of the runs, else "tie"; None if missing answers could change the result.

    Examples
    --------
    >>> majority_of_runs(["a", "b", "a"]), majority_of_runs(["a", "b", "tie"])
    ('a', 'tie')
    >>> majority_of_runs(["a", "a", None]), majority_of_runs(["a", "b", None])
    ('a', None)
    """
    counts = Counter(answer for answer in answers if answer is not None)
    missing = len(answers) - counts.total()
    best, count = max(counts.items(), key=lambda entry: entry[1], default=(TIE, 0))
    if 2 * count > len(answers):
        return best
    # a tie is certain only if the missing answers cannot make a majority
    max_count = max((count for answer, count in counts.items() if answer != TIE), default=0)
    return TIE if 2 * (max_count + missing) <= len(answers) else None


def winner_of_both_orders(first_order: str | None, second_order: str | None) -> str | None:
    """Return the winner in both orders (named by item, not by position), "tie" if they differ, None if unknown.

    Examples
    --------
    >>> [winner_of_both_orders(*one) for one in (("a", "a"), ("a", "b"), ("tie", None), ("a", None))]
    ['a', 'tie', 'tie', None]
    """
    if first_order is None or second_order is None:
        return TIE if TIE in (first_order, second_order) else None
    return first_order if first_order == second_order else TIE
