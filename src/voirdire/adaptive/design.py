"""Order of questions without prior answers: cyclic or random, and starting questions that connect all items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from voirdire.typing import Ints

if TYPE_CHECKING:
    import pandas as pd

Design: TypeAlias = Literal["adaptive", "cyclic", "random"]
MIN_STARTING_QUESTIONS = 2  # fewest starting questions for each judge


def design_order(questions: pd.DataFrame, design: Design, seed: int) -> Ints:
    """Order all questions by a design, shape (questions,).

    Cyclic: items are arranged on a ring in random order. Neighbours are compared first, then items two apart, and so
    on, each pair by one judge, with judges in turn. Then every pair is compared by the next judge (or in the other
    order, or again), and so on. Equivalent questions come in random order. Random: all questions in random order.
    The seed determines all random orders.

    Parameters
    ----------
    questions : dataframe
        Columns judge, first, second and optionally context, criterion.

    Examples
    --------
    >>> import pandas as pd
    >>> pairs = [("x", "y"), ("x", "z"), ("y", "z")]
    >>> table = pd.DataFrame([(judge, *pair) for judge in "ab" for pair in pairs], columns=["judge", "first", "second"])
    >>> asked = table.iloc[design_order(table, "cyclic", 0)[:3]]
    >>> sorted(zip(asked["first"], asked["second"])), sorted(set(asked["judge"]))
    ([('x', 'y'), ('x', 'z'), ('y', 'z')], ['a', 'b'])
    """
    rng = np.random.default_rng(seed)
    if design == "random":
        return rng.permutation(len(questions)).astype(np.int64)
    blocks = list(zip(*(questions[name] for name in ("context", "criterion") if name in questions), strict=True))
    blocks = blocks or [()] * len(questions)
    rings = _ring_places(questions, blocks, rng)
    judges = {name: index for index, name in enumerate(dict.fromkeys(questions["judge"]))}
    distance, edge, turn = np.zeros((3, len(questions)), np.int64)
    pairs = zip(blocks, questions["judge"], questions["first"], questions["second"], strict=True)
    for row, (place, judge, first, second) in enumerate(pairs):
        ring = rings[place]
        low, high = sorted((ring[first], ring[second]))
        clockwise, counterclockwise = high - low, len(ring) - (high - low)
        distance[row], edge[row] = (min(clockwise, counterclockwise), low if clockwise <= counterclockwise else high)
        turn[row] = (judges[judge] - edge[row] - distance[row]) % len(judges)
    # equivalent questions (such as prompts of a table, which may be sorted by topic) in random order; then number each
    # question among its judge's questions on the pair, and among all on the pair, so that the next judge takes turn
    random_order = rng.permutation(len(questions))
    occurrence = _occurrence_numbers(random_order, [*zip(blocks, questions["judge"], distance, edge, strict=True)])
    level = _occurrence_numbers(
        np.lexsort((random_order, turn, occurrence)), [*zip(blocks, distance, edge, strict=True)]
    )
    return np.lexsort((random_order, edge, distance, level)).astype(np.int64)


def _occurrence_numbers(order: Ints, names: Sequence[Any]) -> Ints:
    """Number, from 0, of each row among the rows with its name, in the given order."""
    number, last_numbers = np.zeros(len(names), np.int64), dict[Any, int]()
    for row in order:
        number[row] = last_numbers[names[row]] = last_numbers.get(names[row], -1) + 1
    return number


def starting_questions(questions: pd.DataFrame, order: Ints) -> Ints:
    """Choose the starting questions, in the order of a design.

    A question is chosen if it connects two items, or if its judge has fewer than ``MIN_STARTING_QUESTIONS``. The
    answers then connect all items that questions can connect, and every judge is asked.

    Parameters
    ----------
    order : int array
        Order of the design, see `design_order`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "a", "first": ["x", "x", "y"], "second": ["y", "z", "z"]})
    >>> starting_questions(table, np.arange(3)).tolist()
    [0, 1]
    """
    separate = "criterion" in questions
    parents: dict[tuple[object, str], tuple[object, str]] = {}

    def find_root(node: tuple[object, str]) -> tuple[object, str]:
        while (parent := parents.get(node, node)) != node:
            node = parent
        return node

    asked_count: dict[str, int] = {}
    chosen = []
    columns = [questions[name].tolist() for name in ("judge", "first", "second")]
    criteria = questions["criterion"].tolist() if separate else [None] * len(questions)
    for row in order:
        judge, first, second = (column[row] for column in columns)
        first_root, second_root = find_root((criteria[row], first)), find_root((criteria[row], second))
        if first_root != second_root or asked_count.get(judge, 0) < MIN_STARTING_QUESTIONS:
            parents[first_root] = second_root
            asked_count[judge] = asked_count.get(judge, 0) + 1
            chosen.append(int(row))
    return np.array(chosen, np.int64)


def linkable_groups(questions: pd.DataFrame) -> list[list[str]]:
    """Group the items that questions can connect, in the order of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> linkable_groups(pd.DataFrame({"judge": "a", "first": ["x", "v"], "second": ["y", "w"]}))
    [['x', 'y'], ['v', 'w']]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    items = list(
        dict.fromkeys(item for pair in zip(questions["first"], questions["second"], strict=True) for item in pair)
    )
    code = {item: index for index, item in enumerate(items)}
    ends = [[code[item] for item in questions[name]] for name in ("first", "second")]
    links = coo_array((np.ones(len(questions)), tuple(ends)), shape=(len(items), len(items)))
    group = connected_components(links, directed=False)[1]
    groups: dict[int, list[str]] = {}
    for item, number in zip(items, group, strict=True):
        groups.setdefault(int(number), []).append(item)
    return list(groups.values())


def _ring_places(
    questions: pd.DataFrame, blocks: Sequence[tuple[object, ...]], rng: np.random.Generator
) -> dict[tuple[object, ...], dict[str, int]]:
    """Position of every item on the ring of its context and criterion."""
    items: dict[tuple[object, ...], dict[str, None]] = {}
    for place, first, second in zip(blocks, questions["first"], questions["second"], strict=True):
        items.setdefault(place, {}).update({first: None, second: None})
    return {
        place: {sorted(names)[index]: ring_position for ring_position, index in enumerate(rng.permutation(len(names)))}
        for place, names in items.items()
    }
