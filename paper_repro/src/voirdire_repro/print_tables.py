"""Published tables, and ours, in the layout of papers: CSV, LaTeX and HTML.

The last key gives the columns (for correlations, the last two: criterion and coefficient), the other keys the rows. A
cell has a mean or value with its sd (``0.794 ± 0.061``) or its interval (``60.1 (42.3, 77.3)``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.folders import write_file
from voirdire_repro.claims import System
from voirdire_repro.fill.filled import BY_PAPER
from voirdire_repro.tables import Cell, Table, read_table

if TYPE_CHECKING:
    import pandas as pd

_STATISTIC, _COEFFICIENT = "statistic", "coefficient"


def laid_out(table: Table, cells: Iterable[Cell] | None = None) -> pd.DataFrame:
    """Lay out a table as in a paper, with text in every cell.

    Parameters
    ----------
    table : Table
        Table that gives columns and order.
    cells : iterable of Cell, optional
        Other figures with the keys of the table, for example ours.

    Examples
    --------
    >>> from voirdire_repro import load_system
    >>> laid_out(load_system("maple").tables["table3"]).iloc[0].tolist()
    ['A Cowboy Who Rode the Waves', '0.794 ± 0.061', '0.768 ± 0.054', '0.765 ± 0.062']
    """
    import pandas as pd

    keys = [column for column in table.columns if column != _STATISTIC]
    across = keys[-2:] if keys[-1] == _COEFFICIENT and len(keys) > 1 else keys[-1:]
    down = [key for key in keys if key not in across]
    rows_by_key: dict[tuple[str, ...], dict[str, dict[str, str]]] = {}
    for cell in table.cells if cells is None else cells:
        by = cell.by
        row = rows_by_key.setdefault(tuple(by[key] for key in down), {})
        place = row.setdefault(", ".join(by[key] for key in across), {})
        place[by.get(_STATISTIC, "value")] = cell.text
    heads = dict.fromkeys(", ".join(cell.by[key] for key in across) for cell in table.cells)
    rows = [
        {**dict(zip(down, keys_of, strict=True)), **{head: _figures_text(row.get(head, {})) for head in heads}}
        for keys_of, row in rows_by_key.items()
    ]
    return pd.DataFrame(rows, columns=[*down, *heads])


def _figures_text(figures: Mapping[str, str]) -> str:
    text = figures.get("mean", figures.get("value", ""))
    if "sd" in figures:
        text = f"{text} ± {figures['sd']}".strip()
    if "low" in figures and "high" in figures:
        text = f"{text} ({figures['low']}, {figures['high']})".strip()
    return f"{text} [{figures['top1']}]" if "top1" in figures else text


def print_tables(system: System, folder: Path, results: Path | None = None) -> list[Path]:
    """Write every table of a paper, and ours from runs, as CSV, LaTeX and HTML; return the paths.

    Parameters
    ----------
    results : Path, optional
        Folder that ``voirdire repro --run`` has written.
    """
    written = []
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in system.tables.items():
        made = {f"{system.system}-{name}": laid_out(table)}
        for end in ("", BY_PAPER):
            run_files = results.glob(f"{system.system}/*/{name}{end}.csv") if results is not None else ()
            made |= {
                f"{system.system}-{name}-{path.parent.name}{end}": laid_out(table, read_table(path, "").cells)
                for path in sorted(run_files)
            }
        for stem, frame in made.items():
            caption = f"{table.caption} ({'published' if stem.endswith(name) else 'ours'})"
            latex = frame.to_latex(index=False, escape=True, caption=caption).replace("±", r"$\pm$")
            html = f"<p>{_escape_html(caption)}</p>\n{frame.to_html(index=False, border=0)}\n"
            for suffix, text in (("csv", frame.to_csv(index=False)), ("tex", latex), ("html", html)):
                write_file(folder / f"{stem}.{suffix}", text)
                written.append(folder / f"{stem}.{suffix}")
    return written


def _escape_html(text: str) -> str:
    from html import escape

    return escape(text)
