"""Tables of a fit for people: short, at most 80 columns wide where names are short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from voirdire.cli.console import printable_text
from voirdire.report.sections.best import RANKS_NOTE
from voirdire.report.table import target_panel_headings

Row = Mapping[str, Any]

LIMIT = 20
_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def rate_table(found: Mapping[str, Any] | None, prob: float) -> RenderableType | None:
    """Win rates against the item that all votes are about; None without one.

    Parameters
    ----------
    found : mapping or None
        ``reference`` of a board.
    prob : float
        Probability of the intervals.
    """
    if found is None:
        return None
    table = titled_table(f"Win rates against {printable_text(found['item'])}", prob)
    table.add_column("item", overflow="fold")
    for head in ("win rate", "interval", "votes"):
        table.add_column(head, justify="right")
    for row in found["rates"][:LIMIT]:
        ends = "" if row["low"] is None else _interval_text(row["low"], row["high"])
        _add_row(table, [row["item"], number_text(row["value"]), ends, f"{row['n']:,}"])
    return _add_omitted_count(table, len(found["rates"]) - LIMIT, "items")


def ranking_table(
    rows: Sequence[Row],
    prob: float,
    unit: str = "log-odds",
    title: str = "Items, best first",
    ranks: Mapping[str, tuple[int, int]] | None = None,
    called: str = "item",
) -> RenderableType:
    """The best items: score, interval, ranks and probability of being best.

    Parameters
    ----------
    rows : sequence of mapping
        ``items`` of a result, best first.
    prob : float
        Probability of the intervals.
    unit : str
        Of the scores; named where they are not in log-odds.
    title : str
    ranks : mapping, optional
        Highest and lowest rank that is left open to an item.
    called : str
        What one of them is called.
    """
    sure = rows[0]["low"] is not None
    table = titled_table(title, prob if sure else None)
    table.add_column("rank", justify="right")
    table.add_column(called, overflow="fold")
    table.add_column("score" if unit == "log-odds" else unit, justify="right")
    adjusted = "unadjusted" in rows[0]
    if adjusted:
        table.add_column("unadjusted", justify="right")
    if sure:
        table.add_column("interval", justify="right")
    if ranks:
        table.add_column("ranks", justify="right")
    if sure:
        table.add_column("best", justify="right")
    for row in rows[:LIMIT]:
        cells = [f"{row['rank']:.0f}"]
        cells += [row["item"], number_text(row["score"])]
        cells += [number_text(row["unadjusted"])] if adjusted else []
        if sure:
            cells += [_interval_text(row["low"], row["high"])]
            if ranks:
                low, high = ranks.get(row["item"], ("?", "?"))
                cells += [str(low) if low == high else f"{low} to {high}"]
            cells += [f"{row['p_best']:.0%}"]
        _add_row(table, cells)
    ranked = _add_omitted_count(table, len(rows) - LIMIT, f"{called}s")
    return Group(ranked, Text(RANKS_NOTE)) if sure and ranks else ranked


def covariate_table(
    rows: Sequence[Row] | None, own: Sequence[Row] | None, prob: float, unit: str = "log-odds"
) -> RenderableType | None:
    """Effects of covariates, and of own families judge by judge; None where there are none."""
    if not rows:
        return None
    table = titled_table(f"Held fixed, {unit}", prob)
    for name in ("covariate", "effect", "interval", "for each"):
        table.add_column(name, justify="left" if name == "covariate" else "right", overflow="fold")
    for row in rows:
        ends, each = _interval_text(row["low"], row["high"]), f"{row['unit']:.4g}"
        _add_row(table, [row["name"], number_text(row["effect"]), ends, each])
    for row in own or ():
        if row["judge"] is not None:
            _add_row(
                table,
                [
                    f"  {row['judge']}",
                    number_text(row["effect"]),
                    _interval_text(row["low"], row["high"]),
                    "",
                ],
            )
    return table


def term_table(rows: Sequence[Row] | None, prob: float, unit: str = "log-odds") -> RenderableType | None:
    """Values of terms beside a model's own, those farthest from 0; None where there are none."""
    if not rows:
        return None
    table = titled_table(f"Terms, {unit}", prob)
    for name in ("term", "level", "value", "interval"):
        table.add_column(name, justify="left" if name in ("term", "level") else "right", overflow="fold")
    for row in sorted(rows, key=lambda row: -abs(row["value"]))[:LIMIT]:
        _add_row(
            table,
            [row["term"], row["level"], number_text(row["value"]), _interval_text(row["low"], row["high"])],
        )
    return _add_omitted_count(table, len(rows) - LIMIT, "values")


