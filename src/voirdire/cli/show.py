"""Tables of a fit on the terminal: short, at most 80 columns wide if names are short."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from voirdire.cli.console import empty_table, fill_table, printable_text
from voirdire.report.table import RANKS_NOTE, share_text, target_panel_headings

Row = Mapping[str, Any]

MAX_ROWS = 20
_LEVEL_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def rate_table(reference: Mapping[str, Any] | None, prob: float) -> RenderableType | None:
    """Return a table of win rates against the reference item, which all votes involve; None without one.

    Parameters
    ----------
    reference : mapping or None
        ``reference`` of a board.
    prob : float
        Probability of the intervals.
    """
    if reference is None:
        return None
    return _first_rows(
        titled_table(f"Win rates against {printable_text(reference['item'])}", prob),
        reference["rates"],
        lambda row: {
            "item": row["item"],
            "win rate": number_text(row["value"]),
            "interval": "" if row["low"] is None else _interval_text(row["low"], row["high"]),
            "votes": f"{row['n']:,}",
        },
        ["item"],
        "items",
    )


def ranking_table(
    rows: Sequence[Row],
    prob: float,
    unit: str = "log-odds",
    title: str = "Items, best first",
    ranks: Mapping[str, tuple[int, int]] | None = None,
    heading: str = "item",
) -> RenderableType | None:
    """Return a table of the best items: score, interval, ranks and probability of being best.

    Parameters
    ----------
    rows : sequence of mapping
        ``items`` of a result, best first.
    prob : float
        Probability of the intervals.
    unit : str
        Unit of the scores; shown unless it is log-odds.
    title : str
    ranks : mapping, optional
        Best and worst rank that an item may have.
    heading : str
        Heading of the names.
    """
    has_intervals = rows[0]["low"] is not None

    def row_cells(row: Row) -> dict[str, str]:
        cells = {"rank": f"{row['rank']:.0f}", heading: row["item"]}
        cells["score" if unit == "log-odds" else unit] = number_text(row["score"])
        if "unadjusted" in rows[0]:
            cells["unadjusted"] = number_text(row["unadjusted"])
        if not has_intervals:
            return cells
        cells["interval"] = _interval_text(row["low"], row["high"])
        if ranks:
            low, high = ranks.get(row["item"], ("?", "?"))
            cells["ranks"] = str(low) if low == high else f"{low} to {high}"
        return cells | {"best": share_text(row["p_best"])}

    ranked = _first_rows(
        titled_table(title, prob if has_intervals else None), rows, row_cells, [heading], f"{heading}s"
    )
    return Group(ranked, Text(RANKS_NOTE)) if ranked is not None and has_intervals and ranks else ranked


def covariate_table(
    rows: Sequence[Row] | None, own_family_rows: Sequence[Row] | None, prob: float, unit: str = "log-odds"
) -> RenderableType | None:
    """Return a table of the effects of covariates, and of each judge's own family; None without covariates."""
    if not rows:
        return None
    entries = [(row["name"], row, f"{row['unit']:.4g}") for row in rows]
    entries += [(f"  {row['judge']}", row, "") for row in own_family_rows or () if row["judge"] is not None]
    cells = [
        {
            "covariate": name,
            "effect": number_text(row["effect"]),
            "interval": _interval_text(row["low"], row["high"]),
            "for each": unit_text,
        }
        for name, row, unit_text in entries
    ]
    return fill_table(titled_table(f"Held fixed, {unit}", prob), cells, ["covariate"])


def term_table(rows: Sequence[Row] | None, prob: float, unit: str = "log-odds") -> RenderableType | None:
    """Return a table of additional terms, largest absolute value first; None without terms."""
    return _first_rows(
        titled_table(f"Terms, {unit}", prob),
        sorted(rows or (), key=lambda row: -abs(row["value"])),
        lambda row: {
            "term": row["term"],
            "level": row["level"],
            "value": number_text(row["value"]),
            "interval": _interval_text(row["low"], row["high"]),
        },
        ["term", "level"],
        "values",
    )


