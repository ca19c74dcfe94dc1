"""Robustness of a panel to bad judges: synthetic judges are added to its real votes, and the ranking is fitted again.

MAPLE (section 5.3) does this with synthetic panels and known truth. For a real panel the truth is unknown, so the
measure is the change from the ranking by the same model of the panel alone. An added judge answers the questions of
one of the panel's judges, drawn at random, in the same order of the items (a random order, if unknown). Judges whose
answers depend on the items (adversaries, coins) use the strengths of the panel's own ranking as the truth.
"""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.agreement.coefficients.pairwise import concordance_index
from voirdire.errors import InputError, gathered_problems, raise_problems
from voirdire.fit.verb import fit
from voirdire.kinds.ranked_fit import RankedFit
from voirdire.kinds.votes.kind import VOTES
from voirdire.model.specs import load_model
from voirdire.notices import give_notice
from voirdire.simulate.judges.base import UNANSWERED, Judge, Questions
from voirdire.simulate.panel import JUDGES, judge_from_spec
from voirdire.tables.counts import Votes
from voirdire.tables.problems import nearest_name
from voirdire.tables.votes import read_votes
from voirdire.typing import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

#: MAPLE's names of some kinds of judges.
MAPLE_NAMES = {"position-first": "always-first", "position-second": "always-second"}
MIN_CONCORDANCE = 0.9  # smallest concordance with the panel's own ranking at which added judges count as tolerated
_ADDED_PATTERN = re.compile(r"\s*(?P<kind>[\w-]+)\s*(?:\((?P<fields>.*)\))?\s*:\s*(?P<counts>[\d.,\s]+)")
_WINNERS = np.array(["first", "second", "tie"], dtype=object)


@dataclass(frozen=True)
class AddedJudges:
    """Judges to add: their name, one of them, and their numbers.

    Examples
    --------
    >>> parse_added_judges("position-first:1..3,10").counts
    (1, 2, 3, 10)
    """

    name: str
    judge: Judge
    counts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Robustness:
    """Number of bad judges that a panel tolerates.

    Attributes
    ----------
    table : dataframe
        A row for each model, kind of judge and count: ``concordance`` (mean share of the pairs of items in the order of
        the panel's own ranking), ``mcse`` (its Monte Carlo error), ``lowest`` (smallest concordance), ``best_stays``
        (share of replicates with the same best item).
    bears : dataframe
        A row for each model and kind: ``bears``, the largest count up to which the mean concordance was never below
        ``least`` (0 if none), and ``most``, the largest count tried.
    judges, votes : int
        Numbers of judges and votes of the panel.
    least : float
        Smallest concordance at which added judges count as tolerated.
    """

    table: pd.DataFrame
    bears: pd.DataFrame
    judges: int
    votes: int
    least: float

    def as_dict(self) -> dict[str, Any]:
        """Return the result in the form of ``voirdire simulate --votes ... --json``."""
        return {
            "judges": self.judges,
            "votes": self.votes,
            "least": self.least,
            "bears": self.bears.to_dict("records"),
            "results": [
                {name: None if value != value else value for name, value in row.items()}
                for row in self.table.to_dict("records")
            ],
        }


def parse_added_judges(text: str) -> AddedJudges:
    """Read judges to add: ``KIND:COUNTS`` or ``KIND(FIELD=VALUE, ...):COUNTS``, counts as ``1..20`` or ``1,2,5``.

    Raises
    ------
    InputError
        If the text has another form, the kind or a field is unknown (the nearest is named), or a count is not positive.

    Examples
    --------
    >>> parse_added_judges("one-coin(eta=0.6):2,4").judge
    OneCoin(eta=0.6, scale=1.0)
    >>> parse_added_judges("alway-first:3")
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: add 'alway-first:3': unknown kind 'alway-first'; did you mean 'always-first'?
    """
    place = f"add {text!r}"
    match = _ADDED_PATTERN.fullmatch(text)
    if match is None:
        raise InputError(f"{place}: write KIND:COUNTS, for example 'position-first:1..20' or 'random:1,2,5'")
    kind = MAPLE_NAMES.get(match["kind"], match["kind"])
    if kind not in JUDGES:
        kinds = [*JUDGES, *MAPLE_NAMES]
        hint = nearest_name(kind, kinds) or f"; there are {', '.join(kinds)}"
        raise InputError(f"{place}: unknown kind {kind!r}{hint}")
    try:
        fields = tomllib.loads(f"fields = {{{match['fields'] or ''}}}")["fields"]
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{place}: the fields cannot be read ({error}); write KIND(FIELD=VALUE):COUNTS") from None
    judge = judge_from_spec({"kind": kind, **fields}, place)
    if judge.copied_names():
        raise InputError(f"{place}: a judge that copies another cannot be added; take another kind")
    return AddedJudges(match["kind"], judge, _read_counts(match["counts"], place))


