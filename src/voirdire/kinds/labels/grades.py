"""Grades: labels that are levels in an order, which a model of their order may use.

Levels that were given are. Whole numbers may be grades, or names of classes that have no order (breeds 1 to 4), and
their meaning is not in the table. So both models are tried on labels that they have not seen: of the judges with most
labels and of some items, one half of the labels is predicted from the other, and the other way round, at the mode.
The numbers are taken as grades where ``ordered-labels`` predicts better by ``CLEAR`` standard errors of the difference
in log loss (items are the units that vary).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.kinds.labels.held_out import predict_held_out
from voirdire.kinds.labels.problem import encode_labels
from voirdire.model.specs import load_model
from voirdire.tables.labels import Labels

UNORDERED, ORDERED = "hierarchical-dawid-skene", "ordered-labels"
CLEAR = 2.0  # standard errors
ROWS = 5000  # labels that are predicted at most
JUDGES, FEWEST = 32, 6  # judges who are looked at: at most, and where there are many labels
CELLS = 160  # judges times labels
ROUGH = 0.1  # gradient at which the search for a mode is stopped
GIVEN = "the levels of its labels were given in their order"


def why_grades(table: Labels) -> tuple[bool, str]:
    """Decide whether labels are grades, and say why or why not; no words where the question does not arise.

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
        return True, GIVEN
    if not all(label.isdecimal() for label in table.labels):
        return False, ""
    if order_predicts_better(table):
        return True, (
            "its labels are whole numbers, and taken as grades they predict labels left out better "
            f"(--model {UNORDERED} takes them as classes without an order)"
        )
    return False, (
        "its labels are whole numbers, and taken as grades they do not predict labels left out better "
        f"(--levels {','.join(table.labels)} says that they are grades)"
    )


def order_predicts_better(table: Labels, seed: int = 0) -> bool:
    """True if labels left out are predicted better with their order, by more than noise.

    Of few labels nothing is clear, and of a table of one label an item nothing can be left out.

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
    some = _sample_labels(table, rng)
    unit, fold = some.criterion * len(some.items) + some.item, np.zeros(some.rows, dtype=np.int64)
    fold[np.lexsort((some.label, some.judge, unit))] = rng.integers(
        0, 2, some.rows
    )  # whatever the rows' order
    if not 0 < fold.sum() < some.rows:
        return False
    models = [encode_labels(load_model(name), some) for name in (ORDERED, UNORDERED)]
    gain = np.zeros(some.rows)
    for left_out in (0, 1):
        here = fold == left_out
        label = some.label[here]
        ordered, plain = (
            np.log(predict_held_out(model, here, ROUGH)[np.arange(len(label)), label]) for model in models
        )
        gain[here] = ordered - plain
        if gain[here].mean() <= 0.0:
            return False  # it will not come out clearly better
    spread = np.bincount(unit, gain - gain.mean())
    return bool(gain.mean() > CLEAR * np.sqrt((spread**2).sum()) / some.rows)


def _sample_labels(table: Labels, rng: np.random.Generator) -> Labels:
    """The labels of the judges with most, of some items that several of these have labelled."""
    count = np.bincount(table.judge, minlength=len(table.judges))
    judges = max(FEWEST, min(JUDGES, CELLS // len(table.labels)))
    kept = np.isin(table.judge, np.argsort(-count, kind="stable")[:judges])
    unit = table.criterion * len(table.items) + table.item
    units, place, labels = np.unique(unit[kept], return_inverse=True, return_counts=True)
    order = rng.permutation(len(units))
    order = order[labels[order] > 1]
    chosen = np.zeros(len(units), dtype=bool)
    chosen[order[np.cumsum(labels[order]) <= ROWS]] = True
    kept[kept] = chosen[place]
    some = table.subset(kept)
    codes, judge = np.unique(some.judge, return_inverse=True)
    return replace(some, judges=tuple(table.judges[code] for code in codes), judge=judge)
