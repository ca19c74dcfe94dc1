"""Section on the best items: the ranking, and which items cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.report.figure_blocks import figure
from voirdire.report.groups import groups, same_ranks
from voirdire.report.kinds import doubted
from voirdire.report.page import Block, Text, named
from voirdire.report.table import is_missing, share, subject_heads, table

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def best(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """The answer in a sentence, the scores, the probability of every rank, the table."""
    rows = [dict(row) for row in result["items"]]
    if result.get("pairs"):
        yield from _unlinked(result["pairs"])
    group, same = groups(fit), same_ranks(fit)
    if group and same:
        for row, number, (low, high) in zip(rows, group, same, strict=True):
            row["group"] = number
            row["same_as"] = "–" if low == high else f"{low}–{high}"
    if not result.get("pairs"):
        yield Text(answer(rows, group) + doubted(fit), "lead")
        for said in fit.kind.outcome(fit.problem, fit.posterior):
            yield Text(said)
    bands = " Items on one band are not told apart from the first item of their band." if group else ""
    unit = fit.kind.unit(fit.problem)
    sure = subject_heads(rows[0], "score", unit)
    intervals = f" with {100 * fit.prob:g}% intervals" if group else ""
    yield from figure(fit, "ranking", "Scores", f"Scores in {unit}{intervals}.{bands}")
    yield from figure(
        fit,
        "rank-probability",
        "Probability of every rank",
        "Dark where an item is likely to stand; a wide band says that its place is left open.",
    )
    notes = (
        "Two items are told apart where one is the better in at least "
        f"{0.5 * (1 + fit.prob):.3g} of the posterior draws. “not told from” gives the ranks that an item cannot be "
        "told apart from; a group ends where an item is told apart from the group's first.",
    )
    yield table(
        "ranking",
        f"Items, best first{',' if group else ''}{intervals}",
        rows,
        heads={"same_as": "not told from"} | sure,
        order=("rank", "item", *sure, "p_best", "group", "same_as"),
        drop=("sd",),
        missing=no_intervals(fit),
        notes=notes if group else (f"No intervals: method {fit.method} gives the mode alone.",),
        groups=tuple(group or ()),
    )


def _unlinked(pairs: Sequence[dict[str, Any]]) -> Iterator[Block]:
    """Pairs of items that no vote links with others: each has its own probability, and no ranking."""
    yield Text(
        f"The {len(pairs):,} pairs are not linked by votes: each is judged for itself, and the ranking below says "
        "nothing across pairs.",
        "lead",
    )
    yield table("unlinked", "Probability that the first item of a pair is better", pairs)


def answer(rows: Sequence[dict[str, Any]], group: Sequence[int] | None) -> str:
    """Say which item is best and what cannot be told from it."""
    first = named(rows[0]["item"])
    if group is None:
        return f"{first} has the highest score. This fit has no intervals, so how sure that is remains open."
    leaders = sum(one == 1 for one in group)
    chance: Any = rows[0].get("p_best")
    sure = "" if is_missing(chance) else f" (probability {share(chance)} of being the best)"
    if len(rows) == 1:
        return f"{first} is the only item."
    if leaders == 1:
        told = f"The {len(rows)} items fall into {max(group)} groups." if len(rows) > 2 else ""
        return f"{first} is the best item{sure}: it is told apart from all others. {told}".strip()
    return (
        f"{first} comes first{sure}, but {leaders - 1} other {'items are' if leaders > 2 else 'item is'} not told "
        f"apart from it: {', '.join(named(row['item']) for row in rows[1:leaders][:5])}"
        f"{' …' if leaders > 6 else ''}. The {len(rows)} items fall into {max(group)} "
        f"{'group' if max(group) == 1 else 'groups'}."
    )


def no_intervals(fit: Fit) -> dict[str, str]:
    """Why a fit without draws has no probability of being best, by column."""
    if fit.posterior.draws is not None:
        return {}
    return {"p_best": f"No intervals: method {fit.method} gives the mode alone."}
