"""Anchors of rankings: people's rankings of some items, as those of a further judge without error and taste.

People rank items by strength, eta = theta_c,i + u_c,i,x, without a taste; judges of the panel rank by
eta + b_c,i + v_k,i. The panel's error b, Normal(0, s_panel) with a learned spread, is common to all judges, and only
people's rankings identify it. Scores are in people's log-odds. For items that people did not rank, only the spread of b
is known, and their intervals are wider.
"""

from __future__ import annotations

from dataclasses import replace

from voirdire.errors import InputError
from voirdire.kinds.people import PEOPLE, UNUSED_NOTE, PeopleTable, match_contexts, match_items
from voirdire.tables.people import PERSON
from voirdire.tables.problems import Problems
from voirdire.tables.rankings import Rankings, read_rankings


def read_ranked_anchors(table: object, panel: Rankings) -> PeopleTable[Rankings]:
    """Read people's rankings and encode them like a panel's.

    Items that no judge has ranked are left out of a ranking: the probability of the order of the others is the same
    without them. If the panel has contexts, rows in unknown contexts are left out, too.

    Parameters
    ----------
    table : path, dataframe or PeopleTable
        Columns ``item`` and ``rank``; ``person`` (or ``judge``) if several people rank; ``criterion`` if the panel's
        rankings have several; optionally ``context`` and ``run``. A ranking without context is about all contexts.

    Raises
    ------
    InputError
        A fault of the table, a criterion that the panel does not have, no column ``criterion`` although the panel has
        several, or no ranking with two items that the panel has ranked.

    Examples
    --------
    >>> import pandas as pd
    >>> panel = read_rankings(pd.DataFrame({"judge": "a", "item": ["x", "y"], "rank": [1, 2]}))
    >>> found = read_ranked_anchors(pd.DataFrame({"item": ["y", "z", "x"], "rank": [1, 2, 3]}), panel)
    >>> found.table.item.tolist(), found.table.judges
    ([1, 0], ('people',))
    >>> found.notes[0][:50]
    '1 anchor is about an item that no judge has ranked'
    """
    if isinstance(table, PeopleTable):
        return table
    people, problems = _read_people(table), Problems("anchors")
    coded, message = match_items(people, panel, problems, "ranked")
    notes = [f"{message}: {UNUSED_NOTE}"] if message else []
    kept = coded.item >= 0
    if people.context is not None and panel.context is not None:
        context, context_notes = match_contexts(
            people.contexts, people.context, panel.contexts, "ranked in", "rankings"
        )
        coded, notes = replace(coded, contexts=panel.contexts, context=context), notes + context_notes
        kept &= context >= 0
    problems.raise_any()
    coded = coded.subset(kept)
    if not coded.rows or not coded.has_comparisons:
        reason = "; ".join(notes) or "each is of a single item"
        raise InputError(f"anchors: no ranking has two items that judges have ranked ({reason})")
    return PeopleTable(coded, tuple(notes))


def _read_people(table: object) -> Rankings:
    """Read people's rankings, with persons as judges, or one judge ``people`` if none are named."""
    if isinstance(table, Rankings):
        return table
    import pandas as pd

    # files with a column of persons have been read as data frames
    if isinstance(table, pd.DataFrame) and PERSON in table:
        return read_rankings(table.rename(columns={PERSON: "judge"}), name="anchors")
    return read_rankings(table, name="anchors", judge=PEOPLE)
