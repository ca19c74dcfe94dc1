"""Human answers to some units of the judges' table: reading, checks, and addition to the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeAlias

import numpy as np

from voirdire.tables.counts import Votes
from voirdire.tables.encode import encode_column, rows_by_code
from voirdire.tables.joined import joined_table
from voirdire.tables.labels import Labels, read_labels
from voirdire.tables.problems import Problems
from voirdire.tables.ratings import known_names
from voirdire.tables.read import read_columns
from voirdire.tables.scores import Scores, read_scores
from voirdire.tables.votes import read_votes

HUMAN = "human"

Table: TypeAlias = Votes | Scores | Labels


def with_humans(table: Table, humans: object, levels: Sequence[object] | None = None) -> tuple[Table, str]:
    """Add human answers to a table of judges' answers, as one more judge.

    Parameters
    ----------
    table : Votes, Scores or Labels
        The judges' answers.
    humans : path, dataframe, or table of the same kind
        One human answer per unit, to some of the units that judges answered. The columns are those of the table
        without ``judge``, or with one person's name in ``judge``.
    levels : sequence, optional
        All possible labels, for tables of labels.

    Returns
    -------
    table : Votes, Scores or Labels
        Answers of judges and humans.
    name : str
        The name of the humans as a judge: "human", or the person's name.

    Raises
    ------
    InputError
        If the humans' table is of another kind or lacks a column, names several people or a judge of the
        table, or holds contradictory answers, answers to units that no judge answered, a single answer, or answers
        to all units.

    Examples
    --------
    >>> import pandas as pd
    >>> judged = read_labels(pd.DataFrame({"judge": "gpt", "item": [1, 2, 3], "label": ["y", "n", "y"]}))
    >>> both, name = with_humans(judged, pd.DataFrame({"item": [1, 3], "label": ["y", "n"]}))
    >>> name, both.judges, both.rows
    ('human', ('gpt', 'human'), 5)
    """
    problems = Problems("humans")
    human_table, name = _read_answers(table, humans, levels, problems)
    if name in table.judges:
        problems.table(
            f"{name!r} is a judge of the table, too; leave those rows out of the table, or rename one of them"
        )
    human_table = add_missing_contexts(human_table, table, problems)
    problems.raise_any()
    joined = join_humans(table, human_table)
    _check_units(joined, table.rows, problems)
    return joined, name


def _read_answers(
    table: Table, humans: object, levels: Sequence[object] | None, problems: Problems
) -> tuple[Table, str]:
    kind = type(table).__name__.lower()
    if hasattr(humans, "answer"):
        if not isinstance(humans, type(table)):
            problems.stop(f"they are {type(humans).__name__.lower()} and the table holds {kind}")
        return humans, _name_of_person(humans.judges, problems)
    cells = read_columns(humans, [], ["judge", table.answer], Problems("humans"))
    if table.answer not in cells:
        problems.stop(f"there is no column {table.answer!r}, and the table's answers are {kind}")
    if not len(cells[table.answer]):
        problems.stop("there are no answers")
    people = encode_column(cells["judge"], "judge", problems).levels if "judge" in cells else ()
    problems.raise_any()
    name = _name_of_person(people, problems)
    readers: dict[str, Callable[..., Table]] = {
        "winner": lambda **given: read_votes(humans, **given | ({"judge": None} if people else {})),
        "score": lambda **given: read_scores(humans, **given),
        "label": lambda **given: read_labels(humans, levels=levels, **given),
    }
    return readers[table.answer](name="humans", judge=name), name


def _name_of_person(people: Sequence[str], problems: Problems) -> str:
    if len(people) > 1:
        problems.stop(
            f"column 'judge' names {len(people)} people ({known_names(people)}); keep one of them, or decide "
            "each unit by their majority or mean, and leave the column out"
        )
    return people[0] if people else HUMAN


def add_missing_contexts(humans: Any, table: Any, problems: Problems) -> Any:
    """Give the humans' table the columns by which answers are matched; note missing columns and unlike labels.

    A humans' table without contexts takes them from the judges' table if each item has a single context there.

    Examples
    --------
    >>> import pandas as pd
    >>> one = pd.DataFrame({"judge": "gpt", "context": ["p", "q"], "item": ["x", "y"], "label": ["a", "b"]})
    >>> judged = read_labels(one)
    >>> people = read_labels(pd.DataFrame({"item": ["y"], "label": ["a"]}), judge="human")
    >>> found = add_missing_contexts(people, judged, Problems("humans"))
    >>> found.contexts[found.context[0]]
    'q'
    """
    if has_column(table, "context") and not has_column(humans, "context") and getattr(table, "has_items", False):
        pairs = {*zip(table.item.tolist(), table.context.tolist(), strict=True)}
        codes: dict[str, int] = {table.items[item]: context for item, context in pairs}
        if len(codes) == len(pairs) and getattr(humans, "has_items", False):
            unanswered = len(table.contexts)  # of items that judges have not answered, which is a separate error
            context = np.array([codes.get(humans.items[item], unanswered) for item in humans.item], dtype=np.int64)
            humans = replace(humans, context=context, contexts=(*table.contexts, "none"))
    for column in ("criterion", "phase", "context", "item"):
        check_shared_column(column, has_column(table, column), has_column(humans, column), problems)
    _check_labels(getattr(humans, "labels", ()), getattr(table, "labels", ()), problems)
    return humans


def _check_labels(people: Sequence[str], judges: Sequence[str], problems: Problems) -> None:
    """Note labels of people and judges that differ by capitals or blanks only, and sets of labels without overlap.

    Such answers would all count as disagreements. Sets with a single label are allowed not to overlap.
    """
    spelled = {" ".join(name.casefold().split()): name for name in judges}
    pairs = [(name, spelled.get(" ".join(name.casefold().split()))) for name in people if name not in judges]
    if wrong := [f"people write {name!r} and judges {other!r}" for name, other in pairs if other is not None]:
        problems.table(f"labels differ in spelling alone: {', '.join(wrong)}; write each in one way")
    elif min(len(people), len(judges)) > 1 and not {*people} & {*judges}:
        problems.table(
            f"people's labels {known_names(people)} are none of the judges' {known_names(judges)}; name each in one way"
        )


def matched_columns(humans: Any, table: Any) -> Any:
    """Match columns as `match_columns` does, and raise `InputError` for its problems."""
    problems = Problems("humans")
    matched = add_missing_contexts(humans, table, problems)
    problems.raise_any()
    return matched


def has_column(table: Table, column: str) -> bool:
    """True if a table has a column that identifies its units."""
    attribute_names = {"criterion": "has_criteria", "item": "has_items", "context": "contexts", "phase": "phases"}
    return bool(getattr(table, attribute_names[column], False))


def check_shared_column(column: str, table: bool, humans: bool, problems: Problems) -> None:
    """Note a column that identifies units in only one of the two tables."""
    if table != humans:
        has, lacks = ("the table has", "the humans'") if table else ("the humans' table has", "the judges'")
        problems.table(
            f"{has} a column {column!r} and {lacks} has not, so that answers cannot be matched; give it to both tables"
        )


def join_humans(table: Table, humans: Table) -> Table:
    """Join rows of both tables, without runs and groups; humans need not name systems, the judges' rows do."""
    forgotten: dict[str, Any] = {"run": None, "runs": (), "group": None, "groups": ()}
    plain: list[Any] = []
    for part in (table, humans):
        field_names = {field.name for field in fields(part)}
        plain.append(replace(part, **{name: value for name, value in forgotten.items() if name in field_names}))
    systems: tuple[str, ...] = getattr(table, "systems", ())
    if systems and not humans.systems:  # type: ignore[union-attr]
        plain[1] = replace(plain[1], systems=systems, system=np.full(humans.rows, -1))
    joined: Table = joined_table(*plain)
    return joined


