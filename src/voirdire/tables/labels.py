"""Labels: classes that judges assign to items."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voirdire.notices import give_notice
from voirdire.settings import read_list
from voirdire.tables import label_sets
from voirdire.tables.encode import encode_column, level_positions, lookalike_sentence, report_lookalikes, rows_by_code
from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.ratings import Rated, known_names, read_rated
from voirdire.typing import Ints

#: Number of distinct labels; more are probably names or texts, not classes.
MAX_CLASSES = 30
_MAX_HINTS = 20
_LEVELS_REMEDY = "; levels= (--levels) names labels that no judge gave"


@dataclass(frozen=True, eq=False, kw_only=True)
class Labels(Rated):
    """A table of labels as codes.

    Attributes
    ----------
    labels : tuple of str
        The labels: in the declared order, else sorted (numbers by value). Other names and codes are those of `Rated`.
    label : int64 array, shape (rows,)
        Index into `labels`.
    declared : bool
        Whether the labels and their order were declared.
    members : tuple of tuple of str, or None
        Members of each label, where labels are sets (:mod:`.label_sets`); else None.
    vocabulary : tuple of str
        All possible members, where labels are sets or answers to yes/no questions about members
        (:mod:`.label_questions`); else empty.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["yes", "no"]})
    >>> read_labels(table, levels=["no", "unsure", "yes"]).label.tolist()
    [2, 0]
    """

    answer: ClassVar[str] = "label"
    data: ClassVar[str] = "labels"
    has_levels: ClassVar[bool] = True

    labels: tuple[str, ...]
    label: Ints
    declared: bool = False
    members: tuple[tuple[str, ...], ...] | None = None
    vocabulary: tuple[str, ...] = ()

    @property
    def answers(self) -> NDArray[Any]:
        """The label of each row, by name."""
        return np.array(self.labels)[self.label]

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """As in :class:`AnswerTable`."""
        return super().names | {"labels": self.labels if self.members is None else self.vocabulary}

    def joined_answers(self, new: Labels) -> dict[str, Any]:
        """Labels of this table followed by those of another; names are the declared labels, else those of both."""
        all_labels = tuple(sorted({*self.labels, *new.labels}))
        labels = self.labels if self.declared else sort_labels(all_labels)
        codes = [level_positions(table.labels, labels)[table.label] for table in (self, new)]
        return {
            "labels": labels,
            "label": np.concatenate(codes),
            "declared": self.declared,
            "members": None if self.members is None else tuple(map(label_sets.set_members, labels)),
            "vocabulary": tuple(dict.fromkeys([*self.vocabulary, *new.vocabulary])),
        }


def read_labels(
    table: object,
    *,
    name: str = "labels",
    levels: Iterable[object] | None = None,
    judge: str | None = None,
    sets: bool = False,
    keep: Sequence[str] = (),
) -> Labels:
    """Read and check a table of labels, one row per answer.

    Columns: ``judge``, ``label``, and ``item`` or both ``context`` and ``system``; optionally ``criterion``,
    ``context``, ``system``, ``run`` and ``phase``. Other columns are ignored.

    Parameters
    ----------
    table : path, dataframe or Labels
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file; any dataframe that narwhals knows; labels
        that have been read are returned unchanged, or recoded if levels are given.
    name : str
        Name of the table in messages.
    levels : iterable, optional
        All possible labels, lowest first where they have an order; any other label is a problem.
    judge : str, optional
        The judge of a table, such as one of anchors, whose column ``judge`` is absent or is not to be read.
    sets : bool
        Whether every cell is a set of labels. By default cells are read as sets, with a notice, if one of them is an
        empty list or a list of several labels.
    keep : sequence of str
        Further columns to keep unchanged (``Labels.further.columns``), if present.

    Returns
    -------
    Labels
        Codes.

    Raises
    ------
    InputError
        With every problem of the table, each with its rows, the value and the remedy. Nothing is dropped or
        filled in.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["a"], "item": ["x"], "label": ["Yes"]})
    >>> read_labels(table, levels=["no", "yes"])
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: labels: row 1: label 'Yes' is none of 'no', 'yes'; did you mean 'yes'?
    """
    problems = Problems(name)
    declared = None if levels is None else _declared_levels(levels, problems)
    if isinstance(table, Labels):
        if declared is None:
            return table
        if table.members is not None:
            if unknown := [label for label in table.vocabulary if label not in declared]:
                problems.table(f"label {unknown[0]!r} is none of {known_names(declared)}")
            problems.raise_any()
            return replace(table, vocabulary=declared)
        rated_fields = {field.name: getattr(table, field.name) for field in fields(Rated)}
        names, codes = table.labels, table.label
    else:
        cells, rated_fields = read_rated(table, "label", judge, problems, keep=keep)
        as_sets = label_sets.cells_as_sets(cells.get("label", []), declared, sets)
        if as_sets is not None:
            remedy = _LEVELS_REMEDY if judge else ""
            return _read_sets(*as_sets, rated_fields, declared, sets, problems, remedy)
        column = encode_column(label_sets.unwrap_label_lists(cells.get("label", [])), "label", problems)
        report_lookalikes({"label": column}, problems)
        names_several = [
            name not in (declared or ()) and len(label_sets.labels_in_text(name)) > 1 for name in column.levels
        ]
        for level, rows in rows_by_code(np.where(np.append(names_several, False)[column.codes], column.codes, -1)):
            problems.rows(rows + 1, f"label {label_sets.several_labels_message(column.levels[level])}")
        names, codes = column.levels, column.codes
    ordered = sort_labels(names) if declared is None else declared
    positions = level_positions(names, ordered)
    outside = np.append(np.where(positions < 0, np.arange(len(positions)), -1), -1)[codes]
    _report_undeclared(outside, names, ordered, problems, _LEVELS_REMEDY if judge else "")
    problems.raise_any()
    return Labels(labels=ordered, label=np.append(positions, -1)[codes], declared=declared is not None, **rated_fields)


def _report_undeclared(
    outside: Ints, names: Sequence[str], declared: Sequence[str], problems: Problems, remedy: str
) -> None:
    """Report rows of undeclared labels (codes of shape (rows,), -1: no problem); ``remedy`` if no label is similar."""
    for number, (level, rows) in enumerate(rows_by_code(outside)):
        hint = nearest_name(names[level], declared) if number < _MAX_HINTS else ""
        problems.rows(rows + 1, f"label {names[level]!r} is none of {known_names(declared)}{hint or remedy}")


def _read_sets(
    cells: Sequence[object],
    lists: int,
    rated_fields: dict[str, Any],
    declared: tuple[str, ...] | None,
    declared_sets: bool,
    problems: Problems,
    remedy: str,
) -> Labels:
    """Build a table of sets of labels; the vocabulary is the declared one, else all members of the sets."""
    column = encode_column(cells, "label", problems)
    names = tuple(sorted(column.levels))
    members = tuple(map(label_sets.set_members, names))
    codes = np.append(level_positions(column.levels, names), -1)[column.codes]
    present = sort_labels(tuple({label for label_set in members for label in label_set}))
    vocabulary = present if declared is None else declared
    spelling: dict[str, str] = {}
    for index, label in enumerate(present):
        holds = np.append([label in label_set for label_set in members], False)[codes]
        first_spelling = spelling.setdefault(unicodedata.normalize("NFC", label), label)
        if first_spelling != label:
            problems.rows(np.flatnonzero(holds) + 1, f"label {label!r} {lookalike_sentence('label', first_spelling)}")
        if label not in vocabulary:
            _report_undeclared(np.where(holds, index, -1), present, vocabulary, problems, remedy)
    problems.raise_any()
    if not vocabulary:
        problems.stop("every set of labels is empty; name all labels there may be (levels=..., --levels)")
    if not declared_sets:
        give_notice(
            f"{lists:,} of {len(codes):,} cells of labels are lists: each cell is read as the set of the labels that "
            "apply, an empty list as none of them."
        )
    return Labels(labels=names, label=codes, members=members, vocabulary=vocabulary, **rated_fields)


def sort_labels(names: tuple[str, ...]) -> tuple[str, ...]:
    """Sort labels by value if all are numbers, so that 10 comes after 9; else alphabetically.

    Examples
    --------
    >>> sort_labels(("10", "9")), sort_labels(("b", "10", "a"))
    (('9', '10'), ('10', 'a', 'b'))
    """
    try:
        return tuple(sorted(names, key=read_number))
    except ValueError:
        return tuple(sorted(names))


def _declared_levels(levels: Iterable[object], problems: Problems) -> tuple[str, ...]:
    values = list(read_list("levels", levels))
    column = encode_column(values, "level", Problems("levels"))
    names = tuple(column.levels[code] for code in column.codes if code >= 0)
    if len(names) < len(values):
        problems.table(f"levels {values!r} are not all names")
    if len(set(names)) < len(names):
        problems.table(f"levels {known_names(names)} name one label twice")
    if len(names) < 2:
        problems.table(f"levels {known_names(names)} are fewer than two; name all labels there may be")
    return tuple(dict.fromkeys(names))
