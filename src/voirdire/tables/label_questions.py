"""Conversion of sets of labels to yes/no questions: whether each label applies to an item.

Each label becomes a criterion with the answers ``no`` and ``yes``. Labels of the vocabulary that an answer does not
name do not apply.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.tables.encode import level_positions
from voirdire.tables.labels import Labels, read_labels

NO_YES = ("no", "yes")


def labels_to_questions(table: Labels, vocabulary: tuple[str, ...]) -> Labels:
    """Convert sets of labels to yes/no answers, one for each label of a vocabulary.

    Parameters
    ----------
    table : Labels
        Sets of labels; a cell with one label is a set with one member.
    vocabulary : tuple of str
        All labels.

    Returns
    -------
    Labels
        Labels ``no`` and ``yes``, one row per row of the table and label of the vocabulary. The criteria are the
        labels; for a table with criteria they are ``criterion: label``.

    Raises
    ------
    InputError
        Two pairs of criterion and label have the same name.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"judge": ["a", "b"], "item": "x", "label": [["long", "rude"], []]}
    >>> table = read_labels(pd.DataFrame(rows), sets=True)
    >>> asked = labels_to_questions(table, table.vocabulary)
    >>> asked.criteria, asked.answers.tolist()
    (('long', 'rude'), ['yes', 'yes', 'no', 'no'])
    """
    label_sets = table.members or tuple((label,) for label in table.labels)
    holds = np.array([[word in members for word in vocabulary] for members in label_sets], np.int64)
    size = len(vocabulary)
    question_names = [
        f"{criterion}: {label}" if table.has_criteria else label for criterion in table.criteria for label in vocabulary
    ]
    criteria = tuple(sorted(set(question_names)))
    if len(criteria) < len(question_names):
        raise InputError(f"labels: criteria and labels make one name twice ({', '.join(criteria)}); rename one")
    codes: dict[str, Any] = {
        field.name: np.repeat(value, size)
        for field in fields(table)
        if isinstance(value := getattr(table, field.name), np.ndarray)
    }
    question = codes["criterion"] * size + np.tile(np.arange(size), table.rows)
    return replace(
        table,
        **codes
        | {
            "criteria": criteria,
            "criterion": level_positions(question_names, criteria)[question],
            "has_criteria": True,
            "labels": NO_YES,
            "label": holds[table.label].ravel(),
            "declared": True,
            "members": None,
            "vocabulary": vocabulary,
        },
    )


def as_questions(table: Labels) -> Labels:
    """Convert a table of sets of labels to yes/no questions, with a notice; return other tables unchanged.

    Examples
    --------
    >>> import pandas as pd
    >>> table = read_labels(pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["long", "rude"]}))
    >>> as_questions(table) is table
    True
    """
    if table.members is None:
        return table
    give_notice(
        f"Items have sets of labels: whether each of the {len(table.vocabulary)} labels applies is a question of its "
        "own (criterion), answered yes or no. Labels are taken as independent given the judges, and judges as "
        "equally good at each label."
    )
    return labels_to_questions(table, table.vocabulary)


def read_labels_like(old: Labels, table: object, *, name: str = "labels", judge: str | None = None) -> Labels:
    """Read labels like those of an older table: with its labels, and as its yes/no questions where it has sets.

    Parameters
    ----------
    old : Labels
        The older table.
    table, name, judge
        As in :func:`.read_labels`.

    Raises
    ------
    InputError
        With every problem of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": [["long", "rude"], []]})
    >>> sets = read_labels(table, sets=True)
    >>> old = labels_to_questions(sets, sets.vocabulary)
    >>> read_labels_like(old, pd.DataFrame({"item": ["x"], "label": "rude"}), judge="people").answers.tolist()
    ['no', 'yes']
    """
    if not old.vocabulary:
        return read_labels(table, name=name, levels=old.labels, judge=judge)
    return labels_to_questions(
        read_labels(table, name=name, levels=old.vocabulary, judge=judge, sets=True), old.vocabulary
    )
