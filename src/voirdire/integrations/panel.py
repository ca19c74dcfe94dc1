"""Estimates, with intervals, from a panel's answers about one item or about all items of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from voirdire.errors import InputError, raise_problems
from voirdire.fit.store import load
from voirdire.fit.verb import fit as fit_table
from voirdire.kinds.fit import Fit
from voirdire.kinds.labels.predict import classify_draws
from voirdire.kinds.labels.success import success_class
from voirdire.settings import PROB, share_problems
from voirdire.tables.ratings import known_names

#: Known sets of labels, the good label first.
KNOWN_LABELS = (("C", "I"), ("C", "P", "I"), ("pass", "fail"), ("yes", "no"), ("True", "False"), ("1", "0"))
#: Settings for a single item, also with ordered labels: chains are not worthwhile for so few answers.
SINGLE_ITEM_SETTINGS: dict[str, Any] = {"model": "hierarchical-dawid-skene", "method": "laplace"}

Estimate = tuple[float, float | None, float | None]


def verdict(
    answers: Sequence[object] | Mapping[str, object],
    judges: Sequence[str] | None = None,
    *,
    levels: Sequence[object] | None = None,
    positive: object = None,
    scale: Sequence[float] | None = None,
    fit: Fit | str | Path | None = None,
    prob: float = PROB,
) -> dict[str, Any]:
    """Estimate the probability that an item is good, or its score, from a panel's answers about it.

    Parameters
    ----------
    answers : sequence of str, bool or float, or mapping of judges to them
        A label of each judge, or with ``scale`` a score.
    judges : sequence of str, optional
        Names of the judges; a ``fit`` must contain them.
    levels : sequence, optional
        Possible labels; by default those of the fit, or the first set of `KNOWN_LABELS` that contains the answers.
    positive : str, optional
        The good label; by default a label with a known positive word.
    scale : (float, float), optional
        Lowest and highest score: answers are scores.
    fit : Fit or path, optional
        A fit of labels of the same judges, or its folder, as information about the judges. Without it the Laplace
        approximation fits these answers only, with the prior as the only information about the judges; intervals are
        then wide.
    prob : float
        Probability of the interval.

    Returns
    -------
    dict
        value (a probability, or a score), low, high, prob, judges (number). The interval of a probability is over the
        fit's posterior of the judges' parameters (None if the fit includes people's answers); that of a score is
        clipped to the scale.

    Raises
    ------
    InputError
        There are no answers; an answer is no label or off the scale; a judge is not in the fit; the possible labels or
        the good label are not known; ``scale`` or ``prob`` is invalid.

    Examples
    --------
    >>> found = verdict(["pass", "pass", "fail"])
    >>> bool(found["low"] < 0.5 < found["value"] < 0.7)
    True
    """
    raise_problems(share_problems(prob=(prob, PROB)))
    if isinstance(answers, Mapping) and judges is None:
        judges, answers = list(answers), list(answers.values())
    names = [f"judge {number}" for number in range(1, len(answers) + 1)] if judges is None else list(map(str, judges))
    if isinstance(answers, str | Mapping) or not answers or len(names) != len(answers):
        raise InputError(
            f"a panel gave {answers!r} and its judges are {names!r}; give a list with an answer of each judge, one at "
            "least"
        )
    if scale is not None:
        if isinstance(scale, str) or len(scale) != 2:
            raise InputError(f"the scale {scale!r} is not two numbers, the lowest score and the highest")
        lowest, highest = (f"the scale's {bound} score" for bound in ("lowest", "highest"))
        bounds = _check_number(lowest, scale[0]), _check_number(highest, scale[1])
        scores = [_check_number(f"the answer of {name!r}", entry) for name, entry in zip(names, answers, strict=True)]
        if fit is not None or any(not bounds[0] <= entry <= bounds[1] for entry in scores):
            raise InputError(
                f"scores {scores} with the scale {bounds}: they must be between its ends, and without a fit"
            )
        estimate = _score_verdict(tuple(scores), bounds, prob)
    else:
        pairs = [(name, _label_text(name, entry)) for name, entry in zip(names, answers, strict=True)]
        saved_fit = fit if isinstance(fit, Fit) or fit is None else _load_fit(Path(fit))
        words = [word for _, word in pairs]
        labels = _guess_labels(words) if levels is None and saved_fit is None else tuple(map(str, levels or ()))
        labels = labels if saved_fit is None else tuple(dict.fromkeys(saved_fit.shares()["class"]))
        good = _good_label(labels, positive)
        if saved_fit is None:  # the prior is the same for all judges, so that names do not matter
            judge_words = sorted(sorted(word for name, word in pairs if name == entry) for entry in {*names})
            pairs = [(f"judge {number}", word) for number, word_group in enumerate(judge_words) for word in word_group]
        estimate = _label_verdict(tuple(pairs), labels, good, saved_fit, prob)
    return dict(zip(("value", "low", "high"), estimate, strict=True)) | {"prob": prob, "judges": len({*names})}


def fit_quality(
    rows: Sequence[tuple[str, str, object]],
    *,
    levels: Sequence[object] | None = None,
    positive: object = None,
    prob: float = PROB,
) -> dict[str, float]:
    """Estimate the share of good items, the effective number of judges and their reliability, by a fit of labels.

    Parameters
    ----------
    rows : sequence of (judge, item, label)
    levels, positive, prob
        See :func:`verdict`.

    Returns
    -------
    dict of float
        good, good_low, good_high (share of good items); effective_judges (absent with one judge); reliability_JUDGE,
        with _low and _high.

    Raises
    ------
    InputError
        There are no rows, or labels are invalid as in :func:`verdict`.

    Examples
    --------
    >>> rows = [(judge, f"q{n}", "CI"[n % 2]) for judge in "abc" for n in range(8)]
    >>> sorted(fit_quality(rows))[:4]
    ['effective_judges', 'good', 'good_high', 'good_low']
    """
    if not rows:
        raise InputError("no sample has answers of a panel; score with voirdire's reducer or committee")
    words = [_label_text(judge, label) for judge, _, label in rows]
    labels = _guess_labels(words) if levels is None else tuple(map(str, levels))
    good = _good_label(labels, positive)
    table = [(judge, item, word) for (judge, item, _), word in zip(rows, words, strict=True)]
    fitted = fit_table(_answer_frame(table, "label"), levels=labels, positive=good, prob=prob)
    share = fitted.shares().set_index("class").loc[good]
    checks = fitted.checks().set_index("check")["value"]
    result = {"good": share["share"], "good_low": share["low"], "good_high": share["high"]}
    if "dependence" in checks:
        result["effective_judges"] = checks["dependence"]
    for row in fitted.judges().to_dict("records"):
        result |= {
            f"reliability_{row['judge']}{suffix}": row[f"reliability{suffix}"] for suffix in ("", "_low", "_high")
        }
    return {name: float(value) for name, value in result.items()}


@lru_cache(maxsize=1024)
def _label_verdict(
    pairs: tuple[tuple[str, str], ...], labels: tuple[str, ...], good: str, saved_fit: Fit | None, prob: float
) -> Estimate:
    table = _answer_frame([(judge, "item", label) for judge, label in pairs], "label")
    fit = saved_fit.in_pandas if saved_fit else fit_table(table, levels=labels, positive=good, **SINGLE_ITEM_SETTINGS)
    value = float(fit.predict(table)[f"p_{good}"][0])
    draws = classify_draws(fit.problem, fit.posterior, table)  # type: ignore[arg-type]
    if draws is None:
        return value, None, None
    low, high = np.quantile(draws[:, 0, labels.index(good)], [0.5 * (1 - prob), 0.5 * (1 + prob)])
    return value, float(low), float(high)


@lru_cache(maxsize=1024)
def _score_verdict(scores: tuple[float, ...], scale: tuple[float, float], prob: float) -> Estimate:
    table = _answer_frame([(f"judge {number}", "item", score) for number, score in enumerate(scores)], "score")
    row = fit_table(table, levels=scale, model="rating-continuous", prob=prob).ranking().iloc[0]
    value, low, high = np.clip(row[["score", "low", "high"]].astype(float), *scale)
    return float(value), float(low), float(high)


@lru_cache(maxsize=8)
def _load_fit(path: Path) -> Fit:
    return load(path)


def _answer_frame(rows: list[tuple[Any, ...]], answer: str) -> Any:
    import pandas as pd

    return pd.DataFrame(rows, columns=["judge", "item", answer])


def _guess_labels(words: Sequence[str]) -> tuple[str, ...]:
    for labels in KNOWN_LABELS:
        if {*words} <= {*labels}:
            return labels
    raise InputError(
        f"the labels {known_names(sorted({*words}))} are none of those known, such as pass and fail; name all "
        "labels there may be (levels=), or the ends of the scale of scores (scale=)"
    )


def _good_label(labels: tuple[str, ...], positive: object) -> str:
    good = success_class(labels, positive)
    if good is None:
        raise InputError(f"of the labels {known_names(labels)} none is known to be the good one; name it (positive=)")
    return good


def _label_text(judge: str, label: object) -> str:
    """Convert a label to text; a whole number without decimals, as for labels in tables."""
    if isinstance(label, str | bool) and str(label).strip():
        return str(label).strip()
    return f"{_check_number(f'the answer of {judge!r}', label):g}"


def _check_number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{name} is {value!r}; give a label, true, false or a number")
    return float(value)
