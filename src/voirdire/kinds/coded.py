"""People's answers (anchors) in the coding of a panel's: criteria, and what no judge has seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.tables.encode import level_positions
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.rated import Rated, known_names
from voirdire.typing import Ints

_NAMED = 5  # names listed in a message before it only counts


def criterion_codes(people: Rated, panel: Rated, problems: Problems) -> Ints:
    """The panel's code of each criterion of the anchors; -1 where it has none, which is reported."""
    if not people.has_criteria:
        if len(panel.criteria) > 1:
            problems.table(
                f"the {panel.data} have criteria {known_names(panel.criteria)}; give a column 'criterion' that says "
                "which each anchor is about"
            )
        return np.zeros(1, dtype=np.int64)
    found = level_positions(people.criteria, panel.criteria)
    for code in np.flatnonzero(found < 0):
        name = people.criteria[code]
        rows = np.flatnonzero(people.criterion == code) + 1
        if not panel.has_criteria:
            problems.rows(
                rows, f"the {panel.data} have no column 'criterion', so none is {name!r}; leave it out"
            )
        else:
            hint = nearest_name(name, panel.criteria) or f"; known are {known_names(panel.criteria)}"
            problems.rows(rows, f"the {panel.data} have no criterion {name!r}{hint}")
    return found


def describe_unknown_anchors(
    names: Sequence[str], code: Ints, known: Sequence[str], where: str, answered: str = "scored"
) -> str:
    """Anchors of which the judges have scored nothing, in words; "" where there are none.

    Parameters
    ----------
    names : sequence of str
        Of items, or of contexts.
    code : int array, shape (anchors,)
        Which each anchor has.
    known : sequence of str
        Those of the judges' answers.
    where : str
        "about item", or "in context".
    answered : str
        What judges did with items.
    """
    strange = [number for number, name in enumerate(names) if name not in set(known)]
    if not strange:
        return ""
    rows = int(np.isin(code, strange).sum())
    shown = ", ".join(repr(names[number]) for number in strange[:_NAMED])
    more = f" and {len(strange) - _NAMED} more" if len(strange) > _NAMED else ""
    preposition, _, what = where.partition(" ")
    article = "an" if what[0] in "aeiou" else "a"
    are = f"1 anchor is {preposition} {article} {what}" if rows == 1 else f"{rows} anchors are {where}s"
    return f"{are} that no judge has {answered} ({shown}{more}{nearest_name(names[strange[0]], known)})"