def judge_table(
    rows: Sequence[Row],
    prob: float,
    heads: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
) -> Table | None:
    """Judges by reliability, best first; of many only both ends. None where the model does not tell them apart.

    A value that the model fixes is shown as fixed.

    Where the model estimates severity but no reliability, the most severe come first.

    Parameters
    ----------
    rows : sequence of mapping
        ``judges`` of a result.
    heads : mapping, optional
        Headings by key, where they are not the key.
    drop : sequence of str
        Columns to leave out.
    """
    known = ("reliability", "position_bias", "sensitivity", "specificity", "discrimination", "severity")
    # with votes and scores, a judge that gave none of one kind has gaps
    columns = [name for name in known if name not in drop and any(row.get(name) is not None for row in rows)]
    if not {"reliability", "severity"} & set(columns):
        return None
    # what fits a line: the reliability of judges that vote and score is their discrimination, said otherwise
    crowded = len(columns) > 3
    columns = [name for name in columns if name != "discrimination" or not crowded]
    first = columns[0]
    sure = any(row[f"{first}_low"] is not None for row in rows)
    # with intervals of anything there are draws, and what has none is fixed by the model
    drawn = any(value is not None for row in rows for name, value in row.items() if name.endswith("_low"))
    title = "Judges, most reliable first" if first == "reliability" else "Judges, most severe first"
    table = titled_table(title, prob if sure else None)
    table.add_column("judge", overflow="fold")
    counts = [name for name in ("votes", "scores") if name in rows[0]]
    named = dict(heads or {})
    for name in counts:
        table.add_column(named.get(name, name), justify="right")
    for name in columns:
        table.add_column(named.get(name, name.replace("_", " ")), justify="right", no_wrap=True)
    ordered = sorted(rows, key=lambda row: (row[first] is None, -(row[first] or 0.0), row["judge"]))
    half = LIMIT // 2
    shown_rows = ordered if len(ordered) <= LIMIT else [*ordered[:half], None, *ordered[-half:]]
    for row in shown_rows:
        if row is None:
            _add_row(table, [f"... {len(ordered) - LIMIT} between"])
            continue
        cells = [row["judge"], *(f"{row[name]:,}" for name in counts)]
        for place, name in enumerate(columns):
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            cell = _with_interval(row[name], *((None, None) if crowded and place else (low, high)))
            cells.append(f"{cell} (fixed)" if drawn and low is None and row[name] is not None else cell)
        _add_row(table, cells)
    return table


def class_table(rows: Sequence[Row]) -> RenderableType:
    """Items with their class, the least certain first.

    Parameters
    ----------
    rows : sequence of mapping
        ``items`` of a fit of labels.
    """
    table = titled_table("Items, least certain first")
    with_criteria = "criterion" in rows[0]
    for name in ("item", *(["criterion"] if with_criteria else []), "label"):
        table.add_column(name, overflow="fold")
    chances = target_panel_headings(rows[0], "probability")
    for name in chances.values():
        table.add_column(name, justify="right")
    for row in sorted(rows, key=lambda row: row["probability"])[:LIMIT]:
        cells = [row["item"], *([row["criterion"]] if with_criteria else []), row["label"]]
        _add_row(table, [*cells, *("known" if row["known"] else number_text(row[key]) for key in chances)])
    return _add_omitted_count(table, len(rows) - LIMIT, "rows" if with_criteria else "items")


def class_share_table(rows: Sequence[Row], prob: float) -> RenderableType | None:
    """Classes by share; None where the model has none."""
    if not rows:
        return None
    sure = rows[0]["low"] is not None
    table = titled_table("Classes, by share", prob if sure else None)
    with_criteria = len({row["criterion"] for row in rows}) > 1
    for name in (*(["criterion"] if with_criteria else []), "class"):
        table.add_column(name, overflow="fold")
    table.add_column("share", justify="right")
    for row in rows[:LIMIT]:
        cells = [*([row["criterion"]] if with_criteria else []), row["class"]]
        _add_row(table, [*cells, _with_interval(row["share"], row["low"], row["high"])])
    return _add_omitted_count(table, len(rows) - LIMIT, "classes")


