"""Say why a statistic has no value."""

from __future__ import annotations

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings


def why_undefined(ratings: Ratings, measure: str) -> str:
    """The reason that a measure of these ratings is undefined, as a sentence.

    Parameters
    ----------
    ratings : Ratings
        Of the judges that are compared.
    measure : str
        The measure's name.

    Returns
    -------
    str
        One sentence, starting with "undefined".

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> why_undefined(ratings_from_matrix([["a", None], [None, "a"]], judges=["p", "q"]), "cohen_kappa")
    "undefined: no item was answered by both 'p' and 'q'"
    >>> why_undefined(ratings_from_matrix([["a", "a"], ["a", "a"]]), "cohen_kappa")
    "undefined: every answer is 'a', so nothing could have disagreed"
    """
    if measure.startswith("win_rate"):
        return "undefined: there is no unit that counts: no vote on this item, or only ties"
    rated = ratings.is_rated
    silent = [judge for place, judge in enumerate(ratings.judges) if not rated[:, place].any()]
    if len(silent) == len(ratings.judges):
        return "undefined: nobody answered"
    if len(ratings.judges) == 2:
        if silent:
            return f"undefined: {silent[0]!r} answered nothing here"
        used = rated.all(axis=1)
        if not used.any():
            first, second = ratings.judges
            return f"undefined: no item was answered by both {first!r} and {second!r}"
    else:
        complete = measure.startswith(("icc", "kendall_w", "all_agree", "at_least"))
        complete &= not measure.endswith("_mixed")
        used = rated.all(axis=1) if complete else rated.sum(axis=1) > 1
        if not used.any():
            return f"undefined: no item was answered by {'all' if complete else 'two or more'} judges"
    number = int(used.sum())
    answers = ratings.codes[used]
    given = np.unique(answers[answers >= 0])
    if len(given) == 1:
        level = ratings.levels[given[0]]
        if measure.startswith("gwet"):
            return f"undefined: {level!r} is the only level; declare the levels there could have been"
        return f"undefined: every answer is {level!r}, so nothing could have disagreed"
    if number == 1:
        return "undefined: a single item was answered, and it takes two"
    if len(ratings.judges) == 2:
        for judge, column in zip(ratings.judges, answers.T, strict=True):
            if len(np.unique(column)) == 1:
                return f"undefined: every answer of {judge!r} is {ratings.levels[column[0]]!r}, so it cannot correlate"
    return "undefined: the answers do not vary as the measure needs"