def _check_units(both: Table, judged: int, problems: Problems) -> None:
    """Check that human answers are about units that judges answered, one answer each, and not about all units."""
    key = np.unique(np.column_stack(both.question_codes), axis=0, return_inverse=True)[1]
    answer = both.answers
    judged_keys, human_keys = key[:judged], key[judged:]
    unknown = ~np.isin(human_keys, judged_keys)
    if unknown.any():
        problems.rows(
            np.flatnonzero(unknown) + 1,
            "no judge answered this unit, so it cannot be compared; leave it out, or have judges answer it",
        )
    for _, rows in rows_by_code(human_keys):
        if len(np.unique(answer[judged:][rows])) > 1:
            places = " and ".join(str(row + 1) for row in rows[:8])
            problems.rows(rows[1:] + 1, f"contradicts another answer to the same unit (rows {places}); keep one")
    problems.raise_any()
    answered, units = len(np.unique(human_keys)), len(np.unique(judged_keys))
    if answered == 1:
        problems.table(
            "there is only one unit with an answer, which is not enough to estimate its error; give two or more"
        )
    elif answered == units:
        problems.table(
            f"they answered all {units} units, which leaves nothing to predict; audit(table, humans) (voirdire audit "
            "--humans) measures the agreement with them, or add them to the table as a judge"
        )
    problems.raise_any()