def judge_table(
    rows: Sequence[Row], prob: float, heads: Mapping[str, str] | None = None, drop: Sequence[str] = ()
) -> Table | None:
    """Return a table of judges, most reliable first; of many judges only the first and the last ones.

    A value that the model fixes is shown as fixed. If the model estimates severity but no reliability, the most severe
    judges come first. None if it estimates neither.

    Parameters
    ----------
    rows : sequence of mapping
        ``judges`` of a result.
    heads : mapping, optional
        Headings by key, where they differ from the key.
    drop : sequence of str
        Columns to leave out.
    """
    candidates = ("reliability", "position_bias", "sensitivity", "specificity", "discrimination", "severity")
    # with votes and scores, a judge without answers of one kind has None there
    columns = [name for name in candidates if name not in drop and any(row.get(name) is not None for row in rows)]
    if not {"reliability", "severity"} & set(columns):
        return None
    # discrimination does not fit the line; with votes and scores it is a transform of reliability
    crowded = len(columns) > 3
    columns = [name for name in columns if name != "discrimination" or not crowded]
    main_column = columns[0]
    has_intervals = any(row[f"{main_column}_low"] is not None for row in rows)
    # any interval means that there are draws; a value without an interval is then fixed by the model
    has_draws = any(value is not None for row in rows for name, value in row.items() if name.endswith("_low"))
    counts = [name for name in ("votes", "scores") if name in rows[0]]
    column_heads = {name: (heads or {}).get(name, name.replace("_", " ")) for name in (*counts, *columns)}

    def row_cells(row: Row) -> dict[str, str]:
        cells = {"judge": row["judge"]} | {column_heads[name]: f"{row[name]:,}" for name in counts}
        for index, name in enumerate(columns):
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            cell = _with_interval(row[name], *((None, None) if crowded and index else (low, high)))
            is_fixed = has_draws and low is None and row[name] is not None
            cells[column_heads[name]] = f"{cell} (fixed)" if is_fixed else cell
        return cells

    ordered = sorted(rows, key=lambda row: (row[main_column] is None, -(row[main_column] or 0.0), row["judge"]))
    cells = list(map(row_cells, ordered))
    if len(cells) > MAX_ROWS:
        cells[MAX_ROWS // 2 : -MAX_ROWS // 2] = [{"judge": f"... {len(cells) - MAX_ROWS} between"}]
    title = "Judges, most reliable first" if main_column == "reliability" else "Judges, most severe first"
    return fill_table(titled_table(title, prob if has_intervals else None), cells, ["judge"])


def class_table(rows: Sequence[Row]) -> RenderableType | None:
    """Return a table of items with their class, the least certain first.

    Parameters
    ----------
    rows : sequence of mapping
        ``items`` of a fit of labels.
    """
    names = [name for name in ("item", "criterion", "label") if name in rows[0]]
    heads = target_panel_headings(rows[0], "probability")
    return _first_rows(
        titled_table("Items, least certain first"),
        sorted(rows, key=lambda row: row["probability"]),
        lambda row: (
            {name: row[name] for name in names}
            | {head: "known" if row["known"] else number_text(row[key]) for key, head in heads.items()}
        ),
        names,
        "rows" if "criterion" in names else "items",
    )


def class_share_table(rows: Sequence[Row], prob: float) -> RenderableType | None:
    """Return a table of classes by share; None if the model has no shares."""
    names = ["criterion"] * (len({row["criterion"] for row in rows}) > 1) + ["class"]
    return _weight_table("Classes, by share", rows, prob, names, "share", "classes")


def criterion_table(rows: Sequence[Row], prob: float) -> RenderableType | None:
    """Return a table of criteria by weight, largest first; None with one criterion."""
    ordered = sorted(rows, key=lambda row: -row["weight"])
    if len(rows) < 2:
        return None
    return _weight_table("Criteria, by weight", ordered, prob, ["criterion"], "weight", "criteria")


def _weight_table(
    title: str, rows: Sequence[Row], prob: float, names: Sequence[str], value: str, row_name: str
) -> RenderableType | None:
    has_intervals = bool(rows) and rows[0]["low"] is not None
    return _first_rows(
        titled_table(title, prob if has_intervals else None),
        rows,
        lambda row: {name: row[name] for name in names} | {value: _with_interval(row[value], row["low"], row["high"])},
        names,
        row_name,
    )


def model_checks_table(rows: Sequence[Row]) -> Table:
    """Return a table of checks, worst first."""
    order = list(_LEVEL_STYLES)[::-1]
    cells = [
        {"level": Text(row["level"], _LEVEL_STYLES[row["level"]]), "check": row["check"], "finding": row["message"]}
        for row in sorted(rows, key=lambda row: order.index(row["level"]))
    ]
    return fill_table(titled_table("Checks"), cells, ["level", "check", "finding"])


def number_text(value: float) -> str:
    """Format a number with two decimals, never as minus zero.

    Examples
    --------
    >>> number_text(1.237), number_text(-0.001)
    ('1.24', '0.00')
    """
    return f"{value:z.2f}"


def _interval_text(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"[{number_text(low)}, {number_text(high)}]"


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    interval = "" if low is None or high is None else f" {_interval_text(low, high)}"
    return number_text(value) + interval


def titled_table(title: str, prob: float | None = None) -> Table:
    """Return an empty table with a title; the title ends with the probability of the intervals, if any."""
    intervals = f" [{100 * prob:g}% interval]" if prob else ""
    return empty_table(title + intervals)


def _first_rows(
    table: Table,
    rows: Sequence[Row],
    cells: Callable[[Row], Mapping[str, object]],
    words: Collection[str],
    row_name: str,
) -> RenderableType | None:
    """Fill the table with the first rows, and add the number of further rows; None without rows."""
    if not rows:
        return None
    more_rows = len(rows) - MAX_ROWS
    fill_table(table, [cells(row) for row in rows[:MAX_ROWS]], words)
    if more_rows <= 0:
        return table
    return Group(table, Text(f"and {more_rows} more {row_name}: --json and --out hold them all"))


def unconnected_pairs_table(rows: Sequence[Row]) -> RenderableType | None:
    """Return a table of unconnected pairs, the least certain first; None without pairs."""
    return _first_rows(
        titled_table("Pairs, least certain first"),
        sorted(rows, key=lambda row: abs(row["p_first"] - 0.5)),
        lambda row: {name: row[name] for name in ("first", "second")} | {"first is better": share_text(row["p_first"])},
        ["first", "second"],
        "pairs",
    )


def people_table(rows: Sequence[Row]) -> Table | None:
    """Return a table of the people who gave anchors of scores; None without people."""
    if not rows:
        return None
    names = [name for name in ("severity", "discrimination", "noise") if name in rows[0]]
    cells = [
        ({"criterion": row["criterion"]} if len(rows) > 1 else {})
        | {"scores": row["scores"]}
        | {name: _with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in names}
        for row in rows
    ]
    return fill_table(titled_table("People, beside the judges"), cells, ["criterion"])


def anchor_method_table(rows: Sequence[Row]) -> Table | None:
    """Return held-out log loss and accuracy of each method of using anchors; None if none were compared."""
    if not rows:
        return None
    cells = [
        {
            "method": row["method"],
            "log loss": "" if row["log_loss"] is None else f"{row['log_loss']:.3f}",
            "se": "" if row["log_loss_se"] is None else f"{row['log_loss_se']:.3f}",
            "right": "" if row["accuracy"] is None else f"{row['accuracy']:.0%}",
            "": f"used for {row['used']}" if row["used"] else "",
        }
        for row in rows
    ]
    return fill_table(titled_table("Ways to use the anchors, on anchors left out"), cells, ["method", ""])