def _read_counts(text: str, location: str) -> tuple[int, ...]:
    counts: set[int] = set()
    for part in text.split(","):
        ends = part.strip().split("..")
        if len(ends) > 2 or not all(end.isdigit() and int(end) > 0 for end in ends):
            raise InputError(f"{location}: {part.strip()!r} is no count; write 5, or 1..20")
        counts |= set(range(int(ends[0]), int(ends[-1]) + 1))
    if not counts:
        raise InputError(f"{location}: the counts run backwards; write the lower first, as in 1..20")
    return tuple(sorted(counts))


def ranking_robustness(
    votes: object,
    add: Sequence[str],
    *,
    models: Sequence[str] | None = None,
    replicates: int = 5,
    least: float = MIN_CONCORDANCE,
    seed: int = 0,
) -> Robustness:
    """Add synthetic judges to a panel's votes, and measure the change of its ranking by model.

    Parameters
    ----------
    votes : path or dataframe
        The panel's votes, as in :func:`voirdire.fit`. Contexts are ignored.
    add : sequence of str
        Judges to add, see :func:`parse_added_judges`: ``["position-first:1..20", "random:1..10"]``.
    models : sequence of str, optional
        Models of votes; by default majority vote, the model with one coin per judge and, if the shown order is known,
        the model with a coin per position (crowd-bt, crowd-bt-position; with criteria maple, maple-position).
    replicates : int
        Number of draws of the added judges.
    least : float
        Smallest concordance with the panel's own ranking at which added judges count as tolerated.
    seed : int
        Seed of the added judges.

    Raises
    ------
    InputError
        For an invalid request, with every problem found.

    Examples
    --------
    >>> import pandas as pd
    >>> pairs = [(a, b, min(a, b)) for a in "wxyz" for b in "wxyz" if a != b]
    >>> rows = [(judge, *pair) for judge in "abc" for pair in pairs]
    >>> table = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    >>> found = ranking_robustness(table, ["position-first:1..2"], models=["crowd-bt-position"], replicates=1)
    >>> found.bears["bears"].tolist()
    [2]
    """
    import pandas as pd

    problems: list[str] = []
    additions: list[AddedJudges] = []
    for text in add:
        with gathered_problems(problems):
            additions.append(parse_added_judges(text))
    if not add:
        problems.append("nothing is added; name a kind of judge, such as 'position-first:1..20'")
    if replicates < 1:
        problems.append(f"replicates {replicates}: must be at least 1")
    if not 0.5 < least <= 1:
        problems.append(f"least {least} is not a share above a half")
    raise_problems(problems)
    vote_table = read_votes(votes)
    if vote_table.order_unknown:
        vote_table = _shuffle_sides(vote_table, seed)
        give_notice(
            "which item was shown first is not known: added judges see every question in an order drawn at random"
        )
    if models is None:
        coins = ("maple", "maple-position") if vote_table.has_criteria else ("crowd-bt", "crowd-bt-position")
        models = ("majority-vote", *coins[: 1 if vote_table.order_unknown else 2])
    _check_models(models)
    judges = np.array(vote_table.judges, dtype=object)[vote_table.judge[vote_table.row_cell]]
    panel_votes = _votes_frame(vote_table, vote_table.row_cell, vote_table.row_outcome, judges)
    panel_fits = {model: _fit_ranked(panel_votes, model) for model in models}
    truth = _strengths_scores(
        vote_table, _fit_ranked(panel_votes, models[-1] if models[-1] != "majority-vote" else "bradley-terry")
    )
    rows = []
    for addition in additions:
        for replicate in range(replicates):
            extra = [
                _draw_answers(vote_table, truth, addition, number, [seed, replicate])
                for number in range(max(addition.counts))
            ]
            for count in addition.counts:
                table = pd.concat([panel_votes, *extra[:count]], ignore_index=True)
                for model in models:
                    rows.append(
                        {"model": model, "added": addition.name, "count": count}
                        | _ranking_change(panel_fits[model], _fit_ranked(table, model))
                    )
    table = _aggregate_rows(pd.DataFrame(rows))
    return Robustness(table, _tolerated_counts(table, least), len(vote_table.judges), vote_table.rows, least)


def _check_models(models: Sequence[str]) -> None:
    problems: list[str] = []
    for name in models:
        with gathered_problems(problems):
            if not VOTES.predicts_answers(load_model(name)):
                problems.append(f"model {name} is not of votes; take crowd-bt-position, for example")
    raise_problems(problems)


def _fit_ranked(table: pd.DataFrame, model: str) -> RankedFit:
    fitted = fit(table, model=model, method="map")
    assert isinstance(fitted, RankedFit)
    return fitted


