"""The model that a table of labels calls for.

Families of judges that nobody named are a reading of the answers: judges who agree with each other beyond the class
that most judges tell may be copies, or see what the others do not, and then the class is theirs. The labels alone
cannot tell these apart. So families that were found make ``family-dawid-skene`` the default only where they account
for how judges answer: where all judges, given the class and what families share, are worth ``ALL`` of their number
(:class:`voirdire.trust.dependence.Dependence`). Independent judges beside a few copies are; where judges agree in more
ways than that, each counts for itself, and the probabilities are weighed down (:mod:`.labels.target`).
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.kind import Request
from voirdire.kinds.labels.dependence import label_residuals
from voirdire.kinds.labels.families import found_families
from voirdire.kinds.labels.grades import ORDERED, UNORDERED, why_grades
from voirdire.kinds.labels.problem import encode_labels
from voirdire.model.specs import load_model
from voirdire.tables.labels import Labels
from voirdire.trust.dependence import effective_size

SHARED = "family-dawid-skene"
SOME = 0.2  # of a panel's judges: fewer copies than that do not call for another model
ALL = (
    0.9  # of a panel's judges: as many independent ones as it is worth where families account for its answers
)


def default_model(table: Labels, request: Request) -> tuple[str, str]:
    """``ordered-labels`` for three grades or more; ``family-dawid-skene`` for families named, or found and sufficient.

    Else ``hierarchical-dawid-skene``. What are grades is said in :mod:`.labels.grades`.

    Returns
    -------
    model, why : str
    """
    graded, why = (False, "") if request.classes is not None else why_grades(table)
    if graded:
        return ORDERED, why
    model, more = _unordered_model(table, request)
    return model, f"{more}; {why}" if why else more


def _unordered_model(table: Labels, request: Request) -> tuple[str, str]:
    """The model of classes without an order, and why."""
    if request.families:
        return SHARED, "the table has labels of families of judges"
    if request.families is not None or request.anchors is not None:  # known items tell a clique by themselves
        return UNORDERED, "the table has labels"
    families = found_families(table)
    every = list(families.values())
    alike = sum(every.count(family) > 1 for family in every)
    if alike <= SOME * len(table.judges):
        return UNORDERED, "the table has labels"
    why = f"{alike} of {len(table.judges)} judges answer like another"
    if _families_explain_dependence(table, request, families):
        return SHARED, why
    return UNORDERED, f"{why}, but families do not account for how the others agree"


def _families_explain_dependence(table: Labels, request: Request, families: dict[str, str]) -> bool:
    """True if judges are independent given the class and what families share, more or less."""
    problem = encode_labels(load_model(SHARED), table, classes=request.classes, families=families)
    posterior = Posterior(problem.density, find_mode(problem).x, None)
    left = label_residuals(problem, posterior, np.random.default_rng(0))
    return effective_size(left) >= ALL * len(left.judges)
