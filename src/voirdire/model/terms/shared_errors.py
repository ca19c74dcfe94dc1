"""Judges of one family who share mistakes: common effects, or a common label, integrated out item by item.

Where judges k of a family f share the effect e_i,f of an item, their answers are independent given the item's class (or
value) and e, and

    P(answers of f to i | class) = sum_q weight_q prod_k P(answers of k | class, e_q)

(Qu, Tan and Kutner 1996, Biometrics 52; Albert and Dodd 2004, Biometrics 60). Families are independent given the class,
so that each is integrated separately. The e_q are the nodes of a Gauss-Hermite rule for a standard normal variable.

Judges of one family with a common label for an item, right or wrong: copies, and shared mistakes.

For each item a family f has either no common label or one label m, which its members k favour:

    P(none) = 1 - r_f,   P(m | class j) = r_f q_f,j,m,
    P(l | class j, judge k, m) = softmax over l of (log-odds of k's confusion matrix in row j + b_k [l = m]).

Members who agree on a wrong label therefore count as one witness, like copies (compare the "copying" of
sources in Dong, Berti-Equille and Srivastava 2009, PVLDB 2). An effect only on the odds of the right label
(:class:`.SharedConfusion`) cannot represent agreement on one of several wrong labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, ClassVar

import numpy as np

from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.confusion import JudgeConfusion, log_softmax
from voirdire.model.terms.cutpoints import spread_cutpoints
from voirdire.model.terms.parameters import LogExponential, Normal, Parameter
from voirdire.model.terms.score_probabilities import level_log_probabilities, log_expectation
from voirdire.model.terms.term import Term, Values
from voirdire.typing import Floats

EFFECT_NODES = 7  # nodes for the effects of families
VALUE_NODES = 17  # nodes for the values of items


@cache
def gauss_hermite_rule(nodes: int) -> tuple[Floats, Floats]:
    """Nodes and log weights of the Gauss-Hermite rule for the expectation over a standard normal variable.

    Examples
    --------
    >>> x, log_weight = gauss_hermite_rule(5)
    >>> float((np.exp(log_weight) * x**4).sum().round(9))
    3.0
    """
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    log_weight = np.log(weight / weight.sum())
    x.flags.writeable = log_weight.flags.writeable = False  # the cached arrays are shared by all callers
    return x, log_weight


class SharedErrors(Term, ABC):
    """Interface of a term for labels with effects e of an item that are shared by the judges of a family f.

    ``symmetric`` is True if renaming the classes, with the rows of all class-dependent values, preserves the
    likelihood.
    """

    by_judge: ClassVar[bool] = True
    symmetric: ClassVar[bool] = False

    @abstractmethod
    def log_nodes(self, values: Values, prior: dict[str, float], sizes: dict[str, int], judges: Any, xp: Any) -> Array:
        """Return log P(label | class or value, effect) of some judges, shape (judges, states, effects, labels)."""

    def log_weights(self, values: Values, sizes: dict[str, int], family: int | None, xp: Any) -> Array:
        """Return log P(effect | state), shape (effects,) or (states, effects): the log weights of the rule.

        ``family`` is None for a judge without a family.
        """
        return gauss_hermite_rule(EFFECT_NODES)[1]

    def starts(self, prior: dict[str, float], sizes: dict[str, int]) -> list[Values]:
        """Return further starting points of the search for the mode: effects of half their prior mean."""
        return [{"log_load": np.full(sizes["judge"], np.log(0.5 / prior["rate"]))}]


class JudgeCutpointsOfLabels(SharedErrors):
    """Ordered labels: judge k calls an item of value x above level l with probability

        sigmoid(a_k (x - kappa_k,l) + b_k e_i,f(k)),   x ~ Normal(0, 1), e ~ Normal(0, 1),

    with sharpness a_k = exp(log_sharpness + log_sharpness_judge_k), cutpoints around cut_location + shift_k at gaps
    exp(log_gap_l + log_gap_judge_k,l), and b_k = exp(log_load_k) the judge's weight of the effect that its family (or
    it alone) has for the item; its exponential prior shrinks it to zero. x and e are integrated out.

    Examples
    --------
    >>> values = {"log_sharpness": 0.0, "log_sharpness_judge": np.zeros(1), "log_load": np.full(1, -np.inf)}
    >>> values |= {"cut_location": 0.0, "shift": np.zeros(1)}
    >>> logs = JudgeCutpointsOfLabels().log_nodes(values, {}, {"class": 2, "label": 2}, np.array([0]), np)
    >>> logs.shape, float(np.exp(logs[0, 8, 0, 1]).round(3))
    ((1, 17, 7, 2), 0.5)
    """

    kind: ClassVar[str] = "judge-cutpoints"
    keys: ClassVar[dict[str, str]] = {
        "mean": "number",
        "sd": "positive",
        "judge_sd": "positive",
        "cut_sd": "positive",
        "gap_mean": "number",
        "gap_sd": "positive",
        "shift_sd": "positive",
        "judge_gap_sd": "positive",
        "rate": "positive",
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the panel's and every judge's parameters."""
        return (
            Parameter("log_sharpness", (), Normal(prior["mean"], prior["sd"])),
            Parameter("log_sharpness_judge", ("judge",), Normal(0.0, prior["judge_sd"])),
            Parameter("cut_location", (), Normal(0.0, prior["cut_sd"])),
            Parameter("log_gap", ("gap",), Normal(prior["gap_mean"], prior["gap_sd"])),
            Parameter("shift", ("judge",), Normal(0.0, prior["shift_sd"])),
            Parameter("log_gap_judge", ("judge", "gap"), Normal(0.0, prior["judge_gap_sd"])),
            Parameter("log_load", ("judge",), LogExponential(prior["rate"])),
        )

    def log_nodes(self, values: Values, prior: dict[str, float], sizes: dict[str, int], judges: Any, xp: Any) -> Array:
        """Return log P(label | value, effect) of some judges, shape (judges, values, effects, labels)."""
        (x, _), (e, _) = gauss_hermite_rule(VALUE_NODES), gauss_hermite_rule(EFFECT_NODES)
        location = values["cut_location"] + values["shift"][judges]
        gap = values["log_gap"] + values["log_gap_judge"][judges] if "log_gap" in values else None
        cuts = spread_cutpoints(location, gap, sizes["label"], xp)
        sharp = xp.exp(values["log_sharpness"] + values["log_sharpness_judge"][judges])
        eta = sharp[:, None, None] * x[:, None] + xp.exp(values["log_load"][judges])[:, None, None] * e
        scaled = sharp[:, None] * cuts
        return xp.stack(level_log_probabilities(eta, scaled[:, None, None, :], sizes["label"], xp), axis=-1)

    def log_rates(self, values: Values, prior: dict[str, float], sizes: dict[str, int], xp: Any) -> Array:
        """Return log P(label | class), averaged over the values of items of the class and the effects in them."""
        rates = self._log_rates_by_value(values, prior, sizes, xp)
        return self._log_rates_by_class(rates, self._class_probabilities_from_rates(rates, sizes, xp), xp)

    def log_class_probabilities(self, values: Values, prior: dict[str, float], sizes: dict[str, int], xp: Any) -> Array:
        """Return log P(class | value), shape (values, classes): labels of a random judge of the panel, over e."""
        return self._class_probabilities_from_rates(self._log_rates_by_value(values, prior, sizes, xp), sizes, xp)

    def log_rates_and_shares(
        self, values: Values, prior: dict[str, float], sizes: dict[str, int], xp: Any
    ) -> tuple[Array, Array]:
        """Return log P(label | class) of every judge and the log shares of the classes, shape (classes,)."""
        rates = self._log_rates_by_value(values, prior, sizes, xp)
        naming = self._class_probabilities_from_rates(rates, sizes, xp)
        return self._log_rates_by_class(rates, naming, xp), log_class_shares(naming, xp)

    def _log_rates_by_value(self, values: Values, prior: dict[str, float], sizes: dict[str, int], xp: Any) -> Array:
        """Log P(label | value) with e integrated out, shape (judges, values, labels)."""
        return integrate_out_effects(self.log_nodes(values, prior, sizes, np.arange(sizes["judge"]), xp), xp)

    @staticmethod
    def _class_probabilities_from_rates(rates: Array, sizes: dict[str, int], xp: Any) -> Array:
        log = log_expectation(rates.transpose(1, 2, 0)[:, : sizes["class"]], 0.0, xp)
        return log - log_expectation(log, 0.0, xp)[:, None]

    @staticmethod
    def _log_rates_by_class(rates: Array, naming: Array, xp: Any) -> Array:
        log_joint = naming.transpose(1, 0) + gauss_hermite_rule(VALUE_NODES)[1]
        weights = log_joint - log_expectation(log_joint, 0.0, xp)[:, None]
        return log_expectation(rates.transpose(0, 2, 1)[:, None, :, :] + weights[:, None, :], 0.0, xp)


