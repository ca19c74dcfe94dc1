"""The verb ``next`` of a fit of rankings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.cli import console
from voirdire.folders import write_file
from voirdire.kinds.rankings.fit import RankingsFit
from voirdire.tables.forms import guard_cell

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("judge", "criterion", "context")


def send_rankings(result: RankingsFit, how: dict[str, Any], out: Path | None, json: bool) -> None:
    """Choose rankings to ask for, write them as a table to fill in, and show them."""
    found = result.next_rankings(**how)
    who = how.get("who", "judge")
    if out is not None:
        form = _ranking_form(found, result, who)
        write_file(out, form.to_csv(index=False))
        new = " and, where it is empty, context" if "context" in form and form["context"].isna().any() else ""
        console.print_note(
            f"written to {out}: fill in rank (the lowest is the best, equal ones are ties){new}"
        )
    if json:
        rows = [row | {"items": list(row["items"])} for row in found.to_dict("records")]
        attrs = found.attrs
        console.print_json(
            {
                "model": result.model.name,
                "who": who,
                "about": attrs["about"],
                "seed": how["seed"],
                "entropy": attrs["entropy"],
                "entropy_after": attrs["left"],
                "rankings": rows,
            }
        )
    else:
        _show_rankings(found, who)


def _ranking_form(found: pd.DataFrame, result: RankingsFit, who: str) -> pd.DataFrame:
    """One row an item, each ranking with a run of its own that the table does not have. People open it."""
    columns = ["judge", *(name for name in COLUMNS[1:] if name in found)]
    if who == "person" or found["judge"].isna().all():
        columns.remove("judge")
    if "criterion" in columns and found["criterion"].isna().all():
        columns.remove("criterion")
    form = found[[*columns, "items"]].assign(run=[f"next-{place}" for place in found["place"]])
    form = form.explode("items", ignore_index=True).rename(columns={"items": "item"})
    if who == "person":
        form["item"] = [guard_cell(name, {*result.problem.items}) for name in form["item"]]
    return form.assign(rank="")


def _show_rankings(found: pd.DataFrame, who: str) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    about = {"ranking": "the ranking", "best": "what is best"}[found.attrs["about"]]
    title = f"Rankings to ask for, from a {who}, to learn about {about}"
    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    names = [name for name in COLUMNS if name in found and found[name].notna().any()]
    if "context" in found and "context" not in names:
        names.append("context")
    for name in (*names, "items"):
        table.add_column(name, overflow="fold")
    for name in ("gain", "alone"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.to_dict("records"):
        cells = [row[name] or ("a new one" if name == "context" else "") for name in names]
        cells += [", ".join(row["items"]), f"{row['gain']:.2f}", f"{row['information']:.2f}"]
        table.add_row(*(Text(console.printable_text(str(cell))) for cell in cells))
    out = console.stdout_console()
    out.print(table)
    before, after = found.attrs["entropy"], found.attrs["left"]
    out.print(f"gain, alone: bits; unsure now {before:.1f} bits, expected after all rankings {after:.1f}")
