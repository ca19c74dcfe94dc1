"""Accuracy of a fit of labels for items with known class.

For each of n items with known class, let r_i be 1 if the most probable class of item i is its known class, 1 / m if the
known class is one of m equally probable ones, else 0. Accuracy is the mean of r_i. Balanced accuracy is the mean over
classes of the mean of r_i within each; a fit that always gives the most common class has 1 / classes. Intervals are
percentiles over resamples of the items. They cover the choice of items, with the judges' labels and the fit held fixed.
Items that were anchors are left out, because the fit used their class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.agreement.engine.combine import mean_statistic
from voirdire.agreement.engine.resample import bootstrap
from voirdire.agreement.engine.resampling import RESAMPLES
from voirdire.agreement.engine.statistic import mean_over_units
from voirdire.errors import InputError
from voirdire.kinds.labels.problem import known_classes
from voirdire.tables.label_questions import read_labels_like

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.kinds.labels.fit import LabelsFit

TIE_TOLERANCE = 1e-9  # probabilities that differ by less are equal up to rounding


def accuracy(
    fit: LabelsFit, truth: object, *, resamples: int = RESAMPLES, seed: int = 0, prob: float | None = None
) -> pd.DataFrame:
    """Estimate accuracy and balanced accuracy of the most probable classes against known classes.

    Parameters
    ----------
    fit : LabelsFit
        Fit of labels.
    truth : path or dataframe
        Items with known class: item, label and optionally criterion; a column of judges is ignored.
    resamples, seed : int
        Number of resamples of the items, and the generator's seed.
    prob : float, optional
        Probability of the intervals; by default that of the fit.

    Returns
    -------
    pandas.DataFrame
        One row per measure: measure, value, low, high, n (items compared), note (reason for a missing interval).

    Raises
    ------
    InputError
        For items that no judge labelled, labels that are not a class, an item with two different labels, or if all
        items are anchors.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, f"i{n}", "ab"[n % 2]) for judge in "xyz" for n in range(6)]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    >>> truth = pd.DataFrame({"item": ["i0", "i1", "i2", "i3"], "label": ["a", "b", "a", "a"]})
    >>> found = accuracy(voirdire.fit(table, model="majority-label", method="map"), truth, resamples=100)
    >>> found[["measure", "value", "n"]].values.tolist()
    [['accuracy', 0.75, 4], ['balanced_accuracy', 0.8333333333333333, 4]]
    """
    import pandas as pd

    problem = fit.problem
    people = read_labels_like(problem.table, truth, name="truth", judge="people")
    known = known_classes(problem, people, name="truth")
    rows = np.flatnonzero((known >= 0) & (problem.known < 0))
    if not len(rows):
        raise InputError("truth: every item in it was an anchor of the fit; name items that were not")
    classes = fit.classes()
    class_probability = np.stack([classes[f"p_{name}"] for name in problem.labels[: problem.classes]], axis=1)[rows]
    best = class_probability >= class_probability.max(axis=1, keepdims=True) - TIE_TOLERANCE
    right = best[np.arange(len(rows)), known[rows]] / best.sum(axis=1)
    # a class without a resampled item has no share of correct items: such resamples are undefined
    class_statistics = [mean_over_units(known[rows] == code, right) for code in np.unique(known[rows])]
    overall = mean_over_units(np.ones(len(rows), bool), right)
    measures = {"accuracy": overall, "balanced_accuracy": mean_statistic(class_statistics)}
    probability = fit.prob if prob is None else prob
    results = bootstrap(list(measures.values()), resamples=resamples, seed=seed, prob=probability)
    table = [
        (name, result.estimate, result.interval.low, result.interval.high, len(rows), result.interval.note)
        for name, result in zip(measures, results, strict=True)
    ]
    return pd.DataFrame(table, columns=["measure", "value", "low", "high", "n", "note"])
