"""Verdicts on the judges of a fit: what an answer tells of the truth, and whether to keep the judge.

Of votes, scores and rankings a question is which of two typical items is better: an answer that is right with
probability p tells ln 2 + p ln p + (1 - p) ln (1 - p) nats. Of labels it is the class of an item of the table's mix,
with shares s and the judge's rates r: sum_c s_c sum_l r_cl ln(r_cl / sum_c s_c r_cl). It is about what is right, not
about what others answer, which is an audit's (:mod:`.decide.verdicts`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.decide.verdicts import judge_verdict, mutual_information
from voirdire.fit.answer_weight import unnamed_families
from voirdire.kinds.checks import ORIENTATION
from voirdire.kinds.fit import Fit
from voirdire.typing import Floats

LARGE = 0.1  # of a position bias


def verdicts(fit: Fit) -> list[dict[str, Any]]:
    """Verdict on each judge: judge, verdict, why, information (None where it is not known).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> votes = pd.DataFrame({"judge": ["a", "b"] * 20, "first": "x", "second": "y", "winner": ["x", "x"] * 20})
    >>> [row["verdict"] for row in verdicts(fit(votes, model="crowd-bt", method="laplace"))]
    ['keep', 'keep']
    """
    judges = fit.tables["judges"]
    names = list(judges["judge"])
    value, most = _judge_information(fit, len(names))
    unsure = [one.message for one in fit.all_checks if one.check in ORIENTATION and one.level == "fail"]
    unknown = "the panel may be wrong as a whole: " + unsure[0] if unsure else ""
    copies = _find_copies(fit)
    rows = []
    for at, name in enumerate(names):
        told = None if np.isnan(value[at]) else float(value[at])
        high = told if np.isnan(most[at]) else float(most[at])
        why = unknown or "the model does not say how often it is right"
        found = judge_verdict(
            told, high, _bias_messages(judges, at), copies.get(name), why if told is None else unknown
        )
        rows.append({"judge": name, "verdict": found.verdict, "why": found.why, "information": told})
    return rows


def _judge_information(fit: Fit, judges: int) -> tuple[Floats, Floats]:
    """Nats that an answer of each judge tells, and the upper end of its interval; NaN where it is not known."""
    columns, density = fit.tables["judges"], fit.problem.density
    if "p_right" in columns:
        right, most = (np.asarray(columns[name], dtype=float) for name in ("p_right", "p_right_high"))
        return _pair_information(right), _pair_information(most)
    if not getattr(density, "latent", False):
        return np.full(judges, np.nan), np.full(judges, np.nan)
    shown = fit.posterior.shown(lambda values: {"": _class_information(density, values)}, fit.prob)[""]
    return shown.point, shown.high


def _pair_information(right: Floats) -> Floats:
    p = np.clip(right, 0.5, 1.0)
    return mutual_information(0.5 * np.stack([p, 1.0 - p, 1.0 - p, p], axis=-1).reshape(*p.shape, 2, 2))


def _class_information(density: Any, values: Any) -> Floats:
    rates = np.exp(density.rates(values, np))  # (..., judges, classes, labels)
    share = np.exp(density.shares(values, np)).mean(axis=-2)[..., None, :, None]
    return mutual_information(share * rates)


def _bias_messages(judges: Any, at: int) -> list[str]:
    """Biases in words: a position bias whose interval excludes none and that is large."""
    if "position_bias" not in judges:
        return []
    value, low, high = (
        float(judges[name][at]) for name in ("position_bias", "position_bias_low", "position_bias_high")
    )
    if abs(value) > LARGE and (low > 0 or high < 0):
        return [
            f"picks the {'first' if value > 0 else 'second'} item too often ({value:+.2f}); show both orders"
        ]
    return []


def _find_copies(fit: Fit) -> dict[str, str]:
    """Judges whose answers were weighed down as duplicates, each with the first that it is alike."""
    weight = getattr(fit.problem, "answer_weight", None)
    if weight is None or np.all(weight == 1) or fit.families:
        return {}
    groups = unnamed_families(fit.problem, fit.posterior.centre)
    return {judge: first for judge, first in groups.items() if judge != first}
