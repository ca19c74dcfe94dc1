"""Page of a simulation study: curves against the number of judges added, or values by cell, and the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voirdire.report.figures.curves import draw_cells, draw_robustness
from voirdire.report.page import Block, Facts, Figure, Page, Section, Text
from voirdire.report.provenance import software_and_citation_blocks
from voirdire.report.sources import StudyRun
from voirdire.report.table import Table, is_missing, make_table

Row = Mapping[str, Any]

_CELL_KEYS = ("panel", "added", "count", "design")
_MAX_LINES = 70  # maximum number of lines of a figure
_MEASURE_WORDS = {
    "items": "Concordance of the items' scores with the truth",
    "items-proportional": "Concordance of the items' scores with the truth, its weights by the criteria's ranks",
    "items-uniform": "Concordance of the items' scores with the truth, its weights equal",
    "strengths": "Concordance of the strengths with the truth, averaged over criteria",
    "reliability": "Concordance of the judges' reliability with their accuracy",
    "criteria": "Concordance of the criteria's weights with the truth",
    "votes": "Number of votes",
}


def study_page(run: StudyRun) -> Page:
    """Make the report of a study."""
    calibration = "coverage_90" in run.rows[0]
    blocks = tuple(_coverage_blocks(run.rows) if calibration else _recovery_blocks(run.rows))
    tiles = (
        ("Replicates", str(run.settings.get("replicates")), f"seed {run.settings.get('seed')}"),
        ("Rows", f"{len(run.rows):,}", "one per cell and measure"),
    )
    settings = [(key.capitalize(), str(value)) for key, value in run.settings.items()]
    source = [("Source", run.about["source"])] if run.about.get("source") else []
    method_blocks = (
        Facts("Settings", (("Study", run.name), *settings, *source)),
        *software_and_citation_blocks(run.versions),
    )
    aim = [Text(run.about["aim"])] if run.about.get("aim") else []
    finding = [Text(run.about["finding"], "lead")] if run.about.get("finding") else []
    sections = (
        Section("found", "What was found?", "Findings", (*finding, *aim, *blocks)),
        Section("all", "All results", "Results", (_all_cells(run.rows),)),
        Section("made", "How was it made?", "Method", method_blocks),
    )
    return Page(run.about.get("title") or f"Study {run.name}", f"Simulation study {run.name}.", sections, tiles)


def measure_display_name(measure: str) -> str:
    """Return the name of a measure of a study, in words.

    Examples
    --------
    >>> measure_display_name("items"), measure_display_name("eta 0.8"), measure_display_name("mine")
    ("Concordance of the items' scores with the truth", 'Estimated reliability of judges who are right 0.8', 'mine')
    """
    if measure.startswith("eta "):
        return f"Estimated reliability of judges who are right {measure.removeprefix('eta ')}"
    return _MEASURE_WORDS.get(measure, measure)


def _all_cells(rows: Sequence[Row]) -> Table:
    constant_keys = [key for key in rows[0] if len({str(row.get(key)) for row in rows}) == 1 and len(rows) > 1]
    notes = tuple(f"{key}: {rows[0][key]} throughout." for key in constant_keys if not is_missing(rows[0][key]))
    decimals = dict.fromkeys(("mean", "sd", "mcse"), 4)
    return make_table("results", "Every cell and measure", rows, drop=constant_keys, notes=notes, decimals=decimals)


def _recovery_blocks(rows: Sequence[Row]) -> Iterator[Block]:
    added = {row.get("added") for row in rows} - {"none"}
    for number, measure in enumerate(dict.fromkeys(row["measure"] for row in rows)):
        measure_rows = [dict(row) for row in rows if row["measure"] == measure]
        optimisers = {row.get("optimiser") for row in measure_rows}
        for row in measure_rows:
            row["series"] = f"{row['model']}, {row['optimiser']}" if len(optimisers) > 1 else str(row["model"])
        if added and len({row["count"] for row in measure_rows}) > 2:
            curves = [row | {"model": row["series"]} for row in measure_rows]
            yield Text(_worst_sentence(curves, measure))
            yield Figure(
                f"robustness-{number}",
                measure_display_name(measure),
                "By the number of judges added: mean over replicates; bands are 95% Monte Carlo intervals of it. "
                "One panel per kind of judge added (columns) and design (rows).",
                lambda curves=curves: [draw_robustness(curves)],  # type: ignore[misc]
            )
            continue
        names = [_cell_name(row, measure_rows) for row in measure_rows]
        if len(dict.fromkeys(names)) > _MAX_LINES:
            continue
        yield Figure(
            f"cells-{number}",
            measure_display_name(measure),
            "Mean over replicates with its 95% Monte Carlo interval.",
            lambda measure_rows=measure_rows, names=names: [draw_cells(measure_rows, names, "mean", "mcse", None)],  # type: ignore[misc]
        )


def _worst_sentence(rows: Sequence[Row], measure: str) -> str:
    lowest: dict[str, Row] = {}
    for row in rows:
        if row["model"] not in lowest or row["mean"] < lowest[row["model"]]["mean"]:
            lowest[row["model"]] = row
    parts = [
        f"{model} {row['mean']:.2f} ({_added_text(row)}, {row['design']})"
        for model, row in sorted(lowest.items(), key=lambda entry: -entry[1]["mean"])
    ]
    return f"{measure_display_name(measure)}: the lowest mean of each model is {'; '.join(parts)}."


def _added_text(row: Row) -> str:
    return f"{row['count']} {row['added']}" if row["count"] else "none added"


def _cell_name(row: Row, rows: Sequence[Row]) -> str:
    varying = [key for key in _CELL_KEYS if len({str(other.get(key)) for other in rows}) > 1]
    return " · ".join(str(row[key]) for key in varying) or "all"


def _coverage_blocks(rows: Sequence[Row]) -> Iterator[Block]:
    pooled_rows = [row for row in rows if "passed" in row and row["quantity"] == "all parameters"]
    passed = sum(bool(row["passed"]) for row in pooled_rows)
    yield Text(f"{passed} of {len(pooled_rows)} models and methods pass.", "lead")
    for number, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        method_rows = [dict(row) | {"series": row["method"]} for row in rows if row["method"] == method]
        if len(method_rows) > _MAX_LINES:
            method_rows = [row for row in method_rows if row["quantity"] == "all parameters"]
        names = [f"{row['model']} · {row['quantity']}" for row in method_rows]
        yield Figure(
            f"coverage-{number}",
            f"Coverage of 90% intervals, {method}",
            "Share of true values inside, with its 95% Monte Carlo interval; the dashed line is the nominal coverage.",
            lambda method_rows=method_rows, names=names: [
                draw_cells(method_rows, names, "coverage_90", "mcse_90", 0.9)
            ],  # type: ignore[misc]
        )
