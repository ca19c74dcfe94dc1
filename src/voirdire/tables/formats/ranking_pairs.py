"""Rankings as votes: the pairs of items of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.notices import notice
from voirdire.tables.formats.rows import UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

_ABOUT = ("judge", "context", "criterion", "run")  # what tells one ranking from another, for messages


def votes_of_rankings(rankings: pd.DataFrame | None) -> pd.DataFrame:
    """The pairs of items of each ranking as votes, whose order of display is unknown; ties are ties.

    Examples
    --------
    >>> import pandas as pd
    >>> rankings = pd.DataFrame({"judge": "a", "item": ["x", "y", "z"], "rank": [1, 2, 2]})
    >>> votes = votes_of_rankings(rankings)
    >>> votes[["first", "second", "winner"]].values.tolist()
    [['x', 'y', 'first'], ['x', 'z', 'first'], ['y', 'z', 'tie']]
    """
    import pandas as pd

    assert rankings is not None
    keys = [name for name in rankings if name not in ("item", "rank")]
    rows = []
    alone = 0
    for key, ranking in rankings.groupby(keys, sort=False, dropna=False):
        about = ", ".join(
            f"{name} {value!r}" for name, value in zip(keys, key, strict=True) if name in _ABOUT
        )
        if len(twice := ranking["item"][ranking["item"].duplicated()]):
            raise InputError(
                f"rankings: item {twice.iloc[0]!r} stands twice in the ranking of {about}; give each ranking its own "
                "context or run"
            )
        alone += len(ranking) == 1
        ordered = sorted(zip(ranking["rank"], ranking["item"], strict=True), key=lambda pair: pair[0])
        for at, (rank, item) in enumerate(ordered):
            rows += [
                (*key, item, other, "tie" if below == rank else "first", UNKNOWN)
                for below, other in ordered[at + 1 :]
            ]
    if alone:
        notice(f"{alone:,} rankings of a single item hold no votes.")
    if not rows:
        raise InputError("rankings: each is of a single item, so that they hold no votes")
    return pd.DataFrame(rows, columns=[*keys, "first", "second", "winner", "order"])
