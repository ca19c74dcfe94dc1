"""Anchors: people's answers to some comparisons, as a table of votes without judges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.people import PEOPLE, UNUSED_NOTE, describe_unknown_anchors, match_contexts
from voirdire.kinds.votes.contexts import split_by_context
from voirdire.model.target_answers import ComparedByPeople
from voirdire.tables.counts import Votes
from voirdire.tables.encode import level_positions
from voirdire.tables.graph import pair_keys
from voirdire.tables.people import PERSON
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among
from voirdire.tables.spreadsheet_escape import unescape_names
from voirdire.tables.votes import read_votes


@dataclass(frozen=True, eq=False)
class Anchors:
    """Human answers in the coding of the panel's votes.

    Attributes
    ----------
    votes : Votes
        The answers, in the panel's coding of items and criteria; the only judge is ``people``.
    overall : bool
        Whether the answers are about items as a whole, although the panel's votes have several criteria.
    notes : tuple of str
        Notes on answers that could not be used, or only in part.
    """

    votes: Votes
    overall: bool
    notes: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of answers."""
        return self.votes.rows


def read_anchors(table: object, panel: Votes) -> Anchors:
    """Read human answers and encode them like a panel's votes.

    Parameters
    ----------
    table : path, dataframe or Anchors
        Columns ``first``, ``second``, ``winner`` and optionally ``criterion``; no column ``judge``.
    panel : Votes
        The votes of the judges.

    Raises
    ------
    InputError
        A fault of the table; a pair with both answers (in one context) and no column ``person``; a criterion that the
        panel does not have; no answer about items of the panel.

    Examples
    --------
    >>> import pandas as pd
    >>> panel = read_votes(pd.DataFrame({"judge": "a", "first": ["x"], "second": ["y"], "winner": ["x"]}))
    >>> read_anchors(pd.DataFrame({"first": ["y"], "second": ["x"], "winner": ["x"]}), panel).votes.counts.tolist()
    [[0, 1, 0]]
    """
    if isinstance(table, Anchors):
        return table
    people = read_votes(table, name="anchors", judge=PEOPLE)
    panel_names = {*panel.items, *panel.criteria}
    items, criteria = unescape_names(people.items, panel_names), unescape_names(people.criteria, panel_names)
    people = replace(people, items=items, criteria=criteria)
    unknown = level_positions(people.items, panel.items) < 0
    item_codes = np.stack([people.first, people.second], axis=1)[people.row_cell]
    unused, notes = np.asarray(unknown[item_codes].any(axis=1)), []
    if message := describe_unknown_anchors(people.items, item_codes, panel.items, "about item", "seen"):
        if unused.all():
            raise InputError(f"anchors: all {message}; name the items as in the votes")
        notes.append(f"{message}: {UNUSED_NOTE}")
    people = people.subset(~unused)
    criteria = panel.criteria if people.has_criteria else people.criteria
    people = read_votes(people, name="anchors", items=panel.items, criteria=criteria)
    # named persons may disagree with each other, and every answer counts
    if not columns_among(table, [PERSON], Problems("anchors")):
        _check_contradictions(people)
    unseen = _count_unseen(people, panel)
    if unseen:
        notes.append(
            f"{unseen} anchors are on pairs that no judge has seen: they inform strengths, but not the reliability of "
            "judges."
        )
    return Anchors(people, len(panel.criteria) > 1 and not people.has_criteria, tuple(notes))


def compared_by_people(anchors: Anchors) -> ComparedByPeople:
    """Make evidence on people's scores of items from the answers, over all criteria and contexts."""
    votes = anchors.votes
    cells, row = np.unique(np.column_stack([votes.first, votes.second]), axis=0, return_inverse=True)
    won, lost, tied = (np.bincount(row.ravel(), votes.counts[:, outcome]) for outcome in range(3))
    first, second = (tuple(votes.items[code] for code in column) for column in cells.T)
    for_first, for_second = (tuple((part + 0.5 * tied).tolist()) for part in (won, lost))
    return ComparedByPeople(first, second, for_first, for_second)


def encode_contexts(anchors: Anchors, panel: Votes) -> Anchors:
    """Encode contexts of human answers like the panel's; answers in contexts that no judge has seen are left out.

    Raises
    ------
    InputError
        No answer is left.
    """
    people = anchors.votes
    if people.row_context is None:
        return anchors
    contexts = unescape_names(people.contexts, set(panel.contexts))
    context, notes = match_contexts(contexts, people.row_context, panel.contexts, "seen", "votes")
    people = people.subset(context >= 0).with_codes(contexts=panel.contexts, row_context=context[context >= 0])
    return replace(anchors, votes=people, notes=(*anchors.notes, *notes))


def _check_contradictions(people: Votes) -> None:
    """Raise if a pair was answered both ways, in one context if there are several."""
    cells = split_by_context(people)
    cell_context = np.zeros(len(cells.first), dtype=np.int64) if cells.context is None else cells.context
    contexts = people.contexts or ("",)
    swap = cells.first > cells.second
    for_low = np.where(swap, cells.counts[:, 1], cells.counts[:, 0])
    for_high = np.where(swap, cells.counts[:, 0], cells.counts[:, 1])
    size = len(people.items)
    keys, row = np.unique(pair_keys(cells, criteria=True) * len(contexts) + cell_context, return_inverse=True)
    contradictory = (np.bincount(row, for_low) > 0) & (np.bincount(row, for_high) > 0)
    problems = []
    for pair, context in zip(*np.divmod(keys[contradictory][:20], len(contexts)), strict=True):
        first, second = people.items[pair // size % size], people.items[pair % size]
        condition = f" under criterion {people.criteria[pair // size**2]!r}" if people.has_criteria else ""
        condition += f" in context {contexts[context]!r}" if cells.context is not None else ""
        problems.append(
            f"anchors: the pair {first!r}, {second!r}{condition} is answered both ways; keep one answer, or say who "
            "answered in a column 'person'"
        )
    if contradictory.sum() > len(problems):
        problems.append(f"anchors: {int(contradictory.sum())} pairs are answered both ways; the first 20 are named")
    if problems:
        raise InputError(problems)


def _count_unseen(people: Votes, panel: Votes) -> int:
    criteria = people.has_criteria and panel.has_criteria
    seen = np.isin(pair_keys(people, criteria=criteria), pair_keys(panel, criteria=criteria))
    return int(people.counts[~seen].sum())
