"""Labels of judges for items of each class: confusion matrices, for the panel or for each judge, or one coin.

Classes of items: shares of the classes, or shares of each item.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, ClassVar

import numpy as np

from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.parameters import LogitBeta, Normal, Parameter
from voirdire.model.terms.term import Term, Values


class ClassShares(Term):
    """An item under criterion c belongs to class j with probability softmax(class_share_c)_j.

    The log shares have prior Normal(0, sd) with sum zero over the classes, which treats all classes alike. The class
    of each item is summed out of the likelihood (see :mod:`voirdire.kinds.labels.density`).

    Examples
    --------
    >>> ClassShares().parameters({"sd": 1.5})[0].dims
    ('criterion', 'class')
    """

    kind: ClassVar[str] = "shares"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``class_share`` (log scale), shape (criterion, class)."""
        return (Parameter("class_share", ("criterion", "class"), Normal(0.0, prior["sd"]), zero_sum=True),)


class ByItem(Term):
    """Each item has its own shares, softmax(tendency_i), from which all its labels are drawn.

    ``tendency`` has prior Normal(0, sd) with sum zero over the labels. The item's class is its most probable label: at
    the mode the most common label, because the prior is symmetric, and over posterior draws each label with the
    probability that it is the most common one in the long run.

    Examples
    --------
    >>> ByItem().parameters({"sd": 1.5})[0].dims
    ('unit', 'label')
    """

    kind: ClassVar[str] = "by-item"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``tendency`` (log scale), shape (unit, label)."""
        return (Parameter("tendency", ("unit", "label"), Normal(0.0, prior["sd"]), zero_sum=True),)


class LatentValue(Term):
    """An item has a value x ~ Normal(0, 1) that judges cut into levels; see :mod:`.terms.shared_errors`.

    Its class is the level that a judge of the panel, drawn at random, would name.

    Examples
    --------
    >>> LatentValue().parameters({})
    ()
    """

    kind: ClassVar[str] = "latent-value"  # without parameters: values are integrated out


class Confusion(Term):
    """Interface of a term for labels. The codes of the classes come first among the labels."""

    by_judge: ClassVar[bool] = True

    def log_rates(self, values: Values, prior: dict[str, float], sizes: dict[str, int], xp: Any) -> Array:
        """Return log P(label | class), shape (..., judges or 1, classes, labels), from the existing matrices."""
        logits = prior["lean"] * np.eye(sizes["class"], sizes["label"])
        if "confusion" in values:
            logits = (logits + values["confusion"])[..., None, :, :]
        if "confusion_judge" in values:
            logits = logits + values["confusion_judge"]
        return log_softmax(logits, sizes["label"], xp)


class Alike(Confusion):
    """Equal judges, with equal weight for every label: only the items' own shares remain.

    Examples
    --------
    >>> Alike().parameters({})
    ()
    """

    kind: ClassVar[str] = "alike"
    by_judge: ClassVar[bool] = False

    def log_rates(self, values: Values, prior: dict[str, float], sizes: dict[str, int], xp: Any) -> Array:
        """Raise, because there are no rates without confusion."""
        raise ValueError("judges that are all alike have no confusion matrix")


class PooledConfusion(Confusion):
    """One confusion matrix for the panel: P(l | j) = softmax over l of lean [l = j] + confusion_j,l.

    ``confusion`` has prior Normal(0, sd) with sum zero over the labels. ``lean`` > 0 is the prior log-odds of the right
    label against any other: judges are better than chance. It alone identifies the classes; the
    likelihood is the same for every renaming of them (Dawid and Skene 1979, JRSS C 28, with one matrix for all).

    Examples
    --------
    >>> term, sizes = PooledConfusion(), {"class": 2, "label": 2}
    >>> prior = {"lean": 1.0, "sd": 1.0}
    >>> rates = np.exp(term.log_rates({"confusion": np.zeros((2, 2))}, prior, sizes, np))
    >>> rates[0].round(2).tolist()
    [[0.73, 0.27], [0.27, 0.73]]
    """

    kind: ClassVar[str] = "confusion-pooled"
    by_judge: ClassVar[bool] = False
    keys: ClassVar[dict[str, str]] = {"lean": "number", "sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``confusion`` (log scale), shape (class, label)."""
        return (Parameter("confusion", ("class", "label"), Normal(0.0, prior["sd"]), zero_sum=True),)


