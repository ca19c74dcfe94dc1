"""The MSLR set's pairwise preferences: which of two summaries of a review is nearer to its target."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Winner by the first letter of an answer: A, B, or "Neither is more accurate (use sparingly)".
WINNERS = {"a": "first", "b": "second", "n": "tie"}


def preference_votes(*paths: Path) -> pd.DataFrame:
    """Preferences of all annotators as a votes table.

    ======== ==============================================================================
    judge    ``annotator-N``, N the number of the annotator's sample in the file's name
    context  ``review_id``
    first    ``sys_a``: the system whose summary stood first; as in ``mslr-cochrane``
    second   ``sys_b``
    winner   ``first``, ``second`` or ``tie`` (neither is more accurate)
    ======== ==============================================================================

    Pairs without an answer are left out.

    Parameters
    ----------
    *paths : Path
        ``sample2 - ... .tsv`` and so on, one an annotator.

    Returns
    -------
    pandas.DataFrame
        Columns judge, context, first, second, winner, in the files' order.

    Raises
    ------
    KeyError
        A file lacks a column, or an answer is none of the three (it is not the registered file).

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sample3 - ann - Sheet1.tsv"
    >>> _ = path.write_text("review_id\\tsys_a\\tsys_b\\tWhich of A or B?\\nCD1\\tX\\tY\\tNeither\\n")
    >>> preference_votes(path).values.tolist()
    [['annotator-3', 'CD1', 'X', 'Y', 'tie']]
    """
    import pandas as pd

    votes = []
    for path in paths:
        found = re.match(r"sample(\d+)", path.name)
        if found is None:
            raise KeyError(f"{path.name} has no number of a sample")
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        (asked,) = {name for row in rows for name in row if name and name.startswith("Which of")}
        for row in rows:
            answer = row[asked].strip().lower()
            if answer:
                pair = (row["review_id"], row["sys_a"], row["sys_b"])
                votes.append((f"annotator-{found[1]}", *pair, WINNERS[answer[0]]))
    return pd.DataFrame(votes, columns=["judge", "context", "first", "second", "winner"])
