"""Trust checks of every kind of answer: judges that depend on each other, judges that decide what is first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from voirdire.infer.posterior import Posterior, scores
from voirdire.model.check import Check
from voirdire.model.problem import Problem
from voirdire.trust.dependence import dependence, most_alike
from voirdire.trust.influence import top_changers
from voirdire.trust.residuals import Residuals
from voirdire.trust.shared_errors import SharedErrors

ALPHA = 0.01  # of the tests of one check together
CLEAR = 0.9  # probability from which a lead counts as clear
SHOWN = 3


def dependent_judges(
    problem: Problem,
    left: Residuals | SharedErrors,
    seed: int,
    chosen: str | None = None,
    remedy: Callable[[], str] = lambda: "Drop copies",
) -> list[Check]:
    """Check whether judges agree more than independent ones would, and estimate how many the panel is worth.

    Parameters
    ----------
    chosen : str, optional
        The method that answers pairs from anchors.
    remedy : callable
        What to do about a panel that is not to be trusted, in words.
    """
    count = len(left.judges)
    if count < 2:
        return []
    found = dependence(left, np.random.default_rng(seed))
    alike = most_alike(found, ALPHA)
    worth = (
        f"{count} judges, worth about {found.size:.0f} independent ones (90% interval {found.low:.0f} to "
        f"{found.high:.0f})"
    )
    if not alike:
        return [Check("dependence", "ok", found.size, f"{worth}: none agree more than the model expects.")]
    names = [
        f"{problem.judges[left.judges[i]]} and {problem.judges[left.judges[j]]}" for i, j in alike[:SHOWN]
    ]
    more = f" and {len(alike) - SHOWN} more pairs" if len(alike) > SHOWN else ""
    message = f"{worth}: {'; '.join(names)}{more} agree far more than the model expects of independent judges"
    if chosen is not None and chosen not in ("joint", "cut"):
        message += f". The pairs do not rest on their consensus but on the anchors ({chosen}); strengths and ranks do."
        return [Check("dependence", "warn", found.size, message)]
    if found.high < 0.5 * count:
        message += (
            ". Their shared mistakes count as evidence many times over: this ranking and its intervals must not be "
            f"trusted as they are. {remedy()}; name families of judges (families=...)."
        )
        return [Check("dependence", "fail", found.size, message)]
    message += (
        ". Their agreement counts more than it should: name families (families=...) or drop copies, and get human "
        "answers where much hangs on it."
    )
    return [Check("dependence", "warn", found.size, message)]


def influence(problem: Problem, posterior: Posterior) -> list[Check]:
    """Judges without whom another item would be first."""
    if posterior.draws is None or len(problem.judges) < 2:
        return []
    changed = top_changers(problem, posterior)
    if not changed:
        return [Check("influence", "ok", 0.0, "No single judge decides which item is first.")]
    said = [f"without {judge} it is {item}" for judge, item in changed[:SHOWN]]
    more = f" (and {len(changed) - SHOWN} more judges)" if len(changed) > SHOWN else ""
    if not any(_clearly_first(problem, posterior, item) for _, item in changed):
        message = f"Which item is ranked first changes with single judges: {'; '.join(said)}{more}."
        return [Check("influence", "ok", float(len(changed)), message)]
    message = (
        f"Which item is ranked first hangs on single judges: {'; '.join(said)}{more}. "
        "Ask more judges about the best items."
    )
    return [Check("influence", "warn", float(len(changed)), message)]


def _clearly_first(problem: Problem, posterior: Posterior, rival: str) -> bool:
    """True if the first item is better than a rival with high posterior probability."""
    assert posterior.values is not None
    draws = scores(problem.density, posterior.values)
    first = int(np.argmax(scores(problem.density, posterior.central_values)))
    return bool((draws[:, first] > draws[:, problem.items.index(rival)]).mean() > CLEAR)
