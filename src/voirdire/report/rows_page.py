"""Page of saved agreement or meta-evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from voirdire.report.figures.coefficients import MAX_FOREST_ROWS, RowJudges, draw_coefficients, pair_matrix, phase_bars
from voirdire.report.html import minus_sign
from voirdire.report.page import Block, Facts, Figure, Page, Section, Text, isolate_name, title_with_names
from voirdire.report.provenance import software_and_citation_blocks
from voirdire.report.rounding import column_decimals
from voirdire.report.sources import SavedRows
from voirdire.report.table import Table, is_missing, make_table, make_wide_table

Row = Mapping[str, Any]

_RUN_DEVIATION = "run_deviation"
_MEASURE_NAMES = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall_tau_b": "Kendall's tau-b",
    "kendall_tau_c": "Kendall's tau-c",
    "cohen_kappa": "Cohen's kappa",
    "conger_kappa": "Conger's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "scott_pi": "Scott's pi",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2",
    "krippendorff_alpha": "Krippendorff's alpha",
}


def rows_page(run: SavedRows) -> Page:
    """Make the report of saved rows."""
    with_people = run.kind == "metaeval"
    title = _page_title(run, "Agreement with people" if with_people else "Agreement of judges")
    question = "Which metric agrees best with people?" if with_people else "How well do the judges agree?"
    blocks = tuple(_correlation_blocks(run) if with_people else _agreement_blocks(run))
    undefined = [row for row in run.rows if is_missing(row["value"])]
    measures = list(dict.fromkeys(row["measure"] for row in run.rows))
    prob = run.settings.get("prob")
    interval = f", {100 * prob:g}% bootstrap intervals" if isinstance(prob, int | float) else ""
    subtitle = f"{len(run.rows):,} values of {len(measures)} measures{interval}."
    tiles = (
        ("Measures", str(len(measures)), ", ".join(measure_words(measure) for measure in measures[:2])),
        ("Values", f"{len(run.rows):,}", f"{len(undefined)} undefined" if undefined else "all defined"),
    )
    sections = (
        Section("answer", question, "Answer", blocks),
        Section("all", "All values", "Values", (_all_rows(run),)),
        Section("made", "How was it made?", "Method", tuple(_origin_blocks(run))),
    )
    return Page(title, subtitle, sections, tiles)


def _page_title(run: SavedRows, title: str) -> str:
    """Return a title with the name of the table if it is known, else with the names of the judges."""
    if table := run.settings.get("table"):
        return title_with_names(title, [table], "tables")
    return title_with_names(title, (name for row in run.rows for name in row["judges"]), "judges")


def _all_rows(run: SavedRows) -> Table:
    drop = ("behind", "same_as_best") if run.kind == "metaeval" else ()
    return make_table("rows", "Every value with its interval", run.rows, note_key="note", drop=drop)


def _origin_blocks(run: SavedRows) -> Iterator[Block]:
    settings = [(key, _setting_text(value)) for key, value in run.settings.items() if value not in (None, "", [])]
    yield Facts("Settings", tuple(settings))
    if run.notes:
        yield Facts("Notes", tuple(("Note", note) for note in run.notes))
    yield from software_and_citation_blocks(run.versions)


def _setting_text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _correlation_blocks(run: SavedRows) -> Iterator[Block]:
    """Yield a table of metrics by criteria per coefficient, the best marked, and the values with their intervals."""
    for measure in dict.fromkeys(row["measure"] for row in run.rows):
        rows = [row for row in run.rows if row["measure"] == measure]
        if len({row["judges"][0] for row in rows}) > 1:
            yield Text(_best_metric_sentence(rows, measure), "lead")
        yield marked_table(
            f"by-{measure.replace('_', '-')}", f"{_capitalise_first(measure_words(measure))} with people", rows
        )
        yield _forest_figure(
            f"forest-{measure.replace('_', '-')}", measure_words(measure), rows, lambda row: row["judges"][:1]
        )


def _best_metric_sentence(rows: Sequence[Row], measure: str) -> str:
    wins: dict[str, int] = {}
    for row in rows:
        if row.get("place") == 1:
            wins[row["judges"][0]] = wins.get(row["judges"][0], 0) + 1
    if not wins:
        return f"{_capitalise_first(measure_words(measure))} is undefined for every metric."
    criteria = len({row["criterion"] for row in rows})
    best = max(wins, key=lambda name: wins[name])
    criteria_text = "" if criteria < 2 else f" under {wins[best]} of {criteria} criteria"
    return f"By {measure_words(measure)}, {isolate_name(best)} agrees best with people{criteria_text}."


def marked_table(name: str, caption: str, rows: Sequence[Row]) -> Table:
    """Make a table with a row per metric, best first, and a column per criterion; marks as in :class:`.table.Cell`.

    Parameters
    ----------
    name, caption : str
    rows : sequence of mapping
        Rows of one coefficient, with place and same_as_best.
    """
    criteria = list(dict.fromkeys(row["criterion"] for row in rows))
    metrics = _best_first(rows)
    marks = {}
    for row in rows:
        if row.get("place") is not None:
            mark = {1: "best", 2: "second"}.get(int(row["place"]), "")
            cell = metrics.index(row["judges"][0]), f"c{criteria.index(row['criterion'])}"
            marks[cell] = (mark, bool(row["same_as_best"]) and row["place"] != 1)
    heads = {criterion: "value" if criterion is None else str(criterion) for criterion in criteria}
    widths = [row["high"] - row["low"] for row in rows if not is_missing(row["low"])]
    decimals = column_decimals(widths, [row["value"] for row in rows])
    options: dict[str, Any] = {"decimals": {f"c{number}": decimals for number in range(len(criteria))}}
    options["missing"] = {f"c{number}": _missing_reason(rows, criterion) for number, criterion in enumerate(criteria)}
    if len(metrics) > 1:
        options["marks"] = marks
        options["notes"] = (
            "Bold: best; underlined: second best; † not distinguishable from the best (the interval of the "
            "difference, on the same items, reaches zero).",
        )
    return make_wide_table(name, caption, rows, "metric", metrics, heads, itemgetter("criterion"), **options)


def _best_first(rows: Sequence[Row]) -> list[str]:
    """Order metrics by their mean value over criteria, those without a value last."""
    values: dict[str, list[float]] = {}
    for row in rows:
        values.setdefault(row["judges"][0], []).extend([] if is_missing(row["value"]) else [row["value"]])
    return sorted(values, key=lambda name: -sum(values[name]) / len(values[name]) if values[name] else 2.0)


def _missing_reason(rows: Sequence[Row], criterion: Any) -> str:
    reasons = [row["note"] for row in rows if row["criterion"] == criterion and is_missing(row["value"])]
    return next((reason for reason in reasons if reason), "")


def _agreement_blocks(run: SavedRows) -> Iterator[Block]:
    rows = list(run.rows)
    deviations = [row for row in rows if row["measure"] == _RUN_DEVIATION]
    if deviations:
        yield from _steadiness_blocks(deviations)
    for measure in dict.fromkeys(row["measure"] for row in rows if row["measure"] != _RUN_DEVIATION):
        measure_rows = [row for row in rows if row["measure"] == measure]
        ident = measure.replace("_", "-")
        defined = [row for row in measure_rows if not is_missing(row["value"])]
        yield Text(_range_sentence(measure, defined), "lead")
        phases = [level for level in dict.fromkeys(row["level"] for row in measure_rows) if level is not None]
        if len(phases) > 1 and not measure.startswith("win_rate"):
            yield Figure(
                f"phases-{ident}",
                f"{_capitalise_first(measure_words(measure))} by phase",
                "Bars side by side are the same judges and criterion in different phases; lines are intervals.",
                lambda measure_rows=measure_rows: [phase_bars(measure_rows)],  # type: ignore[misc]
            )
        pairs = [row for row in defined if len(row["judges"]) == 2 and row["level"] is None]
        names = list(dict.fromkeys(name for row in pairs for name in row["judges"]))
        if len(pairs) >= 3 and len(pairs) > len(names) and len({row["criterion"] for row in pairs}) == 1:
            yield Figure(
                f"pairs-{ident}",
                f"{_capitalise_first(measure_words(measure))} of every two judges",
                "Darker is more; blank where it is undefined or was not asked for.",
                lambda pairs=pairs, names=names: [pair_matrix(pairs, names)],  # type: ignore[misc]
            )
        if defined:
            yield _forest_figure(f"forest-{ident}", measure_words(measure), measure_rows, lambda row: row["judges"])


def _steadiness_blocks(rows: Sequence[Row]) -> Iterator[Block]:
    """Yield a table of run-to-run standard deviations: judges by criteria."""
    cells = list(dict.fromkeys((row["criterion"], row["level"]) for row in rows))
    judges = list(dict.fromkeys(row["judges"][0] for row in rows))
    marks: dict[tuple[int, str], tuple[str, bool]] = {}
    for number, cell in enumerate(cells):
        cell_rows = [row for row in rows if (row["criterion"], row["level"]) == cell]
        ranked = sorted((r["value"], judges.index(r["judges"][0])) for r in cell_rows if not is_missing(r["value"]))
        for mark, (_, judge_index) in zip(("best", "second"), ranked, strict=False):
            marks[judge_index, f"c{number}"] = (mark, False)
    yield make_wide_table(
        "steadiness",
        "Run-to-run standard deviation of each judge's scores, averaged over items",
        rows,
        "judge",
        judges,
        {cell: str(cell[1] or cell[0] or "sd") for cell in cells},
        itemgetter("criterion", "level"),
        marks=marks,
        notes=("Bold: the steadiest; underlined: second.",),
    )


def _range_sentence(measure: str, rows: Sequence[Row]) -> str:
    if not rows:
        return f"{_capitalise_first(measure_words(measure))} is undefined here; the notes below say why."
    values = [row["value"] for row in rows]
    if len(values) == 1:
        return f"{_capitalise_first(measure_words(measure))} is {minus_sign(f'{values[0]:z.2f}')}."
    return (
        f"{_capitalise_first(measure_words(measure))} runs from {minus_sign(f'{min(values):z.2f}')} to "
        f"{minus_sign(f'{max(values):z.2f}')}."
    )


def _forest_figure(name: str, title: str, rows: Sequence[Row], row_judges: RowJudges) -> Figure:
    defined = sorted((row for row in rows if not is_missing(row["value"])), key=lambda row: -row["value"])
    count_note = f" The {MAX_FOREST_ROWS} largest of {len(defined):,}." if len(defined) > MAX_FOREST_ROWS else ""
    return Figure(
        name,
        _capitalise_first(title),
        f"Values with intervals, largest first.{count_note}",
        lambda: [draw_coefficients(defined[:MAX_FOREST_ROWS], rows, title, row_judges)],
    )


def _capitalise_first(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def measure_words(measure: str) -> str:
    """Return the name of a measure in words.

    Examples
    --------
    >>> measure_words("cohen_kappa_linear"), measure_words("icc_2_k"), measure_words("krippendorff_alpha_ordinal")
    ("Cohen's kappa, linear", 'ICC(2,k)', "Krippendorff's alpha, ordinal")
    """
    if measure.startswith("icc_"):
        return f"ICC({measure[4:].replace('_', ',')})"
    for start, name in _MEASURE_NAMES.items():
        if measure.startswith(start):
            variant = measure.removeprefix(start).replace("_", " ").strip()
            return f"{name}, {variant}" if variant else name
    return measure.replace("_", " ")
