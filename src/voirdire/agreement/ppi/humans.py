"""Human answers to some of what judges answered: read, checked against the judges' table, and added to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.encode import IntArray, encode, groups, positions
from voirdire.tables.labels import Labels, in_order, read_labels
from voirdire.tables.problems import Problems
from voirdire.tables.rated import known_names
from voirdire.tables.read import read_columns
from voirdire.tables.scores import Scores, read_scores
from voirdire.tables.votes import Votes, count_votes, read_votes

HUMAN = "human"

Table: TypeAlias = Votes | Scores | Labels
_R = TypeVar("_R", Scores, Labels)
# Row by row: what each is about, and what was answered.
_Keyed: TypeAlias = tuple[IntArray, NDArray[Any]]


def with_humans(table: Table, humans: object, levels: Sequence[object] | None = None) -> tuple[Table, str]:
    """Add human answers to a table of judges' answers, as one more judge.

    Parameters
    ----------
    table : Votes, Scores or Labels
        The judges' answers.
    humans : path, dataframe, or table of the same kind
        The same columns without ``judge``, or with one person's name in it: one answer a unit, to some of the
        units that judges answered.
    levels : sequence, optional
        The labels there may be, for labels.

    Returns
    -------
    table : Votes, Scores or Labels
        Both, under common names.
    name : str
        The judge that stands for the humans: "human", or the person's name.

    Raises
    ------
    InputError
        If the humans' table is of another kind or lacks a column, names several people or a judge of the
        table, holds contradictory answers, answers to what no judge answered, a single answer, or answers to
        everything.

    Examples
    --------
    >>> import pandas as pd
    >>> judged = read_labels(pd.DataFrame({"judge": "gpt", "item": [1, 2, 3], "label": ["y", "n", "y"]}))
    >>> both, name = with_humans(judged, pd.DataFrame({"item": [1, 3], "label": ["y", "n"]}))
    >>> name, both.judges, both.rows
    ('human', ('gpt', 'human'), 5)
    """
    problems = Problems("humans")
    read, name = _read(table, humans, levels, problems)
    if name in table.judges:
        problems.table(
            f"{name!r} is a judge of the table, too; leave those rows out of the table, or rename one of them"
        )
    both: Table
    if isinstance(table, Votes):
        assert isinstance(read, Votes)
        _same_columns({"criterion": (table.has_criteria, read.has_criteria)}, problems)
        _same_columns({"context": (bool(table.contexts), bool(read.contexts))}, problems)
        problems.raise_any()
        both = _join_votes(table, read)
        keyed = _keys_of_votes(both)
    else:
        assert isinstance(read, type(table))
        for column in ("context", "phase"):
            given = (getattr(table, column) is not None, getattr(read, column) is not None)
            _same_columns({column: given}, problems)
        _same_columns(
            {"criterion": (table.has_criteria, read.has_criteria), "item": (table.has_items, read.has_items)},
            problems,
        )
        problems.raise_any()
        if isinstance(table, Labels):
            assert isinstance(read, Labels)
            names = table.labels if table.declared else in_order(tuple({*table.labels, *read.labels}))
            both = _join(_named(table, names), _named(read, names), "label")
            keyed = _keys_of(both, both.label)
        else:
            assert isinstance(table, Scores)
            assert isinstance(read, Scores)
            both = _join(table, read, "score")
            keyed = _keys_of(both, both.score)
    _check(keyed, table.rows, problems)
    return both, name


def _read(
    table: Table, humans: object, levels: Sequence[object] | None, problems: Problems
) -> tuple[Table, str]:
    kind = next(kind for kind in (Votes, Scores, Labels) if isinstance(table, kind))
    if isinstance(humans, Votes | Scores | Labels):
        if not isinstance(humans, kind):
            problems.stop(
                f"they are {type(humans).__name__.lower()} and the table holds {kind.__name__.lower()}"
            )
        return humans, _person(humans.judges, problems)
    answer = {Votes: "winner", Scores: "score", Labels: "label"}[kind]
    cells = read_columns(humans, [], ["judge", answer], Problems("humans"))
    if answer not in cells:
        problems.stop(f"there is no column {answer!r}, and the table's answers are {kind.__name__.lower()}")
    if not len(cells[answer]):
        problems.stop("there are no answers")
    people = encode(cells["judge"], "judge", problems).levels if "judge" in cells else ()
    problems.raise_any()
    name = _person(people, problems)
    if kind is Votes:
        return read_votes(humans, name="humans", judge=None if people else name), name
    if kind is Scores:
        return read_scores(humans, name="humans", judge=name), name
    return read_labels(humans, name="humans", levels=levels, judge=name), name


def _person(people: Sequence[str], problems: Problems) -> str:
    if len(people) > 1:
        problems.stop(
            f"column 'judge' names {len(people)} people ({known_names(people)}); keep one of them, or decide "
            "each unit by their majority or mean, and leave the column out"
        )
    return people[0] if people else HUMAN


def _same_columns(given: dict[str, tuple[bool, bool]], problems: Problems) -> None:
    for column, (table, humans) in given.items():
        if table != humans:
            has, lacks = (
                ("the table has", "the humans'") if table else ("the humans' table has", "the judges'")
            )
            problems.table(
                f"{has} a column {column!r} and {lacks} has not; what is answered cannot be matched"
            )


def _named(labels: Labels, names: tuple[str, ...]) -> Labels:
    return replace(labels, labels=names, label=positions(labels.labels, names)[labels.label])


def _join(table: _R, humans: _R, answer: str) -> _R:
    """Rows of both under common names; runs are forgotten."""
    made: dict[str, Any] = {"run": None, "runs": ()}
    plurals = {"judge": "judges", "criterion": "criteria", "item": "items", "context": "contexts"}
    for column, plural in (plurals | {"system": "systems", "phase": "phases"}).items():
        codes = [getattr(one, column) for one in (table, humans)]
        if codes[0] is None:
            made |= {column: None, plural: ()}
            continue
        # Systems are known from the judges' rows; humans need not name them.
        codes[1] = np.full(humans.rows, -1) if codes[1] is None else codes[1]
        names, joined = _common(getattr(table, plural), getattr(humans, plural), *codes)
        made |= {plural: names, column: joined}
    made[answer] = np.concatenate([getattr(table, answer), getattr(humans, answer)])
    return replace(table, **made)


def _join_votes(table: Votes, humans: Votes) -> Votes:
    def rows(one: Votes, column: str) -> IntArray:
        codes: IntArray = getattr(one, column)[one.row_cell]
        return codes

    judges, judge = _common(table.judges, humans.judges, rows(table, "judge"), rows(humans, "judge"))
    criteria, criterion = _common(
        table.criteria, humans.criteria, rows(table, "criterion"), rows(humans, "criterion")
    )
    items, first = _common(table.items, humans.items, rows(table, "first"), rows(humans, "first"))
    _, second = _common(table.items, humans.items, rows(table, "second"), rows(humans, "second"))
    contexts: tuple[str, ...] = ()
    context = None
    if table.row_context is not None and humans.row_context is not None:
        contexts, context = _common(table.contexts, humans.contexts, table.row_context, humans.row_context)
    outcome = np.concatenate([table.row_outcome, humans.row_outcome])
    names, codes = (judges, criteria, items), (judge, criterion, first, second)
    return count_votes(names, codes, outcome, contexts, context, table.has_criteria)


def _common(
    names: Sequence[str], others: Sequence[str], codes: IntArray, other_codes: IntArray
) -> tuple[tuple[str, ...], IntArray]:
    union = tuple(sorted({*names, *others}))
    places = [np.append(positions(of, union), -1) for of in (names, others)]
    return union, np.concatenate([places[0][codes], places[1][other_codes]])


def _keys_of(both: Scores | Labels, answer: NDArray[Any]) -> _Keyed:
    columns = [both.criterion, both.phase, both.context, both.item]
    return _coded([one for one in columns if one is not None]), answer


def _keys_of_votes(both: Votes) -> _Keyed:
    first, second = both.first[both.row_cell], both.second[both.row_cell]
    low, high = np.minimum(first, second), np.maximum(first, second)
    columns = [both.criterion[both.row_cell], low, high]
    columns += [] if both.row_context is None else [both.row_context]
    winner = np.select([both.row_outcome == 0, both.row_outcome == 1], [first, second], -1)
    return _coded(columns), winner


def _coded(columns: list[IntArray]) -> IntArray:
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].astype(np.int64)


def _check(keyed: _Keyed, judged: int, problems: Problems) -> None:
    """Human answers must be about units that judges answered, one answer each, some units but not all."""
    key, answer = keyed
    seen, asked = key[:judged], key[judged:]
    unknown = ~np.isin(asked, seen)
    if unknown.any():
        problems.rows(
            np.flatnonzero(unknown) + 1,
            "no judge answered this unit, so it tells nothing about them; leave it out, or have judges answer it",
        )
    for _, rows in groups(asked):
        if len(np.unique(answer[judged:][rows])) > 1:
            places = " and ".join(str(row + 1) for row in rows[:8])
            problems.rows(
                rows[1:] + 1, f"contradicts another answer to the same unit (rows {places}); keep one"
            )
    problems.raise_any()
    answered, units = len(np.unique(asked)), len(np.unique(seen))
    if answered == 1:
        problems.table(
            "there is only one unit with an answer, which tells nothing of its error; give two or more"
        )
    elif answered == units:
        problems.table(
            f"they answered all {units} units, which leaves nothing to predict; add them to the table as a judge"
        )
    problems.raise_any()
