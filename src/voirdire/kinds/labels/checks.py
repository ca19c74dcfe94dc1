"""Checks of a fit of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.checks import below_chance_check, constant_judges
from voirdire.kinds.labels.dependence import dependence_check
from voirdire.kinds.labels.influence import influence_check
from voirdire.kinds.labels.over_time import over_time
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.system_influence import system_influence_check
from voirdire.kinds.labels.ties import ties_check
from voirdire.model.check import Check, list_names, worst_level
from voirdire.trust.drift import check_drift

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
    own += [*unseen_classes_check(problem), *ties_check(problem), *dependence_check(problem, posterior, seed)]
    own += _influence_checks(problem, posterior, seed)
    if posterior.values is not None:
        own += below_chance_check(problem, judges, 1.0 / len(problem.labels), TURNED)
    own += check_drift(over_time(problem, posterior), seed=seed)
    return [*found, *own]


def _influence_checks(problem: LabelsProblem, posterior: Posterior, seed: int) -> list[Check]:
    """Judges on whom the first system, and the classes of many items, hang; in one check where both are known."""
    found = [*system_influence_check(problem, posterior), *influence_check(problem, posterior, seed)]
    if len(found) < 2:
        return found
    of_systems, of_classes = found
    return [
        Check("influence", worst_level(found), of_systems.value, f"{of_systems.message} {of_classes.message}")
    ]


def unseen_classes_check(problem: LabelsProblem) -> list[Check]:
    """Classes that no judge ever named."""
    table = problem.table
    used = {table.labels[code] for code in np.unique(table.label)}
    names = [name for name in problem.labels[: problem.classes] if name not in used]
    if not names:
        return []
    message = (
        f"{list_names(names)} never given as a label: whether an item is of such a class is set by the prior. Leave "
        "the class out (classes=...)."
    )
    return [Check("unseen-classes", "warn", float(len(names)), message)]
