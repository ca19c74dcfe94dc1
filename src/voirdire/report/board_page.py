"""Page of a leaderboard: result of the checks, board, votes needed to settle it, groups, fixed effects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from voirdire.report.page import LEVEL_WORDS, Block, Page, Section, Text, findings_of, isolate_name
from voirdire.report.provenance import origin_blocks
from voirdire.report.sections.best import with_ranks
from voirdire.report.table import RANKS_NOTE, make_table, share_text, target_panel_headings
from voirdire.tables.numbers import count_in_words

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

PEOPLE_NOTE = (
    " Scores are about people, of which further answers of judges tell no more: more_people counts answers of people "
    "to which of the two is better."
)


def board_page(fit: Fit, result: dict[str, Any], name: str = "") -> Page:
    """Make the page of a leaderboard.

    Parameters
    ----------
    fit : Fit
    result : dict
        Result of :func:`voirdire.decide.board.board`.
    name : str
        Name of the data.
    """
    checks = findings_of(result["checks"])
    warned = ", ".join(check.name for check in checks.entries if check.level != "ok")
    decision, leaders = result["decision"], result["decision"]["first"]
    first_note = (
        f"shares the place with {len(leaders) - 1} more" if len(leaders) > 1 else "distinguishable from all others"
    )
    tiles = (
        ("Checks", LEVEL_WORDS[fit.level], warned),
        (
            "First",
            isolate_name(decision["leader"]),
            "not to be relied on: checks failed" if fit.level == "fail" else first_note,
        ),
        ("Best with probability", share_text(decision["p_best"]), f"expected loss {decision['loss']:.2g}"),
    )
    sections = [
        Section("board", "What is best?", "Board", tuple(_board_blocks(fit, result))),
        Section("trust", "Can I act on it?", "Trust", (checks,)),
        Section("settle", "What would settle it?", "Settle", tuple(_votes_needed_blocks(result))),
    ]
    if result.get("groups") and "items" in result["groups"][0]:
        sections.append(Section("groups", "Where is each item good?", "Groups", tuple(_group_tables(result))))
    if result.get("covariates"):
        sections.append(
            Section(
                "fixed", "What was held fixed?", "Held fixed", tuple(_fixed_effects(result, fit.kind.unit(fit.problem)))
            )
        )
    sections.append(Section("made", "How was it made?", "Method", tuple(origin_blocks(fit))))
    title = f"Leaderboard: {isolate_name(name)}" if name else "Leaderboard"
    subtitle = (
        f"{fit.kind.answers(fit.problem)}, {count_in_words(len(result['items']), 'items')}, "
        f"{count_in_words(len(fit.problem.judges), 'judges')}."
    )
    return Page(title, subtitle, tuple(sections), tiles, fit.level)


def _board_blocks(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    yield Text(result["verdict"], "lead")
    rows = [{k: v for k, v in row.items() if k != "rank_probabilities"} for row in result["items"]]
    rows = with_ranks(rows, {row["item"]: (row["first"], row["last"]) for row in rows})
    for sentence in fit.kind.outcome(fit.problem, fit.posterior):
        yield Text(sentence)
    heads = target_panel_headings(rows[0], "score", fit.kind.unit(fit.problem))
    notes = (
        result["decision"]["rule"],
        RANKS_NOTE,
        "loss: how much worse than the best an item is on average, which is what choosing it costs.",
    )
    yield make_table(
        "board",
        f"Items, best first, with {100 * result['prob']:g}% intervals",
        rows,
        heads=heads,
        order=("rank", "item", *heads, "unadjusted", "ranks", "p_best", "loss"),
        drop=("sd", "rank_low", "rank_high", "first", "last"),
        notes=notes,
    )
    if result["reference"] is not None:
        reference_name = isolate_name(result["reference"]["item"])
        yield make_table(
            "reference",
            f"Win rates against {reference_name}, ties half won, with {100 * result['prob']:g}% intervals",
            result["reference"]["rates"],
            heads={"value": "win rate", "n": "votes"},
            notes=("win rate: of these votes as they are, with what judges favour by place, length or family.",),
        )


def _votes_needed_blocks(result: dict[str, Any]) -> Iterator[Block]:
    yield Text(
        "How many more votes of the same kind (and more contexts, where these are what is uncertain) until two "
        "neighbours are distinguishable, if their difference is what it seems now; empty beyond 100 times as many."
        + (PEOPLE_NOTE if any("more_people" in row for row in result["next"]) else "")
    )
    rows = [
        {k: v for k, v in row.items() if k != "apart"} | {"distinguishable": "yes" if row["apart"] else "no"}
        for row in result["next"]
    ]
    keys = list(dict.fromkeys(key for row in rows for key in row))
    yield make_table("next", "Neighbours on the board", [{key: row.get(key) for key in keys} for row in rows])


def _group_tables(result: dict[str, Any]) -> Iterator[Block]:
    for number, group in enumerate(result["groups"]):
        yield make_table(f"group-{number}", f"{group['by']}: {group['group']}", group["items"], drop=("sd",))


def _fixed_effects(result: dict[str, Any], unit: str) -> Iterator[Block]:
    yield make_table("covariates", f"Effects in {unit} for each unit of the covariate", result["covariates"])
    if result.get("own_family"):
        rows = [row | {"judge": row["judge"] or "over all"} for row in result["own_family"]]
        yield make_table("own-family", f"Effect of the judge's own family, {unit}", rows)
