"""Judges of one family with a common label for an item, right or wrong: copies, and shared mistakes.

For each item a family f has either no common label or one label m, which its members k favour:

    P(none) = 1 - r_f,   P(m | class j) = r_f q_f,j,m,
    P(l | class j, judge k, m) = softmax over l of (log-odds of k's confusion matrix in row j + b_k [l = m]).

Members who agree on a wrong label therefore count as one witness, like copies (compare the "copying" of
sources in Dong, Berti-Equille and Srivastava 2009, PVLDB 2). An effect only on the odds of the right label
(:class:`.SharedConfusion`) cannot represent agreement on one of several wrong labels.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.parameters import Normal, Parameter
from voirdire.model.terms.reliability import Values
from voirdire.model.terms.shared_errors import SharedConfusion

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