def _strengths_scores(votes: Votes, fitted: RankedFit) -> tuple[Floats, Floats]:
    """Strengths by criterion and item, and scores, in the order of the votes' codes."""
    table, ranking = fitted.strengths(), fitted.ranking().set_index("item")["score"]
    score = ranking.loc[list(votes.items)].to_numpy()
    by_criterion = table.pivot(index="criterion", columns="item", values="strength")[list(votes.items)]
    strengths = by_criterion.reindex(list(votes.criteria)) if len(by_criterion) > 1 else None
    return (np.tile(score, (len(votes.criteria), 1)) if strengths is None else strengths.to_numpy()), score


def _draw_answers(
    votes: Votes, truth: tuple[Floats, Floats], added: AddedJudges, number: int, seed: Sequence[int]
) -> pd.DataFrame:
    """Answers of an added judge to the questions of a judge of the panel."""
    rng = np.random.default_rng([*seed, number, zlib.crc32(added.name.encode())])
    judge = rng.integers(len(votes.judges))
    rows = votes.row_cell[votes.judge[votes.row_cell] == judge]
    theta, score = truth
    first, second, criterion = votes.first[rows], votes.second[rows], votes.criterion[rows]
    same = np.unique(np.stack([first, second]), axis=1, return_inverse=True)[1].ravel()
    questions = Questions(
        theta[criterion, first] - theta[criterion, second],
        score[first] - score[second],
        np.zeros(len(rows)),
        np.linspace(0.0, 1.0, len(rows)),
        same,
    )
    if problems := added.judge.question_problems(questions):
        raise InputError([f"add {added.name}: {problem}" for problem in problems])
    outcome = added.judge.draw_answers(questions, rng, {})
    answered = outcome != UNANSWERED
    return _votes_frame(
        votes, rows[answered], outcome[answered].astype(np.int64), f"added {added.name} {number + 1:02d}"
    )


def _shuffle_sides(votes: Votes, seed: int) -> Votes:
    """Shuffle the two sides of every vote of a table with unknown order.

    Such a table may have the better item first (as from rankings), which an added judge must not see.
    """
    rng, cells = np.random.default_rng(seed), votes.row_cell
    frame = _votes_frame(votes, cells, votes.row_outcome, np.array(votes.judges, dtype=object)[votes.judge[cells]])
    swapped = rng.random(len(frame)) < 0.5
    frame.loc[swapped, ["first", "second"]] = frame.loc[swapped, ["second", "first"]].to_numpy()
    frame.loc[swapped, "winner"] = frame.loc[swapped, "winner"].replace({"first": "second", "second": "first"})
    return read_votes(frame)


def _votes_frame(votes: Votes, cells: Ints, outcome: Ints, judge: object) -> pd.DataFrame:
    import pandas as pd

    columns: dict[str, Any] = {"judge": judge}
    if votes.has_criteria:
        columns["criterion"] = np.array(votes.criteria, dtype=object)[votes.criterion[cells]]
    for name, codes in (("first", votes.first), ("second", votes.second)):
        columns[name] = np.array(votes.items, dtype=object)[codes[cells]]
    columns |= {"order": "unknown"} if votes.order_unknown else {}
    return pd.DataFrame(columns | {"winner": _WINNERS[outcome]})


def _ranking_change(before: RankedFit, after: RankedFit) -> dict[str, Any]:
    before_scores, after_scores = (ranked.ranking().set_index("item")["score"] for ranked in (before, after))
    return {
        "concordance": concordance_index(
            after_scores.loc[before_scores.index].to_numpy(), before_scores.to_numpy(), ties="half"
        ),
        "best": float(before_scores.idxmax() == after_scores.idxmax()),
    }


def _aggregate_rows(rows: pd.DataFrame) -> pd.DataFrame:
    grouped = rows.groupby(["model", "added", "count"], sort=False)
    table = grouped["concordance"].agg(concordance="mean", sd="std", lowest="min", n="count").reset_index()
    table["mcse"] = table["sd"] / np.sqrt(table["n"])
    table["best_stays"] = grouped["best"].mean().to_numpy()
    return table[["model", "added", "count", "n", "concordance", "mcse", "lowest", "best_stays"]]


def _tolerated_counts(table: pd.DataFrame, least: float) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for (model, name), part in table.groupby(["model", "added"], sort=False):
        part = part.sort_values("count")
        fallen = (part["concordance"] < least).to_numpy()
        counts = part["count"].tolist()
        tolerated = len(counts) if not fallen.any() else int(fallen.argmax())
        rows.append(
            {"model": model, "added": name, "bears": counts[tolerated - 1] if tolerated else 0, "most": counts[-1]}
        )
    return pd.DataFrame(rows)
