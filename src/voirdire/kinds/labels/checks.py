"""Checks of a fit of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.checks import below_chance, constant_judges
from voirdire.kinds.labels.dependence import dependent_judges
from voirdire.kinds.labels.influence import influence
from voirdire.kinds.labels.over_time import over_time
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.system_influence import influence_on_systems
from voirdire.kinds.labels.ties import ties
from voirdire.model.check import Check, listed, worst
from voirdire.trust.drift import drift

CONSTANT = "and what the judge would say of the other classes is set by the prior."
TURNED = "labels are used as evidence for other classes. Look at their prompts and answers."


def all_checks(
    problem: LabelsProblem,
    posterior: Posterior,
    judges: dict[str, Any],
    found: list[Check],
    seed: int = 0,
    chosen: str | None = None,
) -> list[Check]:
    """Checks that every fit of labels makes, after those of its method."""
    table = problem.table
    own = constant_judges(table.judges, table.judge, table.label, "label", CONSTANT)
    own += [*unseen(problem), *ties(problem), *dependent_judges(problem, posterior, seed)]
    own += _influences(problem, posterior, seed)
    if posterior.values is not None:
        own += below_chance(problem, judges, 1.0 / len(problem.labels), TURNED)
    own += drift(over_time(problem, posterior), seed=seed)
    return [*found, *own]


def _influences(problem: LabelsProblem, posterior: Posterior, seed: int) -> list[Check]:
    """Judges on whom the first system, and the classes of many items, hang; in one check where both are known."""
    found = [*influence_on_systems(problem, posterior), *influence(problem, posterior, seed)]
    if len(found) < 2:
        return found
    of_systems, of_classes = found
    return [Check("influence", worst(found), of_systems.value, f"{of_systems.message} {of_classes.message}")]


def unseen(problem: LabelsProblem) -> list[Check]:
    """Classes that no judge ever named."""
    table = problem.table
    used = {table.labels[code] for code in np.unique(table.label)}
    names = [name for name in problem.labels[: problem.classes] if name not in used]
    if not names:
        return []
    message = (
        f"{listed(names)} never given as a label: whether an item is of such a class is set by the prior. Leave the "
        "class out (classes=...)."
    )
    return [Check("unseen-classes", "warn", float(len(names)), message)]
