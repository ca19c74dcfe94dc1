"""The verb ``rate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.cli.reading import TableOptions, split_commas
from voirdire.decide.rate import rate as share_of_good
from voirdire.settings import PROB


@declare_options()
def rate(
    table: Path,
    *,
    humans: list[Path] | None = None,
    by: str | None = None,
    judge: list[str] | None = None,
    margin: float = 0.03,
    prob: float = PROB,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Estimate the share of items that people would call good, from judges' answers and a sample of people's.

    Parameters
    ----------
    table : TABLE
        The judges' answers: labels or scores.
    humans : FILE
        People's labels or scores of a random sample of the items; with a column person, or a file for each person;
        repeatable. Or name people in the table by --people.
    by : COLUMN
        Add the rate in each group of this column.
    judge : A,B,...
        Judges to use; repeatable. Default: all.
    margin
        Wanted half-width of the interval, for the number of human answers needed.
    prob
        Coverage of the intervals.
    """

    estimate = share_of_good(
        reading.table(table, humans or []),
        reading.people_tables(humans),
        by=by,
        judges=split_commas(judge) or None,
        **reading.scale,
        margin=margin,
        prob=prob,
    )
    console.print_result(estimate, json, lambda: _show_rate(estimate))


def _show_rate(estimate: dict[str, Any]) -> None:
    from rich.text import Text

    out = console.stdout_console()
    level = f"{100 * estimate['prob']:g}%"
    title = f"People would call {_rate_interval(estimate, level)} of the items good."
    out.print(Text(title, style="bold"))
    out.print(
        f"{estimate['humans']:,} of {estimate['items']:,} items have human answers; estimator: {estimate['estimator']}."
    )
    needed = estimate["needed"]
    margin = f"To know it to +-{estimate['margin']:g}"
    if needed is None:
        out.print(f"{margin} takes human answers to more items than the table has.")
    elif needed > estimate["humans"]:
        out.print(f"{margin} takes about {needed:,} human answers in all.")
    else:
        out.print(f"{margin} takes no more human answers.")
    for row in estimate["by"]:
        value = "not known" if row["rate"] is None else _rate_interval(row, level)
        sentence = f"{row['by']} {row['group']}: {value} ({row['humans']:,} of {row['items']:,}, {row['estimator']})"
        console.print_sentence(sentence, indent=2)
    for row in estimate["differences"]:
        interval_text = f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}], p = {row['p_value']:.2g}"
        contexts_text = f"{row['contexts']:,} contexts, paired" if row["contexts"] else "no context in common"
        console.print_sentence(f"{row['a']} less {row['b']}: {interval_text} ({contexts_text})", indent=2)
    out.print("By other estimators:")
    for row in estimate["estimators"]:
        if row["estimator"] != estimate["estimator"]:
            value = "not defined" if row["rate"] is None else _rate_interval(row, level)
            out.print(f"  {row['estimator']}: {value}")
    out.print(Text(console.printable_text(estimate["rule"])))
    if estimate["note"]:
        out.print(Text(console.printable_text(f"Note: {estimate['note']}.")))


def _rate_interval(row: dict[str, Any], level: str) -> str:
    return f"{row['rate']:.3f} [{level}: {row['low']:.3f}, {row['high']:.3f}]"
