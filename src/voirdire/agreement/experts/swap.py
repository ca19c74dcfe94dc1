"""Do judges change their answer when the two items change places?

A pair shown in both orders has two answers. The judge is consistent on it if it picks the same item (or a
tie) in both; the share of pairs where it does not is its position bias rate. By the swap rule a changed
answer counts as a tie. Chen, Wen and Zulkernine (MASA, JMIR AI 2025; Table 4 B and C) ask how that goes
with agreement with experts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.agreement.coefficients.majority import majority, with_tie
from voirdire.agreement.coefficients.match import match
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.rows import Row, frame_of, row_of
from voirdire.agreement.coefficients.two import agreement_rate
from voirdire.agreement.engine.intervals import Method
from voirdire.agreement.engine.resample import RESAMPLES, bootstrap, check_request
from voirdire.agreement.engine.statistic import CountStatistic, share_of
from voirdire.errors import InputError
from voirdire.tables.rated import known_names
from voirdire.tables.votes import Votes, read_votes

if TYPE_CHECKING:
    import pandas as pd

REFERENCE = "majority of the reference"


def swap_consistency(
    table: object,
    reference: str | Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    *,
    interval: Method = "percentile",
    resamples: int = RESAMPLES,
    prob: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """How often judges change their answer with the order, and how they agree with a reference when they do.

    Parameters
    ----------
    table : path, dataframe or Votes
        Votes; several votes on a pair in one order are first combined by majority.
    reference : str or sequence of str, optional
        A judge, or experts whose majority is the reference; orders do not matter for them (majority of all
        votes).
    judges : sequence of str, optional
        The judges to look at; by default all (but the reference) who saw a pair in both orders.
    interval, resamples, prob, seed
        As in `voirdire.agreement.verb.agreement`; pairs are resampled.

    Returns
    -------
    pandas.DataFrame
        Rows as of `voirdire.agreement.verb.agreement`: per judge and criterion the ``position_bias_rate``
        and, with a reference, the ``agreement_rate`` of the swap rule's answer with it at levels "all",
        "answer changed" and "answer kept". Pairs seen in one order only are not used, and counted in the
        note.

    Raises
    ------
    InputError
        If a name is not in the table, or a judge saw no pair in both orders.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "gpt", "context": [1, 1, 2, 2], "first": ["x", "y"] * 2,
    ...                       "second": ["y", "x"] * 2, "winner": ["x", "x", "x", "y"]})
    >>> swap_consistency(table, resamples=100)[["measure", "value", "n"]].values.tolist()
    [['position_bias_rate', 0.5, 2]]
    """
    check_request(resamples, "item", prob, interval)
    votes = read_votes(table)
    experts = [] if reference is None else [reference] if isinstance(reference, str) else list(reference)
    chosen = _chosen(votes, experts, judges)
    combined = match(votes, repeats="majority", orientation="name")
    shown = [_in_order(votes, alphabetical) for alphabetical in (True, False)]
    rows: list[Row] = []
    for number, ratings in enumerate(combined):
        ratings = with_tie(ratings)
        tie = ratings.levels.index(ratings.tie or "tie") if ratings.tie in ratings.levels else -1
        one, two = (_aligned(with_tie(orders[number]), ratings) for orders in shown)
        reference_codes = majority(ratings.select(experts)) if experts else None
        work: list[tuple[str, tuple[str, ...], str | None, CountStatistic, str]] = []
        for judge in chosen:
            a, b = one[:, ratings.judges.index(judge)], two[:, ratings.judges.index(judge)]
            both, changed = (a >= 0) & (b >= 0), (a >= 0) & (b >= 0) & (a != b)
            once = int(np.sum((a >= 0) ^ (b >= 0)))
            note = f"pairs shown in one order only, not used: {once}" if once else ""
            work.append(("position_bias_rate", (judge,), None, share_of(both, changed), note))
            if reference_codes is None:
                continue
            for level, used in (("all", both), ("answer changed", changed), ("answer kept", both & ~changed)):
                rule = np.where(used, np.where(changed, tie, a), -1)
                pair = replace(
                    ratings,
                    judges=(judge, REFERENCE),
                    codes=np.column_stack([rule, reference_codes]),
                )
                names = (judge, experts[0] if len(experts) == 1 else REFERENCE)
                work.append(("agreement_rate", names, level, agreement_rate(pair), ""))
        found = bootstrap(
            [statistic for *_, statistic, _ in work],
            resamples=resamples,
            seed=seed,
            prob=prob,
            method=interval,
        )
        rows += [
            row_of(
                measure,
                names,
                replace(ratings, notes={}),
                result,
                statistic,
                level=level,
                undefined="undefined: there is no such pair",
                note=note,
            )
            for (measure, names, level, statistic, note), result in zip(work, found, strict=True)
        ]
    return frame_of(rows)


def _in_order(votes: Votes, alphabetical: bool) -> list[Ratings]:
    """Ratings from the votes that showed a pair in one of its two orders."""
    cell = votes.row_cell
    return match(
        votes.subset((votes.first[cell] < votes.second[cell]) == alphabetical),
        repeats="majority",
        orientation="name",
    )


def _aligned(part: Ratings, whole: Ratings) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The codes of a part of the votes at the units and levels of the whole."""
    place = {unit: row for row, unit in enumerate(whole.units)}
    codes = np.full(whole.codes.shape, -1)
    recode = np.append([whole.levels.index(level) for level in part.levels], -1)
    rows = [place[unit] for unit in part.units]
    codes[rows] = recode[part.codes]
    return codes.astype(np.int64)


def _chosen(votes: Votes, experts: Sequence[str], judges: Sequence[str] | None) -> list[str]:
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    keys = np.column_stack([votes.judge, votes.criterion, low, high])
    ordered = {order: set(map(tuple, keys[(votes.first < votes.second) == order])) for order in (True, False)}
    swapped = {votes.judges[key[0]] for key in ordered[True] & ordered[False]}
    chosen = (
        [one for one in votes.judges if one in swapped and one not in experts]
        if judges is None
        else list(judges)
    )
    problems = [
        f"judge {one!r} is not in the table; its judges are {known_names(votes.judges)}"
        for one in dict.fromkeys([*experts, *chosen])
        if one not in votes.judges
    ]
    problems += [
        f"judge {one!r} saw no pair in both orders; collect its votes with the items swapped, too"
        for one in chosen
        if one in votes.judges and one not in swapped
    ]
    if not chosen:
        problems.append("no judge saw a pair in both orders; collect votes with the items swapped, too")
    if problems:
        raise InputError(problems)
    return chosen
