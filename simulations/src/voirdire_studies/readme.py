"""The page ``simulations/README.md``, made from the study files and their results (``voirdire simulate --page``)."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from voirdire_studies.study import Study, load_study, study_names

_SHOWN = ("panel", "added", "count", "design", "model", "method", "optimiser", "quantity", "measure")
_MOST_ROWS = 90


def studies_page() -> str:
    """Return the page.

    Examples
    --------
    >>> studies_page().startswith("# Simulation studies")
    True
    """
    lines = [
        "# Simulation studies",
        "",
        "One folder per study: `study.toml` says what is simulated, fitted and measured; `results.csv` is what came",
        "out, with Monte Carlo errors (`mcse`), `first.csv` the first replicate of each cell,",
        "which tests run again, and `run.json` the seed, replicates and versions that made it. Run one with `voirdire",
        "simulate NAME`, all with `make studies`. This page is generated.",
        "",
        "| study | question | replicates | seed | results |",
        "| --- | --- | --- | --- | --- |",
    ]
    studies = [load_study(name) for name in study_names()]
    for study in studies:
        made = "results.csv" if _results_path(study).exists() else "not run yet"
        lines.append(f"| [{study.name}](#{study.name}) | {study.title} | {study.replicates} | {study.seed} | {made} |")
    for study in studies:
        lines += ["", f"## {study.name}", "", study.aim, "", f"Source: {study.source}.", "", *_results_lines(study)]
    return "\n".join(lines).rstrip() + "\n"


def _results_path(study: Study) -> Path:
    return study.path.parent / "results.csv"


def _results_lines(study: Study) -> list[str]:
    if not _results_path(study).exists():
        return []
    with _results_path(study).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    run = json.loads((study.path.parent / "run.json").read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    rows = one_row_per_truth(rows) if study.kind == "truths" else rows
    columns = [name for name in rows[0] if name not in _SHOWN or len({row[name] for row in rows}) > 1]
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_short_number(row[name]) for name in columns) + " |" for row in rows[:_MOST_ROWS]]
    if len(rows) > _MOST_ROWS:
        lines += ["", f"The first {_MOST_ROWS} of {len(rows)} rows; all are in `{study.name}/results.csv`."]
    if "added" in study.settings:
        lines += ["", "What judges that join cost (the mean without them, and the drop with a Monte Carlo error):", ""]
        lines += drops_table(study)
    finding = study.settings.get("finding")
    lines += ["", finding] if finding else []
    return [*lines, "", f"Made with {run['replicates']} replicates, seed {run['seed']}; {versions}."]


def one_row_per_truth(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Measures side by side: a row for each truth and what scores are about, the checks that say something last.

    Examples
    --------
    >>> row = {"truth": "votes-drift", "about": "panel", "method": "laplace", "n": "4"}
    >>> measures = [{"measure": "coverage", "mean": "0.6"}, {"measure": "says drift", "mean": "0.75"}]
    >>> one_row_per_truth([row | measure for measure in measures])
    [{'truth': 'votes-drift', 'about': 'panel', 'coverage': '0.600', 'checks': 'drift 0.75'}]
    """
    rows_by_truth: dict[tuple[str, str], dict[str, str]] = {}
    checks_by_truth: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        key = row["truth"], row["about"]
        cells = rows_by_truth.setdefault(key, {"truth": key[0], "about": key[1]})
        checks = checks_by_truth.setdefault(key, [])
        if row["measure"].startswith("says "):
            checks.append(f"{row['measure'].removeprefix('says ')} {float(row['mean']):.2f}")
        else:
            cells[row["measure"]] = f"{float(row['mean']):.3f}"
    names = list(dict.fromkeys(name for cells in rows_by_truth.values() for name in cells))
    return [
        {name: cells.get(name, "") for name in names} | {"checks": ", ".join(checks_by_truth[key])}
        for key, cells in rows_by_truth.items()
    ]


def drops_table(study: Study) -> list[str]:
    """Table of the cost of judges that join: by panel, model and design the mean without them, and the drop with them.

    The Monte Carlo errors are those of differences of independent means; cells share panels, so they are too wide.
    """
    with _results_path(study).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    added = list(dict.fromkeys((row["added"], row["count"]) for row in rows if row["added"] != "none"))
    heads = ["panel", "design", "model", "none", *(f"{count} {name}" for name, count in added)]
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * 3 + " ---: |" * (len(heads) - 3)]
    of = {tuple(row[key] for key in ("panel", "design", "model", "added", "count")): row for row in rows}
    for panel, design, model in dict.fromkeys(key[:3] for key in of):
        base = of[panel, design, model, "none", "0"]
        cells = [_fall_text(base, of[panel, design, model, name, count]) for name, count in added]
        lines.append("| " + " | ".join([panel, design, model, f"{float(base['mean']):.3f}", *cells]) + " |")
    return lines


def _fall_text(base: dict[str, str], row: dict[str, str]) -> str:
    error = (float(base["mcse"]) ** 2 + float(row["mcse"]) ** 2) ** 0.5
    return f"{float(base['mean']) - float(row['mean']):.3f} ± {error:.3f}"


def _short_number(text: str) -> str:
    try:
        number = float(text)
    except ValueError:
        return text
    return text if number.is_integer() else f"{number:.4f}"
