"""Page of a fit: ranking, checks, judges, criteria, agreement with people, method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.report import pair_agreement
from voirdire.report.figures.forest import chance_reliability
from voirdire.report.page import LEVEL_WORDS, Page, Section, isolate_name, title_with_names
from voirdire.report.provenance import caveat_text, origin_blocks
from voirdire.report.sections.best import best_section, systems_section
from voirdire.report.sections.criteria import (
    SETTLED_PROBABILITY,
    classes_section,
    count_settled,
    criteria_section,
    shares_section,
)
from voirdire.report.sections.judges import better_than_chance_sentence, groups_section, judges_section, trust_section
from voirdire.report.table import Table, is_missing, make_table, share_text
from voirdire.tables.numbers import count_in_words

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

_SETTING_KEYS = ("model", "method", "seed", "prob", "votes", "seconds", "versions", "notes", "pairs")
_SECTION_KEYS = ("items", "judges", "criteria", "checks", "shares", "confusion", "groups", "people", "over_time")
_MAX_ROWS = 400  # maximum number of rows of a table that belongs to no section


def fit_page(fit: Fit, human: Sequence[str] = ()) -> Page:
    """Make the report of a fit, with sections for the parts of its result.

    Parameters
    ----------
    fit : Fit
    human : sequence of str
        Judges of the table who are people; the agreement of the other judges with each of them is measured.

    Raises
    ------
    InputError
        A name in ``human`` is no judge of the fit.
    """
    result = fit.as_dict()
    subject = "systems" if result.get("systems") else "items"
    names = (row[subject.removesuffix("s")] for row in result[subject])
    title = title_with_names("Report of a judge panel", names, subject)
    subtitle = f"{fit.model.title}, by {fit.method}. {_counts_text(fit)}."
    sections, tiles = tuple(_fit_sections(fit, result, human)), tuple(_fit_tiles(fit, result))
    return Page(title, subtitle, sections, tiles, fit.level)


def _fit_sections(fit: Fit, result: dict[str, Any], human: Sequence[str]) -> Iterator[Section]:
    if "score" in fit.tables["items"]:
        yield Section("best", "What is best?", "Best", tuple(best_section(fit, result)))
    else:
        if fit.decision is not None:
            yield Section("best", "What is best?", "Best", tuple(systems_section(fit, result)))
        yield Section("classes", "Which class is each item?", "Classes", tuple(classes_section(fit, result)))
    yield Section("trust", "Can I trust it?", "Trust", tuple(trust_section(fit, result)))
    yield Section("judges", "Which judges can I trust?", "Judges", tuple(judges_section(fit, result)))
    if result.get("criteria"):
        yield Section("criteria", "What matters?", "Criteria", tuple(criteria_section(fit, result)))
    if result.get("shares"):
        yield Section("shares", "How common are the classes?", "Shares", tuple(shares_section(fit, result)))
    if len(fit.tables.get("groups", {}).get("group", ())) > 1:
        yield Section("groups", "Do groups of judges differ?", "Groups", tuple(groups_section(fit, result)))
    yield Section(
        "people", "How well does it agree with people?", "People", tuple(pair_agreement.people_blocks(fit, human))
    )
    yield Section("made", "How was it made?", "Method", (*origin_blocks(fit), *_further_tables(fit, result)))


def _fit_tiles(fit: Fit, result: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    warned = [row for row in result["checks"] if row["level"] != "ok"]
    names = ", ".join(row["check"] for row in warned[:3]) + (" …" if len(warned) > 3 else "")
    # first, because the other tiles are valid only if the checks are passed
    yield "Checks", LEVEL_WORDS[fit.level], names
    items = result["items"]
    caveat = f"not to be relied on: {reason}" if (reason := caveat_text(fit)) else ""
    scored = "score" in fit.tables["items"]
    if (scored and not fit.kind.has_unlinked_pairs(fit.problem)) or fit.decision is not None:
        first = items[0] if fit.decision is None else fit.decision.row
        leaders = 1 if fit.decision is None else len(fit.decision.first)
        probability_note = (
            "" if is_missing(first.get("p_best")) else f"best with probability {share_text(first['p_best'])}"
        )
        probability_note += "" if leaders == 1 else f"; shares the first place with {leaders - 1} more"
        best = "Best system" if result.get("systems") else "Best item"
        yield best, isolate_name(first["item"]), caveat or probability_note
    if not scored:
        total_text = f" of {len(items):,} classes" if "criterion" in items[0] else ""
        settled_text = f"{count_settled(items):,}{total_text} settled (probability {SETTLED_PROBABILITY:g})"
        yield "Items", f"{len(fit.problem.items):,}", caveat or settled_text
    order_varies = fit.kind.fixed_order(fit.problem) is None
    yield (
        "Judges",
        f"{len(result['judges']):,}",
        better_than_chance_sentence(result["judges"], chance_reliability(fit), position=order_varies),
    )
    for name, count in fit.kind.named_counts(fit.problem).items():
        yield name.capitalize(), f"{count:,}", f"on {len(fit.problem.items):,} items"


def _counts_text(fit: Fit) -> str:
    problem = fit.problem
    criteria = f", {len(problem.criteria)} criteria" if len(problem.criteria) > 1 else ""
    judges = count_in_words(len(problem.judges), "judges")
    return f"{fit.kind.answers(problem)}, {count_in_words(len(problem.items), 'items')}, {judges}{criteria}"


def _further_tables(fit: Fit, result: dict[str, Any]) -> Iterator[Table]:
    """Yield the tables of the result that belong to no section above."""
    shown = {*_SECTION_KEYS, *_SETTING_KEYS, *(() if fit.decision is None else ("systems",))}
    for key, rows in result.items():
        if key in shown or not isinstance(rows, list) or not rows:
            continue
        if all(isinstance(row, dict) for row in rows):
            title = key.replace("_", " ").capitalize()
            notes = (f"The first {_MAX_ROWS} of {len(rows):,} rows.",) if len(rows) > _MAX_ROWS else ()
            yield make_table(f"more-{key.replace('_', '-')}", title, rows[:_MAX_ROWS], notes=notes)
