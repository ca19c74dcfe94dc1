r"""Table of metrics by criteria and coefficients as a file: HTML, LaTeX (booktabs), Markdown or CSV.

Criteria are headings above their coefficients. The best value of a column is bold, the second best underlined; a
dagger marks values that are not distinguishable from the best.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.agreement.correlation.table import metric_table
from voirdire.errors import InputError
from voirdire.folders import write_file
from voirdire.report import text_formats
from voirdire.report.html import render_template
from voirdire.report.output import check_new_file
from voirdire.report.text_formats import escape_latex

if TYPE_CHECKING:
    import pandas as pd

Heads = list[tuple[str, str]]
NOTE = "Bold: the best of its column; underlined: the second best; \u2020: not distinguishable from the best."


def write_metric_table(results: pd.DataFrame, path: str | Path, caption: str = "Agreement with people") -> Path:
    """Write :func:`voirdire.agreement.metric_table` of the rows of ``metaeval`` to a new file.

    Parameters
    ----------
    results : pandas.DataFrame
    path : path
        New file; its ending gives the format: .html, .tex, .md or .csv.

    Raises
    ------
    InputError
        As in :func:`check_metric_file`.
    """
    new_file = check_metric_file(path)
    table = metric_table(results)
    rows = [[str(name), *map(str, cells)] for name, cells in zip(table.index, table.to_numpy(), strict=True)]
    heads = [(str(criterion), str(name)) for criterion, name in table.columns.to_frame(index=False).to_numpy()]
    write_file(new_file, _FORMATTERS[new_file.suffix](heads, rows, caption))
    return new_file


def split_mark(cell: str) -> tuple[str, str, bool]:
    """Split a cell into its number, its mark ("best", "second" or "") and True if not distinguishable from the best.

    Examples
    --------
    >>> split_mark("**0.61**"), split_mark("_-0.55_~"), split_mark("0.5~"), split_mark("-")
    (('0.61', 'best', False), ('-0.55', 'second', True), ('0.5', '', True), ('-', '', False))
    """
    text, same = cell.removesuffix("~"), cell.endswith("~")
    if text.startswith("**"):
        return text[2:-2], "best", same
    return (text[1:-1], "second", same) if text.startswith("_") else (text, "", same)


def _columns_per_criterion(heads: Heads) -> list[tuple[str, int]]:
    """Return criteria with the number of their columns; empty if the only criterion has no name."""
    counts = [(name, len(list(columns))) for name, columns in groupby(heads, lambda head: head[0])]
    return [] if counts == [("", len(heads))] else counts


def _html_table(heads: Heads, rows: list[list[str]], caption: str) -> str:
    marked = [(metric, [split_mark(cell) for cell in cells]) for metric, *cells in rows]
    shown = {"caption": caption, "criteria": _columns_per_criterion(heads), "heads": heads, "note": NOTE}
    return render_template("metrics.html.j2", rows=marked, **shown)


def _latex_table(heads: Heads, rows: list[list[str]], caption: str) -> str:
    above, column = "", 2
    if _columns_per_criterion(heads):
        criteria, rules = [], []
        for name, span in _columns_per_criterion(heads):
            criteria.append(rf"\multicolumn{{{span}}}{{c}}{{{escape_latex(name)}}}")
            rules.append(rf"\cmidrule(lr){{{column}-{column + span - 1}}}")
            column += span
        above = " & " + " & ".join(criteria) + " \\\\\n" + "".join(rules) + "\n"
    lines = []
    for metric, *cells in rows:
        shown = [escape_latex(metric)]
        for number, mark, same in map(split_mark, cells):
            text = number.replace("-", "$-$") if number != "-" else "--"
            text = {"best": rf"\textbf{{{text}}}", "second": rf"\underline{{{text}}}"}.get(mark, text)
            shown.append(text + (r"\textdagger{}" if same else ""))
        lines.append(" & ".join(shown) + r" \\")
    names = " & ".join(["metric", *(escape_latex(name) for _, name in heads)])
    body = "\n".join(lines)
    return (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n"
        f"\\caption{{{escape_latex(caption)}. {escape_latex(NOTE)}}}\n"
        f"\\begin{{tabular}}{{l{'r' * len(heads)}}}\n\\toprule\n{above}{names} \\\\\n\\midrule\n{body}\n"
        "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )


def _markdown_table(heads: Heads, rows: list[list[str]], caption: str) -> str:
    names = ["metric", *(" ".join(filter(None, head)) for head in heads)]
    lines = [names, ["---", *("--:" for _ in heads)]]
    lines = [[text_formats.escape_markdown(name) for name in names], lines[1]]
    lines += [[text_formats.escape_markdown(metric), *cells] for metric, *cells in rows]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{text_formats.escape_markdown(caption)}\n\n{body}\n"


def _csv_table(heads: Heads, rows: list[list[str]], caption: str) -> str:
    import pandas as pd

    names = [" ".join(filter(None, head)) for head in heads]
    values = [
        [metric, *(split_mark(cell)[0].replace("-", "") if cell == "-" else split_mark(cell)[0] for cell in cells)]
        for metric, *cells in rows
    ]
    return pd.DataFrame(values, columns=["metric", *names]).to_csv(index=False)


_FORMATTERS: dict[str, Callable[[Heads, list[list[str]], str], str]] = {
    ".html": _html_table,
    ".tex": _latex_table,
    ".md": _markdown_table,
    ".csv": _csv_table,
}


def check_metric_file(path: str | Path) -> Path:
    """Check the path of a new file of metrics and return it.

    Raises
    ------
    InputError
        Its ending is not one of the four, the file exists, or it cannot be written.
    """
    new_file = Path(path)
    if new_file.suffix not in _FORMATTERS:
        raise InputError(f"{new_file.name!r} ends in none of {', '.join(_FORMATTERS)}")
    check_new_file(new_file)
    return new_file
