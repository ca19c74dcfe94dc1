"""Anchors of rankings: people's rankings of some items, as those of one more judge of a known kind.

People rank items by what they are worth, eta = theta_c,i + u_c,i,x, without a taste; every judge of the panel by
eta + b_c,i + v_k,i. The panel's error b, Normal(0, s_panel) with a learned spread, is what all judges see in an item
beside people: only people's rankings tell it. Scores are in people's log-odds. Of items that people did not rank, b is
known as far as its spread is, so that their intervals are wider by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from voirdire.errors import InputError
from voirdire.kinds.human import criterion_codes, describe_unknown_anchors
from voirdire.kinds.votes.human.table import PEOPLE
from voirdire.tables.encode import level_positions
from voirdire.tables.people import PERSON
from voirdire.tables.problems import Problems
from voirdire.tables.rankings import Rankings, read_rankings


@dataclass(frozen=True, eq=False)
class RankedAnchors:
    """People's rankings, coded by the names of a panel's.

    Attributes
    ----------
    table : Rankings
        In the panel's coding of items and criteria, and of contexts where it has some; its judges are people.
    notes : tuple of str
        Rows that could not be used, in words.
    """

    table: Rankings
    notes: tuple[str, ...] = ()


def read_ranked_anchors(table: object, panel: Rankings) -> RankedAnchors:
    """Read people's rankings and bring them into the coding of a panel's.

    Items that no judge has ranked are left out of a ranking: the order of the others is as probable without them.
    Where the panel has contexts, rows in others are left out, too.

    Parameters
    ----------
    table : path, dataframe or RankedAnchors
        Columns ``item`` and ``rank``; ``person`` (or ``judge``) where several people rank; ``criterion`` where the
        panel's rankings have several; optionally ``context`` and ``run``. A ranking without context is one over
        contexts.

    Raises
    ------
    InputError
        A fault of the table, a criterion that the panel does not have, several criteria and no column that says which
        is meant, no two items of a ranking that the panel has ranked.

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
    if isinstance(table, RankedAnchors):
        return table
    people = _read_people(table)
    problems = Problems("anchors")
    criterion = criterion_codes(people, panel, problems)
    item = level_positions(people.items, panel.items)[people.item]
    kept, said = (
        item >= 0,
        describe_unknown_anchors(people.items, people.item, panel.items, "about item", "ranked"),
    )
    notes = [f"{said}: they say nothing about this panel and are not used."] if said else []
    coding: dict[str, Any] = {
        "criteria": panel.criteria,
        "items": panel.items,
        "has_criteria": panel.has_criteria,
    }
    if people.context is not None and panel.context is not None:
        context = level_positions(people.contexts, panel.contexts)[people.context]
        unseen = describe_unknown_anchors(
            people.contexts, people.context, panel.contexts, "in context", "ranked in"
        )
        notes += (
            [f"{unseen}: what items are worth there is not known, and they are not used."] if unseen else []
        )
        coding |= {"contexts": panel.contexts, "context": context}
        kept &= context >= 0
    problems.raise_any()
    coded = replace(people, criterion=criterion[people.criterion], item=item, **coding).subset(kept)
    if not coded.rows or not coded.has_comparisons:
        why = "; ".join(notes) or "each is of a single item"
        raise InputError(f"anchors: no ranking has two items that judges have ranked ({why})")
    return RankedAnchors(coded, tuple(notes))


def _read_people(table: object) -> Rankings:
    """People's rankings; who ranked is a person, or nobody in particular."""
    if isinstance(table, Rankings):
        return table
    import pandas as pd

    # a file with people's names has been read
    if isinstance(table, pd.DataFrame) and PERSON in table:
        return read_rankings(table.rename(columns={PERSON: "judge"}), name="anchors")
    return read_rankings(table, name="anchors", judge=PEOPLE)
