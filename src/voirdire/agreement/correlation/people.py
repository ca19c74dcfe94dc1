"""Combination of runs or tables of metrics with people's scores in one table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.tables.encode import cell_to_name
from voirdire.tables.ratings import known_names
from voirdire.tables.row_filter import select_rows
from voirdire.tables.run_folders import run_folder

if TYPE_CHECKING:
    import pandas as pd

HUMAN = "human"
_COLUMNS_KEPT = ("judge", "item", "score", "criterion", "context", "system")


def combine_score_tables(
    tables: Sequence[object], humans: object = None, *, phase: str | None = None, where: Mapping[str, str] | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Combine scores of several runs or tables and of people in one table.

    Parameters
    ----------
    tables : sequence of path, folder of a run, or dataframe
        Scores of the metrics. One of several tables is named by its protocol (a run) or its file. A judge ``j`` of a
        table with several judges is then called ``name/j``.
    humans : path or dataframe, optional
        People's scores: columns item (or context and system) and score, optionally judge, criterion, context and
        system. Read in the same way as those of the metrics.
    phase : str, optional
        The phase to use of tables with phases; by default the final one.
    where : mapping of str to str, optional
        Required values of columns.

    Returns
    -------
    table : DataFrame
        All scores.
    people : list of str
        Names of the human judges; empty without ``humans``.

    Raises
    ------
    InputError
        If no item is scored by people and by a metric, or a name occurs twice.

    Examples
    --------
    >>> import pandas as pd
    >>> metric = pd.DataFrame({"judge": "m", "item": ["x", "y"], "score": [1, 2]})
    >>> table, people = combine_score_tables([metric], metric[["item", "score"]])
    >>> table["judge"].tolist(), people
    (['m', 'm', 'human', 'human'], ['human'])
    """
    import pandas as pd

    frames = [_read_scores(table, phase, where) for table in tables]
    if any("judge" not in frame for frame in frames):
        raise InputError("a table of metrics has no column 'judge'; name who gave the scores")
    if len(frames) > 1:
        for frame, name in zip(frames, _table_names(tables, frames), strict=True):
            several = len(set(frame["judge"])) > 1
            frame["judge"] = [f"{name}/{judge}" for judge in frame["judge"]] if several else name
    if humans is None:
        return _fill_contexts_and_systems(_stack_tables(frames)), []
    people = _read_scores(humans, None, None)
    crossed = all("item" not in frame for frame in (*frames, people))
    frames = [_with_items(frame, people, "a table of metrics has") for frame in frames]
    people = _with_items(people, pd.concat(frames), "people's scores have")
    people["judge"] = people["judge"].astype(str) if "judge" in people else HUMAN
    names = sorted(set(people["judge"]))
    if shared := set(names) & {judge for frame in frames for judge in frame["judge"]}:
        raise InputError(f"judge {min(shared)!r} is one of people and one of the metrics; rename one")
    metrics = _fill_contexts_and_systems(_stack_tables(frames))
    if not set(metrics["item"].astype(str)) & set(people["item"].astype(str)):
        raise InputError(
            f"people score none of the metrics' items: {known_names(sorted(set(people['item'].astype(str))), 3)} "
            f"and {known_names(sorted(set(metrics['item'].astype(str))), 3)}"
        )
    people = _complete_people_scores(people, metrics)
    metrics = _match_criteria(metrics, people)
    scores = pd.concat([metrics, people], ignore_index=True)
    return scores.drop(columns="item") if crossed else scores, names


def _read_scores(table: object, phase: str | None, where: Mapping[str, str] | None) -> pd.DataFrame:
    """Read scores of metrics or of people, with item names as in every table, so that 1 and "1" are the same item."""
    selected = select_rows(table, phase, where, answer="score")
    kept = selected[[name for name in _COLUMNS_KEPT if name in selected]].copy()
    return kept.assign(item=_item_names(kept["item"])) if "item" in kept else kept


def _item_names(cells: Iterable[Any]) -> list[Any]:
    return [name if isinstance(name := cell_to_name(cell), str) else cell for cell in cells]


def _with_items(frame: pd.DataFrame, reference: pd.DataFrame, description: str) -> pd.DataFrame:
    """Add item names where missing: those of the other table for the same context and system.

    Raises
    ------
    InputError
        If the table has neither items, nor contexts and systems.
    """
    if "item" in frame:
        return frame
    if not {"context", "system"} <= set(frame):
        raise InputError(
            f"{description} no column 'item', nor both 'context' and 'system'; name the items as the other scores do"
        )
    item_by_place = {}
    if {"item", "context", "system"} <= set(reference):
        item_by_place = dict(zip(_context_system_pairs(reference), reference["item"], strict=True))
    item_names = [item_by_place.get(place, " / ".join(map(str, place))) for place in _context_system_pairs(frame)]
    return frame.assign(item=item_names)


