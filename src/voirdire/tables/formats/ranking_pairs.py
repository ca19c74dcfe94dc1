"""Rankings as votes: the pairs of items of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.tables.formats.rows import UNKNOWN, Columns, Extended, Note, UnknownOrder, Vote

if TYPE_CHECKING:
    import pandas as pd

_ABOUT = ("judge", "context", "criterion", "run")  # what tells one ranking from another


def votes_of_rankings(rankings: pd.DataFrame | None) -> Iterator[Vote | Extended | Columns | Note]:
    """The pairs of items of each ranking as votes, whose order of display is unknown; ties are ties.

    Parameters
    ----------
    rankings : DataFrame
        One row an item of a ranking: judge, item, rank, and what tells rankings apart; further columns are kept where
        they are the same throughout a ranking.

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
    keys = [name for name in _ABOUT if name in rankings]
    further = [str(name) for name in rankings if name not in (*keys, "item", "rank")]
    if taken := [name for name in further if name in Vote._fields]:
        raise InputError(
            f"rankings: column {taken[0]!r} would be one of the votes that they are read as; rename it or leave it out"
        )
    if further:
        yield Columns("votes", (*Vote._fields[:4], *keys[1:], "order", *further))
    alone = pairs = 0
    for key, ranking in rankings.groupby(keys, sort=False, dropna=False):
        about = dict(zip(keys, key, strict=True))
        named = ", ".join(f"{name} {value!r}" for name, value in about.items())
        if len(twice := ranking["item"][ranking["item"].duplicated()]):
            raise InputError(
                f"rankings: item {twice.iloc[0]!r} stands twice in the ranking of {named}; give each ranking its own "
                "context or run"
            )
        if uneven := [name for name in further if len(ranking[name].drop_duplicates()) > 1]:
            raise InputError(
                f"rankings: column {uneven[0]!r} differs between the items of the ranking of {named}; if it says what "
                f"was asked, --map context={uneven[0]}; if it says something of an item, leave it out"
            )
        more = {name: ranking[name].iloc[0] for name in further}
        about = {name: None if value != value else value for name, value in about.items()}
        alone += len(ranking) == 1
        ordered = sorted(zip(ranking["rank"], ranking["item"], strict=True), key=lambda pair: pair[0])
        for at, (rank, item) in enumerate(ordered):
            for below, other in ordered[at + 1 :]:
                pairs += 1
                winner = "tie" if below == rank else "first"
                vote = Vote(first=item, second=other, winner=winner, order=UNKNOWN, **about)
                yield Extended(vote, more) if more else vote
    if not pairs:
        raise InputError("rankings: each is of a single item, so that they hold no votes")
    if alone:
        yield Note(f"{alone:,} rankings of a single item hold no votes.")
    yield UnknownOrder(
        "Each ranking of n items is read as n (n - 1) / 2 votes, which are not independent of each other."
    )
