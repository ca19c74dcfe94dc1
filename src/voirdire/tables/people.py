"""What several people answered, as one table: who said what is kept, and disagreement is not an error.

A column ``person`` says who answered; without one, the name of each file does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.notices import notice
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among, read_columns

if TYPE_CHECKING:
    import pandas as pd

PERSON = "person"


def of_people(answers: object) -> object:
    """Answers of one person or of several, as one table for anchors.

    Comparisons stay as they are: where people disagree, each answer counts. Of several people's labels of one item the
    one that most of them give is known, and none where there is no such label; of their scores the mean.

    Parameters
    ----------
    answers : path or dataframe, or a list of them
        Without a column ``person`` a single table is left alone.

    Raises
    ------
    InputError
        The tables are not of one kind, or a person answers twice.

    Examples
    --------
    >>> import pandas as pd
    >>> one = pd.DataFrame({"person": "ann", "first": ["x"], "second": "y", "winner": "x"})
    >>> of_people([one, one.assign(person="bob", winner="y")])["winner"].tolist()
    ['x', 'y']
    """
    several = isinstance(answers, list | tuple)
    tables: Sequence[Any] = answers if isinstance(answers, list | tuple) else [answers]
    if not several and not (answers is not None and PERSON in _columns(answers)):
        return answers
    import pandas as pd

    frames = [_read(table) for table in tables]
    kinds = {column for frame in frames for column in ("winner", "score", "label") if column in frame}
    if len(kinds) != 1 and not several:
        return answers
    if len(kinds) != 1:
        raise InputError(
            f"anchors: several tables must all have one of winner, score and label; these have {sorted(kinds)}"
        )
    (answer,) = kinds
    whole = pd.concat(frames, ignore_index=True)
    return whole if answer == "winner" else _settled(whole, answer)


def _columns(table: object) -> list[str]:
    if not isinstance(table, str | os.PathLike) and not hasattr(table, "columns"):
        return []
    return columns_among(table, [PERSON], Problems("anchors"))


def _read(table: object) -> pd.DataFrame:
    import pandas as pd

    problems = Problems("anchors")
    frame = pd.DataFrame(read_columns(table, [], None, problems))
    problems.raise_any()
    if PERSON not in frame:
        named = Path(os.fspath(table)).stem if isinstance(table, str | os.PathLike) else ""
        if not named:
            raise InputError("anchors: of several tables each needs a column 'person', or a file's name")
        frame.insert(0, PERSON, named)
    return frame


def _settled(whole: pd.DataFrame, answer: str) -> pd.DataFrame:
    """One answer of each unit: of labels what more than half of the people say, of scores their mean."""
    import pandas as pd

    units = [name for name in ("context", "system", "item", "criterion") if name in whole]
    twice = whole.duplicated([PERSON, *units])
    if twice.any():
        row = whole[twice].iloc[0]
        raise InputError(
            f"anchors: {row[PERSON]!r} answers {', '.join(str(row[name]) for name in units)!r} twice; keep one answer"
        )
    if answer == "score":
        scores = whole.assign(score=pd.to_numeric(whole["score"]))
        means = scores.groupby(units, as_index=False, sort=False, dropna=False)["score"].mean()
        if len(means) < len(whole):
            notice(f"{len(whole)} scores of people are taken as {len(means)} means.")
        return pd.DataFrame(means)
    rows, open_ = [], 0
    for unit, of in whole.groupby(units, sort=False, dropna=False):
        counts = of["label"].value_counts()
        if 2 * counts.iloc[0] > len(of):
            rows.append([*unit, counts.index[0]])
        else:
            open_ += 1
    if open_:
        notice(f"People disagree about {open_} items: their labels are not taken as known.")
    if not rows:
        raise InputError("anchors: people agree about no item; give them as judges of the labels instead")
    return pd.DataFrame(rows, columns=[*units, "label"])
