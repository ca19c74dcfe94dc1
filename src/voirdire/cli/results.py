"""Output of the rows of ``agree`` and ``metaeval``: a terminal table or JSON."""

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

_DROPPED_COLUMN = "humans alone"  # column omitted when names need the room
_OPTION_NAMES = {"judges": "--judge", "metrics": "--metric"}  # options not called as their keywords


def call_verb(
    verb: Callable[..., pd.DataFrame],
    first: Sequence[Any],
    options: dict[str, Any],
    settings: dict[str, Any],
    question: str,
) -> pd.DataFrame:
    """Call a verb with the options that were given.

    Parameters
    ----------
    verb : callable
        A function of `voirdire.agreement`.
    first : sequence
        Positional arguments.
    options : dict
        Values by keyword; None if the option is not given. For a verb of one measure, ``measures`` becomes its keyword
        ``measure``.
    settings : dict
        Resampling settings.
    question : str
        The option that selects this verb, for messages.

    Raises
    ------
    typer.BadParameter
        The verb does not take an option.
    """
    parameters = inspect.signature(verb).parameters
    keywords: dict[str, Any] = {}
    for keyword, value in options.items():
        if value is None:
            continue
        option = _OPTION_NAMES.get(keyword, f"--{keyword}")
        if keyword not in parameters and "measure" in parameters and keyword == "measures":
            if len(value) > 1:
                raise typer.BadParameter(f"{question} takes one of --measures")
            keyword, value = "measure", value[0]
        if keyword not in parameters and not ("settings" in parameters and keyword in ("unit", "interval")):
            raise typer.BadParameter(f"{option} is not for {question or 'this'}")
        keywords[keyword] = value
    resampling = {name: value for name, value in settings.items() if name in parameters or "settings" in parameters}
    return verb(*first, **keywords, **resampling)


def print_rows(result_rows: pd.DataFrame, title: str, json: bool, *, partner: bool = True) -> None:
    """Print a result: as JSON ``{"rows": [...]}``, or as a table.

    Parameters
    ----------
    result_rows : pandas.DataFrame
        Rows with the columns of `voirdire.agreement.coefficients.rows.COLUMNS`, and further ones for estimates with
        human answers or for comparisons.
    title : str
        The table's heading.
    json : bool
        True prints JSON.
    partner : bool
        True shows the last judge of each row; False where the title names that judge.
    """
    with_humans, is_comparison = "human_value" in result_rows, "difference" in result_rows
    rows = json_rows(result_rows, result_rows.columns)
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
        _show_by_measure(rows, title, shown, True)
        return
    shown = {"value": lambda row: _number_text(row["value"]), "interval": _interval_text}
    if is_comparison:
        rows = [{"level": None} | row | {"judges": [row["a"], row["b"]], "value": row["difference"]} for row in rows]
        shown = {"difference": shown["value"], "interval": _interval_text}
        if "p_ahead" in result_rows:
            shown["ahead"] = lambda row: "" if row["p_ahead"] is None else f"{100 * row['p_ahead']:.3g}%"
        adjusted = [name for name in result_rows.columns if name.endswith("_adjusted")]
        shown |= {name.removesuffix("_adjusted"): partial(_p_value_text, column=name) for name in adjusted}
        title += ", p-values adjusted for all rows" if adjusted and len(rows) > 1 else ""
    if "paired" in result_rows:
        shown["paired"] = lambda row: "yes" if row["paired"] else "no"
    _show_rows(rows, title, shown | {"n": lambda row: f"{row['n']:,}"}, partner)


def print_metrics(result_rows: pd.DataFrame, title: str) -> None:
    """Print :func:`voirdire.agreement.metric_table` of the rows of ``metaeval``."""
    table = metric_table(result_rows)
    heads = ["metric", *(" ".join(filter(None, names)) for names in table.columns)]
    rows = [
        dict(zip(heads, (metric, *cells), strict=True))
        for metric, cells in zip(table.index, table.to_numpy(), strict=True)
    ]
    console.stdout_console().print(console.fill_table(console.empty_table(title), rows, ["metric"]))


def _show_by_measure(
    rows: list[dict[str, Any]], title: str, shown: Mapping[str, Callable[[dict[str, Any]], str]], partner: bool
) -> None:
    """Print a table for each measure: a column of measures would leave no room for the judges' names."""
    for number, measure in enumerate(dict.fromkeys(row["measure"] for row in rows)):
        if number:
            print()
        measure_rows = [row for row in rows if row["measure"] == measure]
        _show_rows(measure_rows, f"{measure}: {title}", shown, partner, False)


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
    same_judges = len(rows) > 1 and len(set(judges)) == 1
    lines = []
    for row, names in zip(rows, judges, strict=True):
        line = {"measure": row["measure"]} if measure else {}
        line |= {} if same_judges else {"judges": names}
        line |= {name: row[name] or "" for name in optional}
        # 80 columns have room for the optional columns or for this one
        line |= {name: cell(row) for name, cell in shown.items() if not (optional and name == _DROPPED_COLUMN)}
        line |= {"note": str(notes.index(row["note"]) + 1) if row["note"] else ""} if notes else {}
        lines.append(line)
    out = console.stdout_console()
    table = console.fill_table(console.empty_table(title), lines, ["measure", "judges", *optional])
    if measure and console.needed_width(table) > out.width:
        _show_by_measure(rows, title, shown, partner)
        return
    out.print(table)
    if same_judges:
        out.print(Text(console.printable_text(f"judges: {judges[0]}")))
    for number, note in enumerate(notes, start=1):
        out.print(Text(console.printable_text(f"{number}: {note}")))


def check_output_path(out: Path | None, overwrite: bool) -> None:
    """Raise if rows could not be saved, before any work is done."""
    if out is not None:
        check_new_folder(out, ROWS_LAYOUT, overwrite=overwrite)
    elif overwrite:
        raise typer.BadParameter("--overwrite is for --out")


def save_result_rows(
    result_rows: pd.DataFrame, out: Path, kind: str, settings: dict[str, Any], overwrite: bool, json: bool
) -> None:
    """Save rows by :func:`voirdire.report.sources.save_rows` (for comparisons: differences), and print the path."""
    if "difference" in result_rows:
        names = [name for name in ("judge", "a", "b") if name in result_rows]
        judges: Any = [tuple(row) for row in result_rows[names].to_numpy().tolist()]
        result_rows = result_rows.assign(
            measure="difference_in_" + result_rows["measure"],
            judges=judges,
            value=result_rows["difference"],
            level="a - b",
        )
        kind = "agree"  # the report of agree shows any rows
    save_rows(result_rows, out, kind, settings, overwrite=overwrite)
    console.print_saved(out, json)


def _judges_text(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} judges"


def _number_text(value: float | None) -> str:
    return "undefined" if value is None else f"{value:z.3f}"


def _p_value_text(row: dict[str, Any], column: str) -> str:
    return "" if row[column] is None else f"{row[column]:.3g}"


def _interval_text(row: dict[str, Any], prefix: str = "") -> str:
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    return "" if low is None else f"[{_number_text(low)}, {_number_text(high)}]"