class SeparateConfusion(Confusion):
    """A separate confusion matrix for each judge (Dawid and Skene 1979).

    P(l | j, judge k) = softmax over l of lean [l = j] + confusion_judge_k,j,l, with prior Normal(0, judge_sd) with sum
    zero over the labels. ``lean`` is as in :class:`PooledConfusion`.

    Examples
    --------
    >>> [p.dims for p in SeparateConfusion().parameters({"lean": 1.0, "judge_sd": 1.0})]
    [('judge', 'class', 'label')]
    """

    kind: ClassVar[str] = "confusion-separate"
    keys: ClassVar[dict[str, str]] = {"lean": "number", "judge_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``confusion_judge`` (log scale)."""
        dims = ("judge", "class", "label")
        return (Parameter("confusion_judge", dims, Normal(0.0, prior["judge_sd"]), zero_sum=True),)


class JudgeConfusion(Confusion):
    """A confusion matrix for each judge, shrunk towards the panel's (Dawid and Skene 1979, partially pooled).

    P(l | j, judge k) = softmax over l of lean [l = j] + confusion_j,l + confusion_judge_k,j,l; the judges' deviations
    have prior Normal(0, judge_sd) with sum zero over the labels (as in the hierarchical model of Paun et al. 2018,
    TACL 6, with a fixed spread). Renaming the classes renames the rows of all matrices: the likelihood does not
    change, and in the prior only ``lean`` identifies the classes.

    Examples
    --------
    >>> [p.dims for p in JudgeConfusion().parameters({"lean": 1.0, "sd": 1.0, "judge_sd": 1.0})]
    [('class', 'label'), ('judge', 'class', 'label')]
    """

    kind: ClassVar[str] = "confusion"
    keys: ClassVar[dict[str, str]] = PooledConfusion.keys | SeparateConfusion.keys

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``confusion`` and ``confusion_judge`` (log scale)."""
        return PooledConfusion().parameters(prior) + SeparateConfusion().parameters(prior)


class OneCoinLabel(Confusion):
    """One coin for each judge: the right label with probability eta_k, else each other label with equal probability.

    P(l | j, judge k) = eta_k where l = j and (1 - eta_k) / (labels - 1) elsewhere; eta_k ~ (1 - reversed) Beta(a, b)
    + reversed Beta(b, a). If two labels are the two classes, eta -> 1 - eta with the classes swapped has the
    same likelihood (a mirror); with more labels, no renaming preserves the form.

    Examples
    --------
    >>> rates = OneCoinLabel().log_rates({"reliability": np.zeros(1)}, {}, {"class": 2, "label": 3}, np)
    >>> np.exp(rates[0]).round(2).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]
    """

    kind: ClassVar[str] = "one-coin-label"
    keys: ClassVar[dict[str, str]] = {"a": "positive", "b": "positive", "reversed": "share"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``reliability`` (log-odds of eta), one per judge."""
        return (Parameter("reliability", ("judge",), LogitBeta(prior["a"], prior["b"], prior["reversed"])),)

    def log_rates(self, values: Values, prior: dict[str, float], sizes: dict[str, int], xp: Any) -> Array:
        """Return log P(label | class) of every judge."""
        eta, right = values["reliability"][..., None, None], np.eye(sizes["class"], sizes["label"])
        wrong = log_sigmoid(-eta, xp) - np.log(sizes["label"] - 1)
        return right * log_sigmoid(eta, xp) + (1.0 - right) * wrong


MAX_UNROLLED_TERMS = 32  # largest sum that is unrolled: longer ones take minutes to compile


def log_softmax(x: Array, size: int, xp: Any) -> Array:
    """Logarithm of the softmax along the last axis, of length ``size``.

    Examples
    --------
    >>> log_softmax(np.zeros(4), 4, np).round(3).tolist()
    [-1.386, -1.386, -1.386, -1.386]
    """
    return x - log_sum_exp(x, size, xp)[..., None]


def log_sum_exp(x: Array, size: int, xp: Any) -> Array:
    """Logarithm of the sum of exponentials along the last axis, of length ``size``, which is removed.

    Examples
    --------
    >>> float(log_sum_exp(np.array([0.0, 0.0]), 2, np).round(3))
    0.693
    """
    if xp is not np and size > MAX_UNROLLED_TERMS:
        top = x.max(axis=-1, keepdims=True)
        return top[..., 0] + xp.log(xp.exp(x - top).sum(axis=-1))
    parts = [x[..., column] for column in range(size)]
    if xp is np:  # exponentials take a third of the time of logaddexp
        top = np.maximum(reduce(np.maximum, parts), -1e300)
        with np.errstate(divide="ignore"):
            return top + np.log(sum(np.exp(part - top) for part in parts))
    return reduce(xp.logaddexp, parts)
