"""Terms that a table of scores supports and the model of a fit omits, where intervals are too narrow without them."""

from __future__ import annotations

from voirdire.kinds.scores.contexts import count_recurring_contexts
from voirdire.kinds.scores.halo import why_no_continuous_halo, why_no_halo
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.check import Check


def missing_terms_check(problem: ScoresProblem) -> list[Check]:
    """A warning for the terms that are left out, if any.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, item, context, 1 + (item == "x")) for judge in "ab" for item in "xyz" for context in "12"]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "context", "score"])
    >>> (check,) = missing_terms_check(voirdire.fit(table, model="rating-severity", method="map").problem)
    >>> check.message.partition(":")[0]
    'Items recur in 2 contexts, which the model does not tell apart'
    """
    found = []
    contexts = 0 if problem.density.contexts else count_recurring_contexts(problem.table)
    if contexts:
        found.append(
            f"Items recur in {contexts} contexts, which the model does not tell apart: intervals hold for these "
            "contexts, and are too narrow for others. Call the column item system (--map system=item): systems are "
            "then compared over contexts like these."
        )
    without = why_no_continuous_halo if problem.in_points else why_no_halo
    if problem.anchors is not None and problem.model.taste is None and without(problem.table) is None:
        found.append(
            "Beside human scores the judges' tastes for items (halo) are left out: a judge that scores an item under "
            "several criteria counts as several, and intervals are too narrow. Fit without human scores, too, and "
            "trust the wider intervals."
        )
    return [Check("missing-terms", "warn", float(len(found)), " ".join(found))] if found else []