def criterion_table(rows: Sequence[Row], prob: float) -> RenderableType | None:
    """Criteria by weight, largest first; None where there is only one."""
    if len(rows) < 2:
        return None
    sure = rows[0]["low"] is not None
    table = titled_table("Criteria, by weight", prob if sure else None)
    table.add_column("criterion", overflow="fold")
    table.add_column("weight", justify="right")
    ordered = sorted(rows, key=lambda row: -row["weight"])
    for row in ordered[:LIMIT]:
        _add_row(table, [row["criterion"], _with_interval(row["weight"], row["low"], row["high"])])
    return _add_omitted_count(table, len(rows) - LIMIT, "criteria")


def model_checks_table(rows: Sequence[Row]) -> Table:
    """Checks, worst first."""
    table = titled_table("Checks")
    table.add_column("level")
    table.add_column("check")
    table.add_column("finding", overflow="fold")
    order = list(_STYLES)[::-1]
    for row in sorted(rows, key=lambda row: order.index(row["level"])):
        level = Text(row["level"], style=_STYLES[row["level"]])
        table.add_row(level, Text(row["check"]), Text(printable_text(row["message"])))
    return table


def number_text(value: float) -> str:
    """A number with two digits after the point, never minus zero.

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
    return (
        number_text(value)
        if low is None or high is None
        else f"{number_text(value)} {_interval_text(low, high)}"
    )


def titled_table(title: str, prob: float | None = None) -> Table:
    """An empty table under its title, as all of these are; with the probability of its intervals if there are any."""
    intervals = f" [{100 * prob:g}% interval]" if prob else ""
    return Table(
        title=Text(title + intervals, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )


def _add_row(table: Table, cells: Sequence[str]) -> None:
    table.add_row(*(Text(printable_text(cell)) for cell in cells))


def _add_omitted_count(table: Table, rest: int, what: str) -> RenderableType:
    if rest <= 0:
        return table
    return Group(table, Text(f"and {rest} more {what}: --json and --out hold them all"))


def unconnected_pairs_table(rows: Sequence[Row]) -> RenderableType | None:
    """Unconnected pairs, the least certain first; None where there are none."""
    if not rows:
        return None
    table = titled_table("Pairs, least certain first", None)
    for name in ("first", "second"):
        table.add_column(name, overflow="fold")
    table.add_column("first is better", justify="right")
    for row in sorted(rows, key=lambda row: abs(row["p_first"] - 0.5))[:LIMIT]:
        _add_row(table, [row["first"], row["second"], f"{row['p_first']:.0%}"])
    return _add_omitted_count(table, len(rows) - LIMIT, "pairs")


def people_table(rows: Sequence[Row]) -> Table | None:
    """People who gave anchors of scores, beside the judges; None without."""
    if not rows:
        return None
    table = titled_table("People, beside the judges", None)
    several = len(rows) > 1
    names = [name for name in ("severity", "discrimination", "noise") if name in rows[0]]
    for name in [*["criterion"] * several, "scores", *names]:
        table.add_column(name, justify="left" if name == "criterion" else "right", overflow="fold")
    for row in rows:
        cells = [row["criterion"]] if several else []
        cells.append(str(row["scores"]))
        cells += [_with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in names]
        _add_row(table, cells)
    return table


def anchor_method_table(rows: Sequence[Row]) -> Table | None:
    """Table of how well each way to use anchors predicts those left out; None where nothing was compared."""
    if not rows:
        return None
    table = titled_table("Ways to use the anchors, on anchors left out", None)
    table.add_column("method")
    for name in ("log loss", "se", "right"):
        table.add_column(name, justify="right")
    table.add_column("")
    for row in rows:
        loss, se, right = (row[key] for key in ("log_loss", "log_loss_se", "accuracy"))
        cells = ["" if value is None else f"{value:.3f}" for value in (loss, se)]
        cells = [
            row["method"],
            *cells,
            "" if right is None else f"{right:.0%}",
            f"used for {row['used']}" if row["used"] else "",
        ]
        _add_row(table, cells)
    return table
