"""The page of a fit: what is best, can it be trusted, which judges, what matters, people, how it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.report import figures, people
from voirdire.report.figures import forest, position, predictive
from voirdire.report.figures.style import drawing, look
from voirdire.report.groups import groups, same_ranks
from voirdire.report.made import made
from voirdire.report.observed import observed_over_expected
from voirdire.report.page import Block, Figure, Finding, Findings, Page, Section, Text, named
from voirdire.report.table import Table, is_missing, share, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from voirdire.result import Fit

PER_COLUMN = 45  # rows of a forest before it takes another column
MOST_COLUMNS = 3  # what fits beside each other on a page; longer forests grow
_TOP = 12  # pairs of judges listed
_KNOWN = ("model", "method", "seed", "prob", "votes", "seconds", "versions", "notes", "pairs")
_SECTIONS = ("items", "judges", "criteria", "checks")
_ORDER = {"fail": 0, "warn": 1, "ok": 2}
_WORDS = {
    "fail": "Do not rely on this result before the failed checks are resolved.",
    "warn": "Usable with care: read the warnings first.",
    "ok": "No check found anything wrong.",
}


def fit_page(fit: Fit, human: Sequence[str] = ()) -> Page:
    """The report of a fit.

    Parameters
    ----------
    fit : Fit
    human : sequence of str
        Judges of the table who are people: how well the others agree with each of them is measured.

    Raises
    ------
    InputError
        A human who is no judge of the fit.
    """
    result = fit.as_dict()
    sections = [
        Section("best", "What is best?", "Best", tuple(_best(fit, result))),
        Section("trust", "Can I trust it?", "Trust", tuple(_trust(fit, result))),
        Section("judges", "Which judges can I trust?", "Judges", tuple(_judges(fit, result))),
        Section("criteria", "What matters?", "Criteria", tuple(_criteria(fit, result))),
        Section("people", "How well does it agree with people?", "People", tuple(people.blocks(fit, human))),
        Section("made", "How was it made?", "Method", (*_further(result), *made(fit))),
    ]
    first = result["items"][0]
    sure = "" if is_missing(first.get("p_best")) else f"best with probability {share(first['p_best'])}"
    warned = [row for row in result["checks"] if row["level"] != "ok"]
    count = _counts(fit)
    tiles = (
        ("Best item", named(first["item"]), sure),
        ("Checks", {"ok": "all fine", "warn": "warnings", "fail": "failed"}[fit.level], _told(warned)),
        ("Judges", f"{len(result['judges']):,}", _standing(result["judges"])),
        ("Votes", f"{result['votes']:,}", f"on {len(result['items']):,} items"),
    )
    subtitle = f"{fit.model.title}, by {fit.method}. {count}."
    return Page("Report of a judge panel", subtitle, tuple(sections), tiles, fit.level)


def _counts(fit: Fit) -> str:
    problem = fit.problem
    criteria = f", {len(problem.criteria)} criteria" if len(problem.criteria) > 1 else ""
    judges = "1 judge" if len(problem.judges) == 1 else f"{len(problem.judges):,} judges"
    return f"{int(problem.judge_votes.sum()):,} votes, {len(problem.items):,} items, {judges}{criteria}"


def _told(warned: Sequence[dict[str, Any]]) -> str:
    return ", ".join(row["check"] for row in warned[:3]) + (" …" if len(warned) > 3 else "")


def _best(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    rows = [dict(row) for row in result["items"]]
    if result.get("pairs"):
        yield from _unlinked(fit, result["pairs"])
    group, same = groups(fit), same_ranks(fit)
    if group and same:
        for row, number, (low, high) in zip(rows, group, same, strict=True):
            row["group"] = number
            row["same_as"] = "–" if low == high else f"{low}–{high}"
    if not result.get("pairs"):
        yield Text(_answer(rows, group), "lead")
    yield _draw(
        fit,
        "ranking",
        "Scores",
        f"Scores in log-odds with {100 * fit.prob:g}% intervals. Items on one band are not told apart from the "
        "first item of their band.",
        _columned(len(rows), lambda ax, part: _ranking_part(ax, fit, group, part)),
    )
    notes = (
        "Two items are told apart where one is the better in at least "
        f"{0.5 * (1 + fit.prob):.3g} of the posterior draws. “not told from” gives the ranks that an item cannot be "
        "told apart from; a group ends where an item is told apart from the group's first.",
    )
    yield table(
        "ranking",
        f"Items, best first, with {100 * fit.prob:g}% intervals",
        rows,
        heads={"same_as": "not told from"},
        order=("rank", "item", "score", "p_best", "group", "same_as"),
        drop=("sd",),
        missing=_no_intervals(fit),
        notes=notes if group else (f"No intervals: method {fit.method} gives the mode alone.",),
        groups=tuple(group or ()),
    )
    yield from _figure(
        fit,
        "rank-probability",
        "Probability of every rank",
        "Dark where an item is likely to stand; a wide band says that the votes leave its place open.",
    )


def _unlinked(fit: Fit, pairs: Sequence[dict[str, Any]]) -> Iterator[Block]:
    """Pairs of items that no vote links with others: each has its own probability, and no ranking."""
    yield Text(
        f"The {len(pairs):,} pairs are not linked by votes: each is judged for itself, and the ranking below says "
        "nothing across pairs.",
        "lead",
    )
    yield table("unlinked", "Probability that the first item of a pair is better", pairs)


def _answer(rows: Sequence[dict[str, Any]], group: Sequence[int] | None) -> str:
    best = named(rows[0]["item"])
    if group is None:
        return f"{best} has the highest score. This fit has no intervals, so how sure that is remains open."
    leaders = sum(one == 1 for one in group)
    chance: Any = rows[0].get("p_best")
    sure = "" if is_missing(chance) else f" (probability {share(chance)} of being the best)"
    if len(rows) == 1:
        return f"{best} is the only item."
    if leaders == 1:
        told = f"The {len(rows)} items fall into {max(group)} groups." if len(rows) > 2 else ""
        return f"{best} is the best item{sure}: it is told apart from all others. {told}".strip()
    return (
        f"{best} comes first{sure}, but {leaders - 1} other {'items are' if leaders > 2 else 'item is'} not told "
        f"apart from it: {', '.join(named(row['item']) for row in rows[1:leaders][:5])}"
        f"{' …' if leaders > 6 else ''}. The {len(rows)} items fall into {max(group)} "
        f"{'group' if max(group) == 1 else 'groups'}."
    )


def _trust(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    yield Text(_WORDS[fit.level], "lead")
    ordered = sorted(result["checks"], key=lambda row: _ORDER[row["level"]])
    yield Findings(tuple(Finding(row["check"], row["level"], row["message"]) for row in ordered))
    if any(row["check"] == "mirror" and row["level"] != "ok" for row in ordered):
        yield from _figure(
            fit,
            "mirror",
            "The panel turned round",
            "How much less probable the prior finds each draw with every strength reversed; the votes fit both alike.",
        )
    yield from _figure(
        fit,
        "calibration",
        "Are the probabilities right?",
        "Votes in ten bins by the probability that the fit gives them, and the share that came out (95% intervals). "
        "On the diagonal, probabilities mean what they say; these are the votes that were fitted.",
    )
    yield from _figure(
        fit,
        "ppc",
        "Does the fit give votes like these?",
        f"Share of wins of every item (a tie counts half), and the {100 * fit.prob:g}% range of votes drawn from the "
        "fit. Orange diamonds lie outside: more than a tenth or so of them, and the model misses something.",
        _columned(len(fit.ranking()), _ppc_part(fit)),
    )
    if fit.method == "nuts":
        yield from _figure(fit, "trace", "Chains", "Draws of the value whose chains agree least.")


def _judges(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    rows = result["judges"]
    known = any(not is_missing(row.get("reliability")) for row in rows)
    if not known:
        yield Text(f"{fit.model.name} takes all judges alike: it says nothing about which to trust.", "lead")
    else:
        yield Text(_standing(rows, whole=True), "lead")
        rows = sorted(rows, key=lambda row: -(row["reliability"] or 0.0))
        yield _draw(
            fit,
            "judges",
            "Reliability",
            "Probability of answering as the comparison came out, averaged over both positions: 0.5 is chance. "
            "Grey squares: not told from chance; red triangles: below it, used reversed.",
            _columned(len(rows), lambda ax, part: _judges_part(ax, fit, part)),
        )
    intervals = {key: value for key, value in _no_intervals(fit).items() if known}
    yield table(
        "judges",
        f"Judges{', most reliable first' if known else ''}, with {100 * fit.prob:g}% intervals",
        rows,
        order=("judge", "family", "votes", "reliability", "position_bias", "tie_rate", "first_rate"),
        missing=intervals,
        notes=(
            "“right”, “picks first” and “ties” are what a judge does on a typical pair, two items drawn at random. "
            "Position bias runs from -0.5 (always the second) to 0.5 (always the first).",
        ),
    )
    yield from _figure(
        fit,
        "position",
        "Position bias",
        "Where the two marks lie apart, the answer depends on the order in which the items were shown; the most "
        "biased judges first.",
        _columned(len(rows), lambda ax, part: _position_part(ax, fit, part)),
    )
    yield from _figure(
        fit,
        "agreement",
        "Who agrees with whom",
        "Agreement observed over agreement expected from the fit, judges who are alike beside each other; blank where "
        "fewer than five votes are on the same comparisons. Blue blocks share more than the items' order: copies, "
        "models of one family, or common errors.",
    )
    yield from _pairs(fit)


def _pairs(fit: Fit) -> Iterator[Block]:
    try:
        found = observed_over_expected(fit).records()
    except InputError:
        return
    if found:
        yield table(
            "pairs",
            f"Pairs of judges that agree most beyond what the fit expects (first {_TOP})",
            found[:_TOP],
            decimals={"observed": 2, "expected": 2, "ratio": 2, "z": 1},
            notes=(
                "z is the difference in standard errors of independent votes: of many pairs a few lie above 3 by "
                "chance.",
            ),
        )


def _criteria(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    rows = result["criteria"]
    if len(rows) < 2:
        yield Text("There is one criterion: the ranking is its own.", "lead")
        return
    rows = sorted(rows, key=lambda row: -row["weight"])
    equal = fit.model.weights is None or fit.model.weights.kind != "votes"
    if equal:
        yield Text("All criteria count the same in this model.", "lead")
    else:
        top = rows[0]
        yield Text(
            f"{named(top['criterion'])} counts most, with {share(top['weight'])} of the weight; "
            f"{named(rows[-1]['criterion'])} least, with {share(rows[-1]['weight'])}.",
            "lead",
        )
        yield _draw(
            fit,
            "criteria",
            "Weights of the criteria",
            f"Weights sum to one; {100 * fit.prob:g}% intervals. The dashed line is equal weights.",
        )
        yield table(
            "criteria",
            f"Weights of the criteria, with {100 * fit.prob:g}% intervals",
            rows,
            missing=_no_intervals(fit),
        )
    yield from _figure(
        fit,
        "strengths",
        "Strengths under every criterion",
        "Blue: above the average item under that criterion; orange: below. Items in the order of the ranking.",
    )
    found: list[dict[str, Any]] = fit.strengths().to_dict("records")  # type: ignore[assignment]
    yield table(
        "strengths",
        f"Strength of every item under every criterion, with {100 * fit.prob:g}% intervals",
        found,
        drop=("sd",),
        missing=_no_intervals(fit),
    )


def _further(result: dict[str, Any]) -> Iterator[Table]:
    """Tables of the result that no section above knows."""
    for key, rows in result.items():
        if key in _SECTIONS or key in _KNOWN or not isinstance(rows, list) or not rows:
            continue
        if all(isinstance(row, dict) for row in rows):
            yield table(f"more-{key.replace('_', '-')}", key.replace("_", " ").capitalize(), rows)


def _standing(rows: Sequence[dict[str, Any]], whole: bool = False) -> str:
    """How many judges are surely better than chance, not told from it, surely worse."""
    sure = [row for row in rows if not is_missing(row.get("reliability_low"))]
    if not sure:
        return "Reliabilities have no intervals here: which judges beat chance remains open." if whole else ""
    above = sum(row["reliability_low"] > 0.5 for row in sure)
    below = sum(row["reliability_high"] < 0.5 for row in sure)
    if not whole:
        return f"{above} better than chance" + (f", {below} worse" if below else "")
    open_ = len(sure) - above - below
    told = [f"{above:,} of {len(sure):,} {'judge is' if len(sure) == 1 else 'judges are'} better than chance"]
    told += [f"{open_:,} cannot be told from it"] if open_ else []
    told += [f"{below:,} {'is' if below == 1 else 'are'} worse, and used reversed"] if below else []
    return ", ".join(told) + "."


def _no_intervals(fit: Fit) -> dict[str, str]:
    if fit.posterior.draws is not None:
        return {}
    why = f"No intervals: method {fit.method} gives the mode alone."
    return {"p_best": why}


def _figure(
    fit: Fit, kind: str, title: str, caption: str, draw: Callable[[Fit, str], Drawing] | None = None
) -> Iterator[Block]:
    """A figure where this fit has one, else a remark why there is none."""
    try:
        _possible(fit, kind)
    except InputError as error:
        yield Text(f"{title}: {'; '.join(error.problems)}.", "note")
        return
    yield _draw(fit, kind, title, caption, draw)


def _possible(fit: Fit, kind: str) -> None:
    """Raise the InputError that drawing would; nothing is drawn."""
    from voirdire.report import possible

    possible.check(fit, kind)


def _draw(
    fit: Fit, kind: str, title: str, caption: str, draw: Callable[[Fit, str], Drawing] | None = None
) -> Figure:
    return Figure(kind, title, caption, lambda: (draw or _whole)(fit, kind))


def _whole(fit: Fit, kind: str) -> Drawing:
    with look():
        figure = drawing(*figures.KINDS[kind].size(fit))
        figures.KINDS[kind].draw(fit, figure.subplots())
    return figure


def _columned(count: int, part: Callable[[Axes, slice], None]) -> Callable[[Fit, str], Drawing]:
    """Drawing of a forest in as many columns as its rows need; as it is where they fit into one."""

    def draw(fit: Fit, kind: str) -> Drawing:
        columns = min(MOST_COLUMNS, -(-count // PER_COLUMN))
        if columns < 2:
            return _whole(fit, kind)
        rows = -(-count // columns)
        with look():
            figure = drawing(max(9.0, 3.7 * columns), 0.9 + forest.ROW * rows)
            figure.get_layout_engine().set(wspace=0.06)  # type: ignore[union-attr, call-arg]
            axes = figure.subplots(1, columns, sharex=True, squeeze=False)[0]
            for number, ax in enumerate(axes):
                part(ax, slice(number * rows, min(count, (number + 1) * rows)))
        return figure

    return draw


def _ranking_part(ax: Axes, fit: Fit, group: Sequence[int] | None, part: slice) -> None:
    found = fit.ranking().iloc[part]
    values = (found[name].to_numpy(dtype=float) for name in ("score", "low", "high"))
    forest.forest(ax, found["item"].tolist(), *values, groups=list(group or ())[part])
    ax.set_xlabel("score")


def _judges_part(ax: Axes, fit: Fit, part: slice) -> None:
    forest.judge_rows(ax, fit, forest.reliability_order(fit)[part])
    low = fit.judges()[["reliability", "reliability_low"]].to_numpy(dtype=float)
    ax.set_xlim(max(0.0, min(0.45, float(np.nanmin(low)) - 0.03)), 1.01)
    ax.set_xlabel("reliability")


def _ppc_part(fit: Fit) -> Callable[[Axes, slice], None]:
    kept: list[predictive.Shares] = []

    def draw(ax: Axes, part: slice) -> None:
        if not kept:
            kept.append(predictive.shares(fit))
        predictive.ppc_rows(ax, kept[0], part)

    return draw


def _position_part(ax: Axes, fit: Fit, part: slice) -> None:
    position.position_rows(ax, fit, position.position_order(fit)[part], legend=part.start == 0)
    ax.set_xlabel("picks the better item when shown …")
