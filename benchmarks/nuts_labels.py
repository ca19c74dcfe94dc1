"""NUTS on DICES-350: Laplace-whitened, on counts, against a plain PyMC program with one row per label."""

from __future__ import annotations

from typing import Any

import numpy as np
from against_pymc import race
from common import shared

from voirdire.tables.labels import read_labels

TABLE = "dices350_labels.csv"


def density() -> Any:
    import pymc as pm
    import pytensor.tensor as pt

    table = read_labels(shared(TABLE))
    judges, items, labels = len(table.judges), len(table.items), len(table.labels)
    with pm.Model() as model:
        share = pm.ZeroSumNormal("class_share", 1.5, shape=labels)
        panel = pm.ZeroSumNormal("confusion", 1.0, shape=(labels, labels))
        own = pm.ZeroSumNormal("confusion_judge", 1.0, shape=(judges, labels, labels))
        logits = 1.5 * np.eye(labels) + panel + own
        log_rates = pm.math.log_softmax(logits, axis=-1)[table.judge, :, table.label]  # (rows, classes)
        log_shares = pm.math.log_softmax(share)
        joint = pt.inc_subtensor(pt.zeros((items, labels))[table.item], log_rates) + log_shares
        pm.Potential("labels", pm.math.logsumexp(joint, axis=-1).sum())
    return model


race(
    "NUTS (DICES-350 labels)",
    density,
    ("class_share", "confusion", "confusion_judge"),
    draws=50,
    rows="label",
    note="hierarchical-dawid-skene, 746 parameters, classes summed out on both sides; ESS over all of them.",
    table=shared(TABLE),
    model="hierarchical-dawid-skene",
)
