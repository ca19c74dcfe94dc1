"""Anchors of scores: people's scores of some items, as a table of scores without judges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.kinds.people import PEOPLE, UNUSED_NOTE, PeopleTable, match_contexts, match_items
from voirdire.kinds.scores.scale import Scale, continuous_scale, ordinal_scale
from voirdire.model.target_answers import ScoredByPeople
from voirdire.notices import listen_for_notes
from voirdire.tables.problems import Problems
from voirdire.tables.scores import Scores, read_scores
from voirdire.typing import Bools


def recode_contexts(people: PeopleTable[Scores], panel: Scores) -> PeopleTable[Scores]:
    """Recode contexts in the panel's coding; scores in contexts that no judge has seen are left out.

    Raises
    ------
    InputError
        No score is left.
    """
    scores = people.table
    if scores.context is None or scores.contexts == panel.contexts:
        return people
    context, notes = match_contexts(scores.contexts, scores.context, panel.contexts, "scored", "scores")
    table = replace(scores, contexts=panel.contexts, context=context)
    return PeopleTable(table.subset(context >= 0), (*people.notes, *notes))


def items_scored_by_people(panel: Scores, anchors: object) -> Bools:
    """Mark the items of a panel that people scored, shape (items,).

    Parameters
    ----------
    panel : Scores
    anchors : path, dataframe, PeopleTable or None
        Human scores, as for :func:`read_scored_anchors`.
    """
    if anchors is None:
        return np.zeros(len(panel.items), dtype=bool)
    with listen_for_notes(lambda note: None):  # notes are given when the scores are read for the fit
        people = (
            anchors.table if isinstance(anchors, PeopleTable) else read_scores(anchors, name="anchors", judge=PEOPLE)
        )
    return np.isin(np.array(panel.items), people.items)


def read_scored_anchors(
    table: object, panel: Scores, scale: Scale, *, ordinal: bool, declared: bool = True
) -> PeopleTable[Scores]:
    """Read human scores and bring them into the coding of a panel's scores.

    Several scores of one item under one criterion are those of several people, and each counts.

    Parameters
    ----------
    table : path, dataframe or PeopleTable
        Columns ``score``, and ``item`` or both ``context`` and ``system``; ``criterion`` where the panel's scores have
        several; no column ``judge``. In models with contexts, a score with a ``context`` is of the item in it, and a
        score without one is of the item over contexts.
    panel : Scores
        The scores of the judges.
    scale : Scale
        The scale of the judges' scores.
    ordinal : bool
        True if only the scale's levels may be scores; else any number between its ends.
    declared : bool
        True if the user named the scale; else it is the range of the judges' scores.

    Raises
    ------
    InputError
        A fault of the table, a score outside the scale, a criterion unknown to the panel, several criteria without a
        column ``criterion``, no score of an item of the panel; all faults at once.

    Examples
    --------
    >>> import pandas as pd
    >>> panel = read_scores(pd.DataFrame({"judge": "a", "item": ["x", "y"], "score": [1, 3]}))
    >>> people = pd.DataFrame({"item": ["y", "z"], "score": [2, 2]})
    >>> found = read_scored_anchors(people, panel, Scale((1.0, 2.0, 3.0)), ordinal=True)
    >>> found.table.item.tolist(), found.count
    ([1], 1)
    >>> found.notes[0][:50]
    '1 anchor is about an item that no judge has scored'
    """
    if isinstance(table, PeopleTable):
        return table
    people = read_scores(table, name="anchors", judge=PEOPLE)
    problems = Problems("anchors")
    (ordinal_scale if ordinal else continuous_scale)(people.score, scale.levels, problems)
    if problems and not declared:
        problems.table(
            f"the scale is {', '.join(scale.names)} by the judges' scores alone; name all its levels "
            "(levels=..., --levels)"
        )
    return _match_people(people, panel, problems)


def scored_by_people(table: object, panel: Scores) -> tuple[ScoredByPeople, tuple[str, ...]]:
    """Human scores on any scale, centred per criterion, as evidence on people's strengths of items; and notes.

    Raises
    ------
    InputError
        As :func:`read_scored_anchors`, except for scores outside the scale.
    """
    matched = _match_people(read_scores(table, name="anchors", judge=PEOPLE), panel, Problems("anchors"))
    people = matched.table
    count = np.maximum(np.bincount(people.criterion, minlength=len(people.criteria)), 1)
    mean = np.bincount(people.criterion, people.score, minlength=len(people.criteria)) / count
    score = people.score - mean[people.criterion]
    item = tuple(people.items[code] for code in people.item)
    return ScoredByPeople(item, tuple(score.tolist())), matched.notes


def _match_people(people: Scores, panel: Scores, problems: Problems) -> PeopleTable[Scores]:
    """People's scores in the coding of the panel's scores."""
    coded, message = match_items(people, panel, problems, "scored")
    kept = coded.item >= 0
    if not kept.any():
        problems.table(f"all {message}; name the items as in the scores")
    problems.raise_any()
    return PeopleTable(coded.subset(kept), (f"{message}: {UNUSED_NOTE}",) if message else ())
