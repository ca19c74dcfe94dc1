"""Agreement of a panel with judges of the table who are people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.agreement.coefficients.rows import json_rows
from voirdire.agreement.verb import agreement
from voirdire.errors import InputError
from voirdire.report.page import Block, Facts, Text, isolate_name
from voirdire.report.ppc import votes_of_fit
from voirdire.report.table import make_table
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

RESAMPLES = 2000
MEASURES = ("agreement_rate", "cohen_kappa")


def people_blocks(fit: Fit, human: Sequence[str]) -> Iterator[Block]:
    """Yield blocks about people: agreement of every judge with each human judge, or a hint on how to get it.

    Raises
    ------
    InputError
        A name in ``human`` is no judge of the fit.
    """
    unknown = [name for name in human if name not in fit.problem.judges]
    if unknown:
        raise InputError(
            [
                f"--human {name!r} is none of the {len(fit.problem.judges)} judges of this fit"
                f"{nearest_name(name, fit.problem.judges) or f'; known are {known_names(fit.problem.judges)}'}"
                for name in unknown
            ]
        )
    result = fit.as_dict()
    anchors = result.get("anchors")
    if anchors:
        yield from _anchor_blocks(anchors, fit.kind.page_words.people_noun)
    if result.get("people"):
        yield make_table("people-beside", "People beside the judges", result["people"])
    if not human and not anchors:
        yield Text("This run names no person, so it says nothing about agreement with people.", "lead")
        yield Text(
            "If a judge of the table is a person, make the report with --human NAME; agreement of scores and labels "
            "with people is measured by voirdire metaeval and voirdire agree, whose saved results have reports of "
            "their own.",
            "note",
        )
        return
    if not human:
        return

    votes = votes_of_fit(fit)
    for number, name in enumerate(human):
        rows = _agreement_rows(votes, name, fit.prob, fit.seed)
        defined = [row for row in rows if row["agreement_rate"] is not None]
        yield Text(_agreement_sentence(name, defined), "lead")
        yield make_table(
            f"people-{number}",
            f"Agreement with {isolate_name(name)}, with {100 * fit.prob:g}% bootstrap intervals",
            rows,
            heads={"agreement_rate": "agreement", "cohen_kappa": "Cohen's kappa", "n": "comparisons"},
            note_key="note",
            notes=(
                f"{RESAMPLES:,} resamples of comparisons. The human's own votes are part of the fit as any judge's.",
            ),
        )


def _anchor_blocks(anchors: Mapping[str, Any], people_answers: str) -> Iterator[Block]:
    """Yield blocks on the use of people's answers in the fit, and on its accuracy for answers left out."""
    facts = {key: value for key, value in anchors.items() if isinstance(value, str | int | float)}
    yield Text(f"{people_answers} are part of this fit.", "lead")
    yield Facts("Answers of people", tuple((key.capitalize(), str(value)) for key, value in facts.items()))
    for key, rows in anchors.items():
        if isinstance(rows, list) and rows and all(isinstance(row, Mapping) for row in rows):
            yield make_table(
                f"anchor-{key}", f"{key.capitalize()}: how well each predicts people's answers left out", rows
            )


def _agreement_sentence(name: str, rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return f"No judge answered a comparison that {isolate_name(name)} answered."
    best = rows[0]
    return (
        f"Of the judges who share comparisons with {isolate_name(name)}, {isolate_name(best['judge'])} agrees most "
        f"often: in {best['agreement_rate']:.0%} of {best['n']:,}."
    )


def _agreement_rows(votes: Any, human: str, prob: float, seed: int) -> list[dict[str, Any]]:
    coefficients = agreement(votes, measures=MEASURES, against=human, resamples=RESAMPLES, prob=prob, seed=seed)
    rows: dict[tuple[str, Any], dict[str, Any]] = {}
    for row in json_rows(coefficients):
        judge = row["judges"][0]
        judge_row = rows.setdefault((judge, row["criterion"]), {"judge": judge, "criterion": row["criterion"]})
        measure = row["measure"]
        judge_row |= {measure: row["value"], f"{measure}_low": row["low"], f"{measure}_high": row["high"]}
        judge_row |= {"n": max(row["n"], judge_row.get("n", 0))}
        if row["note"] and not judge_row.get("note"):
            judge_row["note"] = row["note"]
    return sorted(rows.values(), key=lambda row: -(row["agreement_rate"] or -1.0))
