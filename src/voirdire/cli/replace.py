"""The verb ``replace``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from voirdire.agreement import may_replace
from voirdire.agreement.coefficients.rows import json_rows
from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.cli.reading import TableOptions, split_commas
from voirdire.settings import PROB

Agreement = Literal["equality", "weighted", "distance"]


@declare_options()
def replace(
    table: Path,
    *,
    humans: list[Path] | None = None,
    margin: float = 0.05,
    bar: float | None = None,
    epsilon: float = 0.2,
    measure: Agreement | None = None,
    judge: list[str] | None = None,
    prob: float = PROB,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Test whether a judge or the panel may replace people, or how many more human answers are needed to decide.

    Parameters
    ----------
    humans : FILE
        People's answers with a column person (or judge), or a file for each person; repeatable. Or name people in the
        table by --people.
    margin
        Non-inferiority margin: largest acceptable shortfall of a judge's agreement compared with people's.
    bar
        With one person per item: known agreement of people with each other.
    epsilon
        Parameter of the alternative annotator test: 0.2 for experts, 0.15 skilled people, 0.1 a crowd.
    measure
        Measure of agreement: equality (votes, labels), weighted (ordered levels), distance (other scores).
    judge : A,B,...
        Judges to test; repeatable. Default: all.
    prob
        Coverage of the intervals.
    """

    verdicts = may_replace(
        reading.table(table, humans or []),
        reading.people_tables(humans),
        margin=margin,
        bar=bar,
        epsilon=epsilon,
        measure=measure,
        prob=prob,
        judges=split_commas(judge) or None,
        levels=reading.levels,
    )
    rows = json_rows(verdicts, verdicts.columns)
    for row in rows:
        row["more"] = None if row["more"] is None else int(row["more"])
    people = verdicts.attrs["people"]
    result = {"margin": margin, "epsilon": epsilon, "prob": prob, "rows": rows, "people": people}
    title = f"May they replace people, within {margin:g}? {100 * prob:g}% intervals"
    console.print_result(result, json, lambda: _show_replacement(rows, people, title))


def _show_replacement(rows: list[dict[str, Any]], people: list[dict[str, Any]], title: str) -> None:
    from rich.text import Text

    many_criteria = len({row["criterion"] for row in rows}) > 1

    def row_names(row: dict[str, Any]) -> dict[str, Any]:
        return {"judge": row["judge"]} | ({"criterion": row["criterion"]} if many_criteria else {})

    shown = [
        row_names(row)
        | {
            "verdict": Text(row["verdict"].replace(" yet", "\nyet")),
            "agrees": _number_text(row["agreement"]),
            "people": _number_text(row["people"]),
            "difference": f"{_number_text(row['difference'])} [{_number_text(row['low'])}, "
            f"{_number_text(row['high'])}]",
            "more": "" if row["more"] == 0 else "all" if row["more"] is None else f"{row['more']:,}",
            "omega": _number_text(row["omega"]),
            "rho": _number_text(row["rho"]),
        }
        for row in rows
    ]
    shown += [row_names(row) | {"verdict": "person", "agrees": _number_text(row["agreement"])} for row in people]
    table = console.empty_table(title, gap=0)
    console.stdout_console().print(console.fill_table(table, shown, ["judge", "criterion"]))
    for row in [*rows, *people]:
        coefficients = [
            f"{name} {_number_text(row[key])}" for key, name in _COEFFICIENTS.items() if row[key] is not None
        ]
        console.stdout_console().print(
            Text(
                console.printable_text(f"{row['means']}{' ' if coefficients else ''}{', '.join(coefficients)}".rstrip())
            )
        )
    for note in dict.fromkeys(row["note"] for row in rows if row["note"]):
        console.stdout_console().print(Text(console.printable_text(note)))
    console.print_sentence(
        f"People answered {max(row['n'] for row in rows):,} of {max(row['units'] for row in rows):,} units. The column "
        "more: number of further units that people must answer for a verdict ('all': even all units are too few)."
    )


_COEFFICIENTS = {"kappa": "kappa", "correlation": "r", "error": "mean absolute error"}


def _number_text(value: float | None) -> str:
    return "-" if value is None else f"{value:z.2f}"
