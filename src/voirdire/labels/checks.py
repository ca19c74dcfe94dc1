"""What may be wrong with a fit of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.checks import Check, listed, mirror
from voirdire.labels.problem import LabelsProblem
from voirdire.posterior import Posterior


def all_checks(
    problem: LabelsProblem,
    posterior: Posterior,
    judge_summary: dict[str, Any],
    found: list[Check],
    seed: int = 0,
) -> list[Check]:
    """Checks that every fit of labels makes, after those of its method."""
    from voirdire.labels.dependence import dependent_judges
    from voirdire.labels.influence import influence

    own = [*constant(problem), *unseen(problem), *dependent_judges(problem, posterior, seed)]
    own += influence(problem, posterior)
    if posterior.values is not None:
        own += below_chance(problem, judge_summary)
    return [*found, *own]


def constant(problem: LabelsProblem) -> list[Check]:
    """Judges that gave one label to everything."""
    table = problem.table
    size = len(table.labels)
    cells = np.bincount(table.judge * size + table.label, minlength=len(table.judges) * size)
    counts = cells.reshape(-1, size)
    at = np.flatnonzero((counts > 0).sum(axis=1) == 1)
    names = [table.judges[index] for index in at if counts[index].sum() > 1]
    if not names:
        return [Check("constant-judges", "ok", 0.0, "No judge gives the same label to everything.")]
    message = (
        f"{listed(names)} giving one label to everything: such answers say nothing about the items, and what the "
        "judge would say of the other classes is the prior's word."
    )
    return [Check("constant-judges", "warn", float(len(names)), message)]


def unseen(problem: LabelsProblem) -> list[Check]:
    """Classes that no judge ever named."""
    table = problem.table
    used = {table.labels[code] for code in np.unique(table.label)}
    names = [name for name in problem.labels[: problem.classes] if name not in used]
    if not names:
        return []
    message = (
        f"{listed(names)} never given as a label: whether an item is of such a class is the prior's word. Leave the "
        "class out (classes=...)."
    )
    return [Check("unseen-classes", "warn", float(len(names)), message)]


def below_chance(problem: LabelsProblem, summary: dict[str, Any]) -> list[Check]:
    """Judges whose balanced accuracy is below that of guessing with the interval's probability."""
    high = np.asarray(summary["reliability_high"], dtype=float)
    if np.isnan(high).all():
        return []
    names = [problem.judges[index] for index in np.flatnonzero(high < 1.0 / len(problem.labels))]
    if not names:
        return [Check("below-chance", "ok", 0.0, "No judge is clearly worse than chance.")]
    message = (
        f"{listed(names)} clearly worse than chance: their labels are used as evidence for other classes. Look at "
        "their prompts and answers."
    )
    return [Check("below-chance", "warn", float(len(names)), message)]


def renaming(mass: float, at_mode: bool = False) -> Check:
    """How much posterior mass other namings of the classes have.

    Examples
    --------
    >>> renaming(0.2).level
    'warn'
    """
    level = mirror(mass).level
    where = " (at the mode alone)" if at_mode else ""
    message = f"{mass:.2g} posterior probability{where} that classes bear each other's names."
    if level != "ok":
        message += (
            " The labels cannot settle it, only the prior (judges better than chance) does; pass items of known class "
            "(anchors=...)."
        )
    return Check("mirror", level, mass, message)
