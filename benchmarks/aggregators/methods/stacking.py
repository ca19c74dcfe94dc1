"""Multinomial regression of known classes on judges' labels, L2, its penalty by cross-validation (scikit-learn)."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from benchmarks.aggregators.methods import CannotError, shares

NAME = "L2 stacking"
USES_KNOWN = True
PENALTIES = np.logspace(-4, 2, 13)


def answer(task):
    if task.known.empty:
        raise CannotError("needs known items")
    if task.labels.empty:
        raise CannotError("nobody has labelled these items")
    from sklearn.linear_model import LogisticRegressionCV

    each = task.labels.drop_duplicates(["item", "judge"])
    said = pd.crosstab(each["item"], [each["judge"], each["label"]]).astype(float)
    said = said.reindex(task.questions.index, fill_value=0.0)
    counts = task.known.value_counts()
    common = task.known[task.known.map(counts) >= 2]
    parts = min(5, int(common.value_counts().min())) if len(common) else 0
    if common.nunique() < 2 or parts < 2:
        raise CannotError("all known items are of one class")
    model = LogisticRegressionCV(
        Cs=PENALTIES, cv=parts, scoring="neg_log_loss", max_iter=500, use_legacy_attributes=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(said.loc[common.index].to_numpy(), common.to_numpy())
        found = pd.DataFrame(model.predict_proba(said.to_numpy()), said.index, model.classes_)
    # a class that was not among the known items is as likely as one more item of it would make it
    unseen = shares(counts.reindex(task.classes, fill_value=0).to_frame().T.astype(float)).iloc[0]
    found = found.reindex(columns=task.classes)
    left = float(unseen[found.isna().any()].sum())
    return (found * (1 - left)).fillna(unseen)
