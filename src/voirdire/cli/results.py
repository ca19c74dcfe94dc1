"""Rows of ``agree`` and ``metaeval`` on stdout: a table for people, or JSON."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from voirdire.agreement import metric_table
from voirdire.agreement.coefficients.rows import json_rows
from voirdire.cli import console
from voirdire.folders import check_new_folder
from voirdire.report.sources import ROWS_LAYOUT, save_rows

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

_DROPPED_COLUMN = "humans alone"  # the column that gives way to names
_MAX_NAME_LETTERS = 30  # characters of names that are said once below the table


def call_verb(
    verb: Callable[..., pd.DataFrame],
    first: Sequence[Any],
    options: dict[str, tuple[str, Any]],
    settings: dict[str, Any],
    question: str,
) -> pd.DataFrame:
    """Call a verb with the options that were given.

    Parameters
    ----------
    verb : callable
        A function of `voirdire.agreement`.
    first : sequence
        Its arguments by place.
    options : dict
        By option its keyword and its value, None where it was not given; ``measure`` stands for a verb of one
        measure.
    settings : dict
        How to resample.
    question : str
        The option that asks for this verb, for messages.

    Raises
    ------
    typer.BadParameter
        For an option that the verb does not take.
    """
    parameters = inspect.signature(verb).parameters
    keywords: dict[str, Any] = {}
    for option, (keyword, value) in options.items():
        if value is None:
            continue
        if keyword not in parameters and "measure" in parameters and option == "--measures":
            if len(value) > 1:
                raise typer.BadParameter(f"{question} takes one of --measures")
            keyword, value = "measure", value[0]
        if keyword not in parameters and not ("settings" in parameters and keyword in ("unit", "interval")):
            raise typer.BadParameter(f"{option} is not for {question or 'this'}")
        keywords[keyword] = value
    resampling = {
        name: value for name, value in settings.items() if name in parameters or "settings" in parameters
    }
    return verb(*first, **keywords, **resampling)


def print_rows(found: pd.DataFrame, title: str, json: bool, *, partner: bool = True) -> None:
    """Print a result: as JSON ``{"rows": [...]}``, or as a table.

    Parameters
    ----------
    found : pandas.DataFrame
        Rows with the columns of `voirdire.agreement.coefficients.rows.COLUMNS` and others, such as those of estimates
        with human answers, or those of comparisons.
    title : str
        The table's heading.
    json : bool
        Whether to print JSON.
    partner : bool
        Whether the table shows the last judge of each row, who is the same throughout where the title names
        them.
    """
    with_humans, is_comparison = "human_value" in found, "difference" in found
    rows = json_rows(found, found.columns)
    if json:
        console.print_json({"rows": rows})
        return
    if with_humans:
        shown: dict[str, Callable[[dict[str, Any]], str]] = {
            "value": lambda row: f"{_number_text(row['value'])} {_interval_text(row)}".rstrip(),
            _DROPPED_COLUMN: lambda row: _interval_text(row, "human_"),
            "humans": lambda row: f"{row['n']:,} of {row['units']:,}",
            "worth": lambda row: "" if row["effective_n"] is None else f"{row['effective_n']:,.0f}",
        }
        # a table for each measure: beside its name there would be no room for the judges'
        for measure in dict.fromkeys(row["measure"] for row in rows):
            measure_rows = [row for row in rows if row["measure"] == measure]
            _show_rows(measure_rows, f"{measure}: {title}", shown, True, False)
        return
    shown = {"value": lambda row: _number_text(row["value"]), "interval": _interval_text}
    if is_comparison:
        rows = [
            {"level": None} | row | {"judges": [row["a"], row["b"]], "value": row["difference"]}
            for row in rows
        ]
        shown = {"difference": shown["value"], "interval": _interval_text}
        if "p_ahead" in found:
            shown["ahead"] = lambda row: "" if row["p_ahead"] is None else f"{100 * row['p_ahead']:.3g}%"
        adjusted = [name for name in found.columns if name.endswith("_adjusted")]
        shown |= {name.removesuffix("_adjusted"): partial(_p_value_text, of=name) for name in adjusted}
        title += ", p-values adjusted for all rows" if adjusted and len(rows) > 1 else ""
    if "paired" in found:
        shown["paired"] = lambda row: "yes" if row["paired"] else "no"
    _show_rows(rows, title, shown | {"n": lambda row: f"{row['n']:,}"}, partner)


def print_metrics(found: pd.DataFrame, title: str) -> None:
    """Print :func:`voirdire.agreement.metric_table` of the rows of ``metaeval``."""
    table = metric_table(found)
    heads = ["metric", *(" ".join(filter(None, names)) for names in table.columns)]
    rows = [
        dict(zip(heads, (metric, *cells), strict=True))
        for metric, cells in zip(table.index, table.to_numpy(), strict=True)
    ]
    console.stdout_console().print(console.fill_table(console.empty_table(title), rows, ["metric"]))


def _show_rows(
    rows: list[dict[str, Any]],
    title: str,
    shown: Mapping[str, Callable[[dict[str, Any]], str]],
    partner: bool,
    measure: bool = True,
) -> None:
    optional = [name for name in ("judge", "criterion", "level") if len({row.get(name) for row in rows}) > 1]
    notes = list(dict.fromkeys(row["note"] for row in rows if row["note"]))
    judges = [_judges_text(row["judges"] if partner else row["judges"][:-1]) for row in rows]
    # many judges, the same in every row, would leave the other columns no room
    same_judges = len(set(judges)) == 1 and len(judges[0]) > _MAX_NAME_LETTERS
    lines = []
    for row, names in zip(rows, judges, strict=True):
        line = {"measure": row["measure"]} if measure else {}
        line |= {} if same_judges else {"judges": names}
        line |= {name: row[name] or "" for name in optional}
        # in 80 columns there is room for the one or for the other
        line |= {
            name: cell(row) for name, cell in shown.items() if not (optional and name == _DROPPED_COLUMN)
        }
        line |= {"note": str(notes.index(row["note"]) + 1) if row["note"] else ""} if notes else {}
        lines.append(line)
    out = console.stdout_console()
    out.print(console.fill_table(console.empty_table(title), lines, ["measure", "judges", *optional]))
    if same_judges:
        out.print(Text(console.printable_text(f"judges: {judges[0]}")))
    for number, note in enumerate(notes, start=1):
        out.print(Text(console.printable_text(f"{number}: {note}")))


def check_output_path(out: Path | None, overwrite: bool) -> None:
    """Raise where rows could not be saved, before any work is done."""
    if out is not None:
        check_new_folder(out, ROWS_LAYOUT, overwrite=overwrite)
    elif overwrite:
        raise typer.BadParameter("--overwrite is for --out")


def save_result_rows(
    found: pd.DataFrame, out: Path, kind: str, asked: dict[str, Any], overwrite: bool, json: bool
) -> None:
    """Save rows, as :func:`voirdire.report.sources.save_rows`, and say where; of comparisons the differences."""
    if "difference" in found:
        names = [name for name in ("judge", "a", "b") if name in found]
        judges: Any = [tuple(row) for row in found[names].to_numpy().tolist()]
        found = found.assign(
            measure="difference_in_" + found["measure"],
            judges=judges,
            value=found["difference"],
            level="a - b",
        )
        kind = "agree"  # whose page shows any rows
    save_rows(found, out, kind, asked, overwrite=overwrite)
    console.print_saved(out, json)


def _judges_text(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} judges"


def _number_text(value: float | None) -> str:
    return "undefined" if value is None else f"{value:z.3f}"


def _p_value_text(row: dict[str, Any], of: str) -> str:
    return "" if row[of] is None else f"{row[of]:.3g}"


def _interval_text(row: dict[str, Any], of: str = "") -> str:
    low, high = row[f"{of}low"], row[f"{of}high"]
    return "" if low is None else f"[{_number_text(low)}, {_number_text(high)}]"
