"""Random tables under other names of columns, in any wrapping: the rows of the plain table, or refused as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire import InputError, read
from voirdire.notices import listen_for_notes
from voirdire.tables import Votes, read_table

NAMES = ["a", "B", "é", "1", "2.0", "007", 'q"uo', "x,y", "semi-colon", "two words", "NA ", "tie"]
ODD = ["", " a", "NaN", "1_0", "first"]
COLUMNS = {
    "votes": ("judge", "first", "second", "winner"),
    "scores": ("judge", "item", "score"),
    "labels": ("judge", "item", "label"),
}
FURTHER = ("criterion", "context", "run", "topic")
WRAPPINGS = ("csv", "tsv", "json", "jsonl", "csv.gz", "parquet", "xlsx", "frame")


def random_table(rng: np.random.Generator) -> tuple[str, pd.DataFrame]:
    """A table of texts, in a third of the cases with cells that cannot be read."""
    kind = str(rng.choice(list(COLUMNS)))
    rows = int(rng.integers(1, 9))
    names = NAMES[:-2] if rng.random() < 0.7 else NAMES + ODD
    pick = lambda among: [str(one) for one in rng.choice(among, rows)]  # noqa: E731
    cells = {name: pick(names) for name in COLUMNS[kind]}
    if kind == "votes":
        said = [
            pick([one, other, "first", "second", "tie"])[0]
            for one, other in zip(cells["first"], cells["second"], strict=True)
        ]
        cells["winner"] = said
    if kind == "scores":
        cells["score"] = pick(["1", "2.5", "-3", "1e2", *(["high", "1_0", ""] if rng.random() < 0.3 else [])])
    for name in FURTHER:
        if rng.random() < 0.4:
            cells[name] = pick(names[:4] if rng.random() < 0.8 else [*names[:4], ""])
    return kind, pd.DataFrame(cells)


def codes(source: object) -> Any:
    """What a table is read as, or that it is refused."""
    try:
        with listen_for_notes(lambda _: None):
            table = read_table(source)
    except InputError:
        return None
    names = (table.judges, table.criteria, table.items, table.contexts)
    if isinstance(table, Votes):
        context = None if table.row_context is None else table.row_context.tolist()
        cells = np.column_stack([table.judge, table.criterion, table.first, table.second])[table.row_cell]
        return names, cells.tolist(), table.row_outcome.tolist(), context
    context = None if table.context is None else table.context.tolist()
    about = np.column_stack([table.judge, table.criterion, table.item]).tolist()
    return names, about, context, table.answers.tolist(), getattr(table, "labels", None), table.runs


def wrapped(frame: pd.DataFrame, wrapping: str, folder: Path) -> Any:
    path = folder / f"table.{wrapping}"
    if wrapping == "frame":
        return frame
    if wrapping in ("json", "jsonl"):
        records = frame.to_dict("records")
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        path.write_text(f"[{', '.join(lines)}]" if wrapping == "json" else "\n".join(lines), encoding="utf-8")
    elif wrapping == "parquet":
        frame.to_parquet(path)
    elif wrapping == "xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if wrapping == "tsv" else ",")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_rows_are_those_of_the_plain_table_or_refused_as_it_is(wrapping: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(WRAPPINGS.index(wrapping))
    read_ones = 0
    for _ in range(40):
        kind, frame = random_table(rng)
        plain = tmp_path / "plain.csv"
        frame.to_csv(plain, index=False)
        wanted = codes(plain)
        renamed = {name: f"the {name}" for name in frame if name != "topic" and rng.random() < 0.6}
        source = wrapped(frame.rename(columns=renamed), wrapping, tmp_path)
        try:
            with listen_for_notes(lambda _: None):
                found = codes(read(source, map=renamed, table=kind))
        except InputError:
            found = None
        assert found == wanted, (kind, frame.to_dict("list"), renamed)
        read_ones += wanted is not None
    assert read_ones > 10


def test_items_of_labels_are_named_by_context_and_system_too() -> None:
    frame = pd.DataFrame({"judge": "a", "context": "c", "system": ["s", "t"], "score": [1, 2]})
    labels = read(frame, table="labels").labels
    assert labels is not None
    assert labels[["item", "label", "system"]].values.tolist() == [["c / s", "1", "s"], ["c / t", "2", "t"]]


def test_a_column_that_says_which_rows_were_turned_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("judge,model_a,model_b,winner,swapped\nann,x,y,A,True\nann,x,y,B,False\n")
    found = read(path, winners={"A": "first", "B": "second"})
    assert found.votes["winner"].tolist() == ["first", "second"]
    assert any("'swapped' is kept as it is" in note and "not turned" in note for note in found.notes)