def _context_system_pairs(frame: pd.DataFrame) -> list[tuple[Any, Any]]:
    return list(zip(_item_names(frame["context"]), _item_names(frame["system"]), strict=True))


def _fill_contexts_and_systems(frame: pd.DataFrame) -> pd.DataFrame:
    """Fill missing contexts and systems by item; a column that stays incomplete is left out."""
    for column in ("context", "system"):
        if column not in frame or "item" not in frame or not frame[column].isna().any():
            continue
        known_items = frame.dropna(subset=[column]).drop_duplicates("item")
        filled = frame[column].fillna(_column_by_item(frame["item"], known_items, column))
        if filled.isna().any():
            give_notice(f"Not all tables name the {column} of their items: it is left out.")
            frame = frame.drop(columns=column)
        else:
            frame = frame.assign(**{column: filled})
    return frame


def _table_names(tables: Sequence[object], frames: Sequence[pd.DataFrame]) -> list[str]:
    """Name each table by its protocol or file, a dataframe by its only judge; add the path where names repeat."""
    names = []
    for place, (table, frame) in enumerate(zip(tables, frames, strict=True), start=1):
        if not isinstance(table, str | os.PathLike):
            alone = len(set(frame["judge"])) == 1
            names.append(str(frame["judge"].iloc[0]) if alone else f"table {place}")
            continue
        run = run_folder(table)
        names.append(Path(table).name.partition(".")[0] if run is None else run.protocol)
    name_counts = Counter(names)
    labels = [
        f"{name} ({Path(os.fspath(table)).name})"
        if name_counts[name] > 1 and isinstance(table, str | os.PathLike)
        else name
        for name, table in zip(names, tables, strict=True)
    ]
    if len(set(labels)) < len(labels):
        raise InputError(f"two tables are called {Counter(labels).most_common(1)[0][0]!r}; rename a folder")
    return labels


def _criteria_of(*frames: pd.DataFrame) -> list[str]:
    return sorted({str(criterion) for frame in frames if "criterion" in frame for criterion in frame["criterion"]})


def _repeat_by_criterion(frame: pd.DataFrame, criteria: Sequence[str]) -> pd.DataFrame:
    """Repeat a table without criteria under each of the criteria."""
    import pandas as pd

    return pd.concat([frame.assign(criterion=name) for name in criteria], ignore_index=True)


def _column_by_item(items: Any, source: pd.DataFrame, column: str) -> Any:
    """Look up a column of items in another table."""
    return items.map(dict(zip(source["item"], source[column], strict=True)))


def _stack_tables(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Stack tables; a table without criteria is repeated under each criterion of the others."""
    import pandas as pd

    criteria = _criteria_of(*frames)
    parts = [
        _repeat_by_criterion(frame, criteria) if criteria and "criterion" not in frame else frame for frame in frames
    ]
    return pd.concat(parts, ignore_index=True)


def _match_criteria(metrics: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Reduce metrics to people's criteria; metrics without criteria are repeated under each."""
    if "criterion" not in people:
        return metrics
    criteria = _criteria_of(people)
    if "criterion" not in metrics:
        return _repeat_by_criterion(metrics, criteria)
    unknown = sorted(set(metrics["criterion"].astype(str)) - set(criteria))
    kept = metrics[metrics["criterion"].astype(str).isin(criteria)]
    if kept.empty:
        raise InputError(f"people's criteria are {known_names(criteria)}, the metrics' {known_names(unknown)}")
    if unknown:
        give_notice(f"People do not score {known_names(unknown)}: left out.")
    return kept


def _complete_people_scores(people: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Complete people's scores with contexts, systems and criteria of the metrics."""
    if "criterion" in metrics and "criterion" not in people:
        people = _repeat_by_criterion(people, _criteria_of(metrics))
    for column in ("context", "system"):
        if column in people or column not in metrics:
            continue
        known_items = metrics.dropna(subset=[column]).drop_duplicates(["item", column])
        if known_items["item"].duplicated().any():
            raise InputError(f"items stand in several {column}s; give people's scores a column {column!r}")
        people = people.assign(**{column: _column_by_item(people["item"], known_items, column)}).dropna(subset=[column])
    return people
