"""The default model of a table of labels.

Families that the user did not name are an interpretation of the answers. Judges who agree more than the majority class
explains may be copies, or may alone recognise the right class; the labels cannot distinguish the two. So estimated
families make ``family-dawid-skene`` the default only if they explain the dependence: given the class and the errors of
families, the effective number of judges is at least ``MIN_INDEPENDENT_SHARE`` of their number
(:class:`voirdire.trust.dependence.Dependence`). This holds for independent judges with a few copies. With other
dependence each judge counts by itself, and probabilities are discounted (:mod:`.labels.target`).

Grades are labels with an order, which a model can use. Labels with levels declared by the user are grades. Whole
numbers may be grades, or names of classes without an order (breeds 1 to 4); the table does not say. So both models
predict held-out labels of the judges with most labels and of some items, one half from the other and vice versa, at the
mode. The numbers are grades if ``ordered-labels`` predicts better by ``MIN_STANDARD_ERRORS`` standard errors of the
difference in log loss (with items as sampling units).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.labels.answers import predict_held_out
from voirdire.kinds.labels.dependence import label_residuals
from voirdire.kinds.labels.families import find_families
from voirdire.kinds.labels.problem import encode_labels
from voirdire.kinds.request import Request
from voirdire.model.specs import load_model
from voirdire.tables.labels import Labels
from voirdire.trust.dependence import effective_size

UNORDERED_MODEL, ORDERED_MODEL = "hierarchical-dawid-skene", "ordered-labels"
MIN_STANDARD_ERRORS = 2.0  # smallest difference in log loss, in standard errors
MAX_ROWS = 5000  # largest number of predicted labels
MAX_JUDGES, MIN_JUDGES = 32, 6  # largest number of judges, and smallest if there are many labels
MAX_CELLS = 160  # largest number of judges times labels
ROUGH_TOLERANCE = 0.1  # gradient at which the search for a mode stops
DECLARED_LEVELS = "the levels of its labels were given in their order"


def why_grades(table: Labels) -> tuple[bool, str]:
    """Decide whether labels are grades, and give the reason, "" if they cannot be grades.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.labels import read_labels
    >>> table = pd.DataFrame({"judge": ["a", "b"] * 3, "item": list("xxyyzz"), "label": list("123123")})
    >>> why_grades(read_labels(table, levels=[1, 2, 3]))
    (True, 'the levels of its labels were given in their order')
    """
    if len(table.labels) < 3:
        return False, ""
    if table.declared:
        return True, DECLARED_LEVELS
    if not all(label.isdecimal() for label in table.labels):
        return False, ""
    if order_predicts_better(table):
        return True, (
            "its labels are whole numbers, and taken as grades they predict labels left out better "
            f"(--model {UNORDERED_MODEL} takes them as classes without an order)"
        )
    return False, (
        "its labels are whole numbers, and taken as grades they do not predict labels left out better "
        f"(--levels {','.join(table.labels)} says that they are grades)"
    )


def order_predicts_better(table: Labels, seed: int = 0) -> bool:
    """True if the ordered model predicts held-out labels significantly better.

    False for few labels; False for a table of one label per item, from which none can be held out.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.labels import read_labels
    >>> rng = np.random.default_rng(0)
    >>> value = rng.normal(size=150)
    >>> said = {k: np.searchsorted([-1, 0, 1], value + rng.normal(scale=0.5, size=150)) for k in "abcdef"}
    >>> rows = [(k, f"i{i}", int(y)) for k, labels in said.items() for i, y in enumerate(labels)]
    >>> order_predicts_better(read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"])))
    True
    """
    rng = np.random.default_rng(seed)
    sample = _sample_labels(table, rng)
    unit, fold = sample.criterion * len(sample.items) + sample.item, np.zeros(sample.rows, dtype=np.int64)
    # independent of the order of rows
    fold[np.lexsort((sample.label, sample.judge, unit))] = rng.integers(0, 2, sample.rows)
    if not 0 < fold.sum() < sample.rows:
        return False
    models = [encode_labels(load_model(name), sample) for name in (ORDERED_MODEL, UNORDERED_MODEL)]
    gain = np.zeros(sample.rows)
    for left_out in (0, 1):
        is_left_out = fold == left_out
        label = sample.label[is_left_out]
        ordered, plain = (
            np.log(predict_held_out(model, is_left_out, ROUGH_TOLERANCE)[np.arange(len(label)), label])
            for model in models
        )
        gain[is_left_out] = ordered - plain
        if gain[is_left_out].mean() <= 0.0:
            return False  # it cannot be significantly better
    spread = np.bincount(unit, gain - gain.mean())
    return bool(gain.mean() > MIN_STANDARD_ERRORS * np.sqrt((spread**2).sum()) / sample.rows)


def _sample_labels(table: Labels, rng: np.random.Generator) -> Labels:
    """The labels of the judges with most labels, for some items that several of these have labelled."""
    count = np.bincount(table.judge, minlength=len(table.judges))
    judges = max(MIN_JUDGES, min(MAX_JUDGES, MAX_CELLS // len(table.labels)))
    is_kept = np.isin(table.judge, np.argsort(-count, kind="stable")[:judges])
    unit = table.criterion * len(table.items) + table.item
    units, position, labels = np.unique(unit[is_kept], return_inverse=True, return_counts=True)
    order = rng.permutation(len(units))
    order = order[labels[order] > 1]
    chosen = np.zeros(len(units), dtype=bool)
    chosen[order[np.cumsum(labels[order]) <= MAX_ROWS]] = True
    is_kept[is_kept] = chosen[position]
    sample = table.subset(is_kept)
    codes, judge = np.unique(sample.judge, return_inverse=True)
    return replace(sample, judges=tuple(table.judges[code] for code in codes), judge=judge)


SHARED_ERRORS_MODEL = "family-dawid-skene"
MAX_IGNORED_COPIES = 0.2  # share of copies among judges up to which the model does not change
# effective number of judges as a share of their number, from which families explain dependence
MIN_INDEPENDENT_SHARE = 0.9


def default_model(table: Labels, request: Request) -> tuple[str, str]:
    """Choose the default model.

    ``ordered-labels`` for three grades or more; ``family-dawid-skene`` for families that are named, or estimated and
    sufficient; else ``hierarchical-dawid-skene``. The module defines grades.

    Returns
    -------
    model, why : str
    """
    graded, why = (False, "") if request.classes is not None else why_grades(table)
    if graded:
        return ORDERED_MODEL, why
    model, reason = _unordered_model(table, request)
    return model, f"{reason}; {why}" if why else reason


def _unordered_model(table: Labels, request: Request) -> tuple[str, str]:
    """The model of classes without an order, and why."""
    if request.families:
        return SHARED_ERRORS_MODEL, "the table has labels of families of judges"
    if request.families is not None or request.anchors is not None:  # known items reveal a clique
        return UNORDERED_MODEL, "the table has labels"
    families = find_families(table)
    all_families = list(families.values())
    copies = sum(all_families.count(family) > 1 for family in all_families)
    if copies <= MAX_IGNORED_COPIES * len(table.judges):
        return UNORDERED_MODEL, "the table has labels"
    reason = f"{copies} of {len(table.judges)} judges answer like another"
    if _families_explain_dependence(table, request, families):
        return SHARED_ERRORS_MODEL, reason
    return UNORDERED_MODEL, f"{reason}, but families do not explain the agreement of the others"


def _families_explain_dependence(table: Labels, request: Request, families: dict[str, str]) -> bool:
    """True if judges are nearly independent given the class and the errors that families share."""
    problem = encode_labels(load_model(SHARED_ERRORS_MODEL), table, classes=request.classes, families=families)
    posterior = Posterior(problem.density, find_mode(problem).x, None)
    residuals = label_residuals(problem, posterior, np.random.default_rng(0))
    return effective_size(residuals) >= MIN_INDEPENDENT_SHARE * len(residuals.judges)
