"""Conversion of rankings to votes on their pairs of items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.tables.formats.rows import UNKNOWN, Columns, Extended, Note, UnknownOrder, Vote

if TYPE_CHECKING:
    import pandas as pd

_RANKING_KEYS = ("judge", "context", "criterion", "run")  # columns that identify a ranking


def votes_of_rankings(rankings: pd.DataFrame | None) -> Iterator[Vote | Extended | Columns | Note]:
    """Convert each pair of items of a ranking to a vote with unknown display order; equal ranks are ties.

    Parameters
    ----------
    rankings : DataFrame
        One row per item of a ranking: judge, item, rank, and the columns that identify a ranking; further columns are
        kept and must be constant within a ranking.

    Raises
    ------
    InputError
        An item stands twice in a ranking, a further column differs between its items or has the name of a column of
        votes, or each ranking is of a single item.

    Examples
    --------
    >>> import pandas as pd
    >>> rankings = pd.DataFrame({"judge": "a", "item": ["x", "y", "z"], "rank": [1, 2, 2]})
    >>> [(row.first, row.second, row.winner) for row in votes_of_rankings(rankings) if isinstance(row, Vote)]
    [('x', 'y', 'first'), ('x', 'z', 'first'), ('y', 'z', 'tie')]
    """
    assert rankings is not None
    keys = [name for name in _RANKING_KEYS if name in rankings]
    further = [str(name) for name in rankings if name not in (*keys, "item", "rank")]
    if vote_columns := [name for name in further if name in Vote._fields]:
        raise InputError(
            f"rankings: column {vote_columns[0]!r} would be one of the votes that they are read as; rename it or leave "
            "it out"
        )
    if further:
        yield Columns("votes", (*Vote._fields[:4], *keys[1:], "order", *further))
    single_rankings = pair_count = 0
    for key, ranking in rankings.groupby(keys, sort=False, dropna=False):
        ranking_key = dict(zip(keys, key, strict=True))
        key_text = ", ".join(f"{name} {value!r}" for name, value in ranking_key.items())
        if len(repeated := ranking["item"][ranking["item"].duplicated()]):
            raise InputError(
                f"rankings: item {repeated.iloc[0]!r} stands twice in the ranking of {key_text}; give each ranking its "
                "own context or run"
            )
        if differing := [name for name in further if len(ranking[name].drop_duplicates()) > 1]:
            raise InputError(
                f"rankings: column {differing[0]!r} differs between the items of the ranking of {key_text}; if it says "
                f"what was asked, --map context={differing[0]}; if it says something of an item, leave it out"
            )
        further_cells = {name: ranking[name].iloc[0] for name in further}
        ranking_key = {name: None if value != value else value for name, value in ranking_key.items()}
        single_rankings += len(ranking) == 1
        ordered = sorted(zip(ranking["rank"], ranking["item"], strict=True), key=lambda pair: pair[0])
        for index, (rank, item) in enumerate(ordered):
            for other_rank, other in ordered[index + 1 :]:
                pair_count += 1
                winner = "tie" if other_rank == rank else "first"
                vote = Vote(first=item, second=other, winner=winner, order=UNKNOWN, **ranking_key)
                yield Extended(vote, further_cells) if further_cells else vote
    if not pair_count:
        raise InputError("rankings: each is of a single item, so that they hold no votes")
    if single_rankings:
        yield Note(f"{single_rankings:,} rankings of a single item hold no votes.")
    yield UnknownOrder(
        "Each ranking of n items is read as n (n - 1) / 2 votes, which are not independent of each other."
    )
