"""A judge against a panel of experts who disagree among themselves.

Four questions of Chen, Wen and Zulkernine (MASA, JMIR AI 2025; Tables 4, 7 and 8): how often does a judge
agree with the experts' majority, how often with at least one of them, how does it miss when it agrees with
none, and does it agree with the majority of the others as well as an expert who is left out does?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from voirdire.agreement.coefficients.majority import majority, share_agreeing, with_tie
from voirdire.agreement.coefficients.match import Repeats, match
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.rows import Row, frame_of, row_of
from voirdire.agreement.coefficients.two import agreement_rate
from voirdire.agreement.engine.intervals import Method
from voirdire.agreement.engine.resample import RESAMPLES, bootstrap, check_request
from voirdire.agreement.engine.statistic import CountStatistic, share_of
from voirdire.errors import InputError
from voirdire.tables.detect import read_table
from voirdire.tables.rated import known_names

if TYPE_CHECKING:
    import pandas as pd

MAJORITY_OF_EXPERTS = "majority of the experts"
ANY_EXPERT = "any expert"

MISSES = ("miss_tie_against_split", "miss_tie_against_winner", "miss_contrary")


def expert_agreement(
    table: object,
    experts: Sequence[str],
    judges: Sequence[str] | None = None,
    *,
    levels: Sequence[object] | None = None,
    repeats: Repeats | None = None,
    interval: Method = "percentile",
    resamples: int = RESAMPLES,
    prob: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare judges with a panel of experts, and the experts with each other.

    Measures, per criterion:

    - ``agreement_with_majority``: same answer as more than half of the experts who answered (votes: without
      such a half the majority is a tie; labels: such units are left out).
    - ``agreement_with_any``: same answer as at least one expert.
    - ``miss_tie_against_split``, ``miss_tie_against_winner``, ``miss_contrary`` (votes): the shares of
      units on which the judge agrees with no expert, by what happened: it says tie and the experts are
      evenly split between the two items; it says tie and the experts have a winner; it picks an item that
      no expert picked. With ``agreement_with_any`` they add up to 1.
    - ``all_agree``, ``at_least_m_agree`` of the experts, for each m above half of them.

    Parameters
    ----------
    table : path, dataframe, Votes or Labels
        Answers of experts and judges.
    experts : sequence of str
        The judges who are experts, two or more.
    judges : sequence of str, optional
        The judges to compare with them; all others by default.
    levels, repeats, interval, resamples, prob, seed
        As in `voirdire.agreement.verb.agreement`; items are resampled.

    Returns
    -------
    pandas.DataFrame
        Rows as of `voirdire.agreement.verb.agreement`.

    Raises
    ------
    InputError
        If an expert or judge is not in the table, or is both.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["e1", "e2", "gpt"] * 2, "first": "x", "second": "y",
    ...                       "context": [1, 1, 1, 2, 2, 2], "winner": ["x", "y", "tie", "x", "x", "x"]})
    >>> found = expert_agreement(table, ["e1", "e2"], resamples=100).set_index("measure")["value"]
    >>> found[["agreement_with_majority", "agreement_with_any", "miss_tie_against_split"]].tolist()
    [1.0, 0.5, 0.5]
    """
    check_request(resamples, "item", prob, interval)
    rows: list[Row] = []
    for ratings in match(read_table(table, levels=levels), repeats=repeats, levels=levels):
        ratings, others = with_tie(ratings), expert_names(ratings, experts, judges)
        panel = ratings.select(experts)
        work: list[tuple[str, tuple[str, ...], CountStatistic]] = []
        for judge in others:
            work += _judge(ratings.select([judge]), panel)
        size = len(experts)
        work += [
            ("all_agree" if m == size else f"at_least_{m}_agree", tuple(experts), share_agreeing(panel, m))
            for m in range(size, size // 2, -1)
            if m > 1
        ]
        found = bootstrap(
            [one for _, _, one in work], resamples=resamples, seed=seed, prob=prob, method=interval
        )
        rows += [
            row_of(measure, names, ratings, one, statistic, undefined=_undefined(measure, names))
            for (measure, names, statistic), one in zip(work, found, strict=True)
        ]
    return frame_of(rows)


def _undefined(measure: str, judges: tuple[str, ...]) -> str:
    if measure.endswith("agree"):
        return "undefined: no item was answered by all experts"
    return f"undefined: no item was answered by {judges[0]!r} and has an answer of the {judges[1]!r}"


def expert_names(ratings: Ratings, experts: Sequence[str], judges: Sequence[str] | None) -> list[str]:
    """Check the names of experts and judges, and give the judges' (all others by default).

    Raises
    ------
    InputError
        For names that are not in the table or are both, and for fewer than two experts.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> expert_names(ratings_from_matrix([["a", "b", "c"]], judges=["e1", "e2", "gpt"]), ["e1", "e2"], None)
    ['gpt']
    """
    chosen = [one for one in ratings.judges if one not in experts] if judges is None else list(judges)
    problems = [
        f"judge {one!r} is not in the table; its judges are {known_names(ratings.judges)}"
        for one in dict.fromkeys([*experts, *chosen])
        if one not in ratings.judges
    ]
    problems += [f"{one!r} is given as an expert and as a judge" for one in chosen if one in experts]
    if len(set(experts)) < max(2, len(experts)):
        problems.append(f"experts {list(experts)!r} must be two or more different judges")
    if problems:
        raise InputError(problems)
    return chosen


def _judge(judge: Ratings, panel: Ratings) -> list[tuple[str, tuple[str, ...], CountStatistic]]:
    name = judge.judges[0]
    said = judge.codes[:, 0]
    both = (said >= 0) & panel.rated.any(axis=1)
    like_any = both & (panel.codes == said[:, None]).any(axis=1)
    with_majority = agreement_rate(judge.with_column(MAJORITY_OF_EXPERTS, majority(panel)))
    work: list[tuple[str, tuple[str, ...], CountStatistic]] = [
        ("agreement_with_majority", (name, MAJORITY_OF_EXPERTS), with_majority),
        ("agreement_with_any", (name, ANY_EXPERT), share_of(both, like_any)),
    ]
    if panel.tie is not None:
        tie, last = panel.levels.index(panel.tie), len(panel.levels) - 1
        missed = both & ~like_any
        split = np.sum(panel.codes == 0, axis=1) == np.sum(panel.codes == last, axis=1)
        kinds = (missed & (said == tie) & split, missed & (said == tie) & ~split, missed & (said != tie))
        work += [
            (measure, (name, ANY_EXPERT), share_of(both, kind))
            for measure, kind in zip(MISSES, kinds, strict=True)
        ]
    return work
