"""Connectivity equals a brute-force search, and Ford's condition decides whether the estimate exists."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from voirdire.tables import Votes, read_votes
from voirdire.tables.graph import Connectivity, graph_components, graph_connectivity

ITEMS = tuple("abcdef")

votes_of_few_items = st.lists(
    st.tuples(st.permutations(ITEMS).map(lambda order: order[:2]), st.sampled_from(["first", "second", "tie"])),
    min_size=1,
    max_size=14,
).map(lambda rows: (row[0] + [row[1]] for row in rows))


def read(rows: object) -> Votes:
    frame = pd.DataFrame(list(rows), columns=["first", "second", "winner"]).assign(judge="j")
    return read_votes(frame)


def beats(votes: Votes) -> set[tuple[str, str]]:
    """Who was preferred to whom, or tied with whom."""
    edges = set()
    for cell, outcome in zip(votes.row_cell, votes.row_outcome, strict=True):
        first, second = votes.items[votes.first[cell]], votes.items[votes.second[cell]]
        if outcome in (0, 2):
            edges.add((first, second))
        if outcome in (1, 2):
            edges.add((second, first))
    return edges


def splits(items: tuple[str, ...]) -> list[set[str]]:
    """All subsets that are neither empty nor everything."""
    return [set(part) for part in chain(*(combinations(items, size) for size in range(1, len(items))))]


@given(rows=votes_of_few_items)
def test_against_every_split_of_the_items(rows: object) -> None:
    votes = read(rows)
    edges = beats(votes)
    (found,) = graph_connectivity(votes)
    assert found.criterion == "overall"

    def crosses(part: set[str]) -> bool:
        return any(winner in part and loser not in part for winner, loser in edges)

    # Ford: in every split of the items into two sets, each set has an item that beat one of the other.
    assert found.strongly_connected == all(crosses(part) for part in splits(votes.items))

    # A component is a smallest set that no vote leaves.
    closed = [
        part
        for part in [*splits(votes.items), set(votes.items)]
        if not any((one in part) != (other in part) for one, other in edges)
    ]
    smallest = {frozenset(part) for part in closed if not any(other < part for other in closed)}
    assert {frozenset(group) for group in found.components} == smallest
    assert sorted(chain(*found.components)) == list(votes.items)
    assert [len(group) for group in found.components] == sorted(map(len, found.components), reverse=True)

    # A group that always wins is a smallest one that is beaten by none outside, in a component with others.
    component = {item: group for group in found.components for item in group}
    for named, sign in ((found.always_win, 1), (found.always_lose, -1)):
        unbeaten = [
            part
            for part in [*splits(votes.items), set(votes.items)]
            if not any((a not in part and b in part) for a, b in (edge[::sign] for edge in edges))
        ]
        minimal = [part for part in unbeaten if not any(other < part for other in unbeaten)]
        expected = set()
        for part in minimal:
            of = component[next(iter(part))]
            if len(part) < len(of) and 2 * len(part) <= len(of):
                expected |= part
        assert set(named) == expected
        assert list(named) == sorted(named)
    strong = all(crosses(part) for group in found.components for part in splits(group))
    assert bool(found.always_win or found.always_lose) == (not strong)


def test_the_maximum_likelihood_estimate_exists_where_the_graph_is_strongly_connected() -> None:
    # The likelihood is maximised within wider and wider bounds: an estimate that exists stops moving.
    def widest(votes: Votes, bound: float) -> float:
        first, second = votes.first, votes.second

        def loss(theta: np.ndarray) -> float:
            d = theta[first] - theta[second]
            return float(votes.counts[:, 0] @ np.logaddexp(0, -d) + votes.counts[:, 1] @ np.logaddexp(0, d))

        start = np.zeros(len(votes.items))
        best = minimize(loss, start, bounds=[(-bound, bound)] * len(start), options={"ftol": 1e-15, "gtol": 1e-9})
        return float(np.ptp(best.x))

    cycle = read([("a", "b", "first"), ("b", "c", "first"), ("c", "a", "first"), ("a", "c", "first")])
    (found,) = graph_connectivity(cycle)
    assert found.strongly_connected
    assert widest(cycle, 5) < 5
    assert abs(widest(cycle, 10) - widest(cycle, 5)) < 1e-3

    chained = read([("a", "b", "first"), ("b", "c", "first"), ("c", "b", "first")])
    (found,) = graph_connectivity(chained)
    assert not found.strongly_connected
    assert (found.always_win, found.always_lose) == (("a",), ())
    assert widest(chained, 10) - widest(chained, 5) > 1


def test_groups_that_win_or_lose_everything() -> None:
    body = [("a", "b", "tie"), ("b", "c", "tie"), ("c", "d", "tie")]
    (found,) = graph_connectivity(read(body))
    assert found == Connectivity("overall", (("a", "b", "c", "d"),), True, (), ())
    (found,) = graph_connectivity(read([*body, ("e", "a", "second"), ("b", "e", "first")]))
    assert (found.always_win, found.always_lose) == ((), ("e",))
    (found,) = graph_connectivity(read([*body, ("e", "a", "first"), ("f", "d", "second")]))
    assert (found.always_win, found.always_lose) == (("e",), ("f",))
    # Two halves, one of which beats the other, are both named.
    (found,) = graph_connectivity(read([("a", "b", "tie"), ("c", "d", "tie"), ("a", "d", "first")]))
    assert (found.always_win, found.always_lose) == (("a", "b"), ("c", "d"))
    # A tie with the outside is enough not to win everything.
    (found,) = graph_connectivity(read([("a", "b", "tie"), ("c", "d", "tie"), ("a", "d", "first"), ("b", "c", "tie")]))
    assert found.strongly_connected


def test_each_criterion_has_its_own_graph() -> None:
    frame = pd.DataFrame(
        {
            "judge": "j",
            "criterion": ["clear", "clear", "true"],
            "first": ["a", "b", "a"],
            "second": ["b", "a", "c"],
            "winner": ["a", "b", "a"],
        }
    )
    votes = read_votes(frame, criteria=["clear", "true", "brief"])
    assert graph_connectivity(votes) == [
        Connectivity("brief", (("a",), ("b",), ("c",)), False, (), ()),
        Connectivity("clear", (("a", "b"), ("c",)), False, (), ()),
        Connectivity("true", (("a", "c"), ("b",)), False, ("a",), ("c",)),
    ]
    assert graph_components(votes) == [found.components for found in graph_connectivity(votes)]


def test_the_published_crowd_votes_are_strongly_connected(shared: Path) -> None:
    (found,) = graph_connectivity(read_votes(shared / "data" / "llmfao_votes.csv"))
    assert found.strongly_connected
    assert len(found.components) == 1
    # Here each pair of answers stands alone.
    (found,) = graph_connectivity(read_votes(shared / "data" / "llmbar_votes.csv"))
    assert {len(group) for group in found.components} == {2}


def test_a_vote_that_is_not_sure_separates_nothing() -> None:
    table = pd.DataFrame({"judge": "a", "first": ["x", "y", "x"], "second": ["y", "z", "z"], "winner": "first"})
    sure, unsure = (read_votes(table.assign(degree=degree)) for degree in (1.0, 0.7))
    assert (graph_connectivity(sure)[0].always_win, graph_connectivity(sure)[0].always_lose) == (("x",), ("z",))
    assert (graph_connectivity(unsure)[0].always_win, graph_connectivity(unsure)[0].always_lose) == ((), ())
    mixed = read_votes(table.assign(degree=[0.7, 1.0, 1.0]))  # x and y are better than z surely, each other not
    assert graph_connectivity(mixed)[0].always_lose == ("z",)
