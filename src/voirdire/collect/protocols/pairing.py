"""Pairs that are compared, in which order they are shown, and how often."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from voirdire.collect.protocol import Item, Setting
from voirdire.errors import InputError
from voirdire.settings import Count, Size
from voirdire.simulate.designs import design_from_spec

#: Ids that a vote's winner could be mistaken for.
OUTCOMES = ("first", "second", "tie")

Order = Literal["random", "fixed", "swap", "random-by-criterion"]


@dataclass(frozen=True)
class PairOptions:
    """Options of every protocol that compares pairs.

    Attributes
    ----------
    evaluators : tuple of str
        Judges that compare; none named: all of the panel but those with another part. One name: the
        single-model variant.
    design : "all-pairs", "share" or "referenced"
        Every pair; a random connected share of the pairs; every item against the reference.
    share : float
        Of the pairs, for the design "share".
    reference : str
        An item's id, for the design "referenced".
    order : "random", "fixed", "swap" or "random-by-criterion"
        Drawn for each judge, pair and run (the same under every criterion, or for each criterion too); as the
        items are listed; both orders, two questions.
    repeats : int
        Runs of each question.
    task : str
        What the texts were written for.
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
    order: Order = "random"
    repeats: Count = 1
    task: str = ""
    rubric: str = ""
    longest: Size = 0


class Pair(NamedTuple):
    """A question about two things, in the order shown; ``place`` numbers the pairs of the design."""

    first: int
    second: int
    run: int
    place: int


def keyed_generator(seed: int, *key: str | int) -> np.random.Generator:
    """Random numbers that depend on the seed and the key alone.

    Examples
    --------
    >>> float(keyed_generator(1, "a").random()) == float(keyed_generator(1, "a").random())
    True
    """
    digest = hashlib.sha256(repr(key).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64([seed, *words]))


def items_by_context(items: Sequence[Item]) -> dict[str | None, list[Item]]:
    """Items that may be compared with each other: those of one context.

    Examples
    --------
    >>> list(items_by_context([Item("a", "x"), Item("b", "y")]))
    [None]
    """
    groups: dict[str | None, list[Item]] = {}
    for item in items:
        groups.setdefault(item.context, []).append(item)
    return groups


def draw_pairs(options: PairOptions, items: Sequence[Item], seed: int) -> list[tuple[int, int]]:
    """The pairs (i, j) of items of one context that all judges compare, the lower index first.

    Raises
    ------
    InputError
        The design does not suit the number of items.

    Examples
    --------
    >>> items = [Item(name, "text") for name in "abc"]
    >>> draw_pairs(PairOptions(design="referenced", reference="b"), items, 0)
    [(0, 1), (1, 2)]
    """
    spec: dict[str, object] = {"kind": options.design}
    if options.design == "share":
        spec |= {"share": options.share, "connect": "tree"}
    if options.design == "referenced":
        names = [item.id for item in items]
        if options.reference not in names:
            raise InputError(
                f"option reference: {options.reference!r} is none of the items; give an item's id"
            )
        spec |= {"reference": names.index(options.reference)}
    design = design_from_spec(spec)
    found = design.design_problems(len(items))
    if found:
        raise InputError(found)
    pairs = design.compared_pairs(len(items), keyed_generator(seed, "pairs", items[0].context or ""))
    return [(int(i), int(j)) for i, j in pairs]


def order_pairs(
    options: PairOptions, pairs: Sequence[tuple[int, int]], seed: int, judge: str, criterion: str, group: str
) -> list[Pair]:
    """One judge's questions by one criterion: runs x pairs x orders.

    Examples
    --------
    >>> [pair[:2] for pair in order_pairs(PairOptions(order="swap"), [(0, 1)], 0, "ann", "style", "")]
    [(0, 1), (1, 0)]
    """
    key = (criterion,) if options.order == "random-by-criterion" else ()
    coins = keyed_generator(seed, "order", judge, group, *key).random((options.repeats, len(pairs))) < 0.5
    found: list[Pair] = []
    for run in range(1, options.repeats + 1):
        for place, (i, j) in enumerate(pairs):
            turned = options.order.startswith("random") and bool(coins[run - 1, place])
            orders = [(i, j), (j, i)] if options.order == "swap" else [(j, i) if turned else (i, j)]
            found.extend(Pair(first, second, run, place) for first, second in orders)
    return found


def pair_problems(setting: Setting, options: PairOptions) -> list[str]:
    """Faults of the items and the design, one sentence each.

    Examples
    --------
    >>> pair_problems(Setting((), (Item("a", "x"), Item("tie", "y"))), PairOptions())
    ["items: id 'tie' is what a vote's winner may be called; rename the item"]
    """
    found = [
        f"items: id {item.id!r} is what a vote's winner may be called; rename the item"
        for item in setting.items
        if item.id in OUTCOMES
    ]
    for context, items in items_by_context(setting.items).items():
        where = "items" if context is None else f"context {context!r}"
        if len(items) < 2:
            found.append(f"{where}: there is one item; give at least two to compare")
            continue
        try:
            draw_pairs(options, items, setting.seed)
        except InputError as error:
            found.extend(f"{where}: {problem}" for problem in error.problems)
    return list(dict.fromkeys(found))


def orders_of_pair(options: PairOptions) -> int:
    """How often a judge is asked about a pair by one criterion.

    Examples
    --------
    >>> orders_of_pair(PairOptions(order="swap", repeats=3))
    6
    """
    return (2 if options.order == "swap" else 1) * options.repeats


def count_questions(setting: Setting, options: PairOptions) -> int:
    """Questions of one judge by one criterion.

    Examples
    --------
    >>> count_questions(Setting((), (Item("a", "x"), Item("b", "y"), Item("c", "z"))), PairOptions())
    3
    """
    pairs = sum(
        len(draw_pairs(options, items, setting.seed)) for items in items_by_context(setting.items).values()
    )
    return pairs * orders_of_pair(options)