class SharedConfusion(SharedErrors):
    """Confusion matrices, partially pooled, of judges in families that are right and wrong together.

    P(l | j, judge k, e) = softmax over l of (lean + b_k e_i,f(k)) [l = j] + confusion_j,l + confusion_judge_k,j,l with
    e ~ Normal(0, 1) integrated out and b_k = exp(log_load_k), whose exponential prior shrinks it to zero. In a family
    of all judges, e is the easiness of the item.

    Examples
    --------
    >>> prior, sizes = {"lean": 1.0, "sd": 1.0, "judge_sd": 1.0, "rate": 1.0}, {"class": 2, "label": 2}
    >>> [p.name for p in SharedConfusion().parameters(prior)]
    ['confusion', 'confusion_judge', 'log_load']
    """

    kind: ClassVar[str] = "confusion-shared"
    keys: ClassVar[dict[str, str]] = JudgeConfusion.keys | {"rate": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``confusion``, ``confusion_judge`` and ``log_load``."""
        load = Parameter("log_load", ("judge",), LogExponential(prior["rate"]))
        return (*JudgeConfusion().parameters(prior), load)

    def log_nodes(self, values: Values, prior: dict[str, float], sizes: dict[str, int], judges: Any, xp: Any) -> Array:
        """Return log P(label | class, effect) of some judges, shape (judges, classes, effects, labels)."""
        right, e = np.eye(sizes["class"], sizes["label"]), gauss_hermite_rule(EFFECT_NODES)[0]
        logits = prior["lean"] * right + values["confusion"] + values["confusion_judge"][judges]
        load = xp.exp(values["log_load"][judges])[:, None, None, None]
        return log_softmax(logits[:, :, None, :] + load * e[:, None] * right[:, None, :], sizes["label"], xp)


def log_class_shares(naming: Array, xp: Any) -> Array:
    """Log shares of the classes, shape (classes,), from the class probabilities of values, shape (values, classes)."""
    return log_expectation(naming.transpose(1, 0), gauss_hermite_rule(VALUE_NODES)[1], xp)


def integrate_out_effects(nodes: Array, xp: Any) -> Array:
    """Log P(label | state) with the effect integrated out, shape (judges, states, labels)."""
    return log_expectation(nodes.transpose(0, 1, 3, 2), gauss_hermite_rule(EFFECT_NODES)[1], xp)


LOG_ZERO = -1e9  # log weight whose exponential is zero and whose slope is finite
# starting points of the search for the mode: log-odds of a common label, and log of its effect on members
START_VALUES = ((0.0, 0.5), (1.5, 1.5), (-2.0, 1.5))


class FamilyConfusion(SharedConfusion):
    """Confusion matrices, partially pooled, of judges in families with common labels.

    ``common`` is the log-odds of r_f, ``common_label`` the logarithm of q_f up to a constant in each row, and b_k =
    exp(log_load_k). For a judge without a family, who labels no item twice, r is zero, and b_k has its prior.

    Examples
    --------
    >>> prior = {"lean": 1.0, "sd": 1.0, "judge_sd": 1.0, "rate": 0.5, "common_sd": 1.5, "label_sd": 1.0}
    >>> [p.name for p in FamilyConfusion().parameters(prior)]
    ['confusion', 'confusion_judge', 'log_load', 'common', 'common_label']
    """

    kind: ClassVar[str] = "confusion-family"
    symmetric: ClassVar[bool] = True
    keys: ClassVar[dict[str, str]] = SharedConfusion.keys | {"common_sd": "positive", "label_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the matrices' parameters, ``log_load``, and for each family ``common`` and ``common_label``."""
        labels = Normal(0.0, prior["label_sd"])
        return (
            *super().parameters(prior),
            Parameter("common", ("family",), Normal(0.0, prior["common_sd"])),
            Parameter("common_label", ("family", "class", "label"), labels, zero_sum=True),
        )

    def log_nodes(self, values: Values, prior: dict[str, float], sizes: dict[str, int], judges: Any, xp: Any) -> Array:
        """Return log P(label | class, none or the common label), shape (judges, classes, 1 + labels, labels)."""
        logits = prior["lean"] * np.eye(sizes["class"], sizes["label"])
        logits = logits + values["confusion"] + values["confusion_judge"][judges]
        load = xp.exp(values["log_load"][judges])[:, None, None, None]
        common = np.eye(1 + sizes["label"], sizes["label"], k=-1)
        return log_softmax(logits[:, :, None, :] + load * common, sizes["label"], xp)

    def log_weights(self, values: Values, sizes: dict[str, int], family: int | None, xp: Any) -> Array:
        """Return log P(none or the common label | class), shape (classes, 1 + labels)."""
        if family is None:
            return np.array([0.0] + [LOG_ZERO] * sizes["label"])
        odds = values["common"][family]
        log = log_sigmoid(odds, xp) + log_softmax(values["common_label"][family], sizes["label"], xp)
        log_none = log_sigmoid(-odds, xp) + 0.0 * log[:, 0]
        return xp.stack([log_none] + [log[:, label] for label in range(sizes["label"])], axis=-1)

    def starts(self, prior: dict[str, float], sizes: dict[str, int]) -> list[Values]:
        """Return starting points with common labels half of the time, mostly, and rarely."""
        if not sizes["family"]:
            return [{"log_load": np.zeros(sizes["judge"])}]
        return [
            {"log_load": np.full(sizes["judge"], load), "common": np.full(sizes["family"], odds)}
            for odds, load in START_VALUES
        ]
