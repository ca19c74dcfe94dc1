"""Discrimination between good and bad items by judges who score: equal, or separate for each judge.

Repeated scores of one item by one judge separate the judge's own view of the item from run-to-run noise.
"""

from __future__ import annotations

from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import LogNormal, Normal, Parameter, Spread, TwoSided
from voirdire.model.terms.strength import INFORMATION_NOTE
from voirdire.model.terms.term import Term, Values


class JudgeItem(Term):
    """Judge k perceives an item under a criterion shifted by sigma_k z, z ~ Normal(0, 1), the same in all its runs.

    ``log_judge_item`` = log sigma_k ~ Normal(mean, sd). z is integrated out, so that ten runs of one judge are not
    counted as ten opinions. Only in tables where some judge scores an item twice under a criterion: elsewhere sigma_k
    cannot be separated from run-to-run noise.

    Examples
    --------
    >>> JudgeItem().parameters({"mean": 0.0, "sd": 1.0})[0].dims
    ('judge',)
    """

    kind: ClassVar[str] = "judge-item"
    says: ClassVar[str] = (
        "only in tables where some judge scores an item twice under a criterion; strengths of a given sd s then are in "
        f"units of u, log u = log s - mean over all cells of log(1 + l s^2) / 2, {INFORMATION_NOTE}"
    )
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_judge_item``, one per judge."""
        return (Parameter("log_judge_item", ("judge",), Normal(prior["mean"], prior["sd"])),)


class JudgeItemEffect(Term):
    """Judge k perceives an item under a criterion shifted by its own v_k,c,i ~ Normal(0, sigma_k) in all its runs.

    log sigma_k ~ Normal(mean, sd). As in :class:`JudgeItem`, with v among the latent values.

    Examples
    --------
    >>> [p.dims for p in JudgeItemEffect().parameters({"mean": -2.3, "sd": 0.7})]
    [('judge', 'criterion', 'item'), ('judge',)]
    """

    kind: ClassVar[str] = "judge-item-effect"
    says: ClassVar[str] = "only in tables where some judge scores an item twice under a criterion"
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive"}
    of: ClassVar[tuple[str, ...]] = ("judge", "criterion", "item")

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``judge_item_effect``, (judge, criterion, item), and ``log_judge_item``, one per judge."""
        return self._parameters(prior, self.of)

    def in_contexts(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """As :meth:`parameters`, with a separate effect for an item in each context."""
        return self._parameters(prior, (*self.of, "context"))

    def _parameters(self, prior: dict[str, float], dims: tuple[str, ...]) -> tuple[Parameter, ...]:
        return (
            Parameter("judge_item_effect", dims, Spread("log_judge_item", axes=len(dims) - 1)),
            Parameter("log_judge_item", ("judge",), LogNormal(prior["mean"], prior["sd"])),
        )


SMOOTHING = 0.01


class AlikeRaters(Term):
    """Equal perception: every judge perceives the strength of an item unchanged; judges differ in their responses.

    Examples
    --------
    >>> AlikeRaters().parameters({})
    ()
    """

    kind: ClassVar[str] = "alike-raters"

    def perceived_strength(self, values: Values, strength: Array, judge: Array, xp: Any) -> Array:
        """Return the strength of items as judges perceive it, elementwise: unchanged."""
        return strength


class RaterDiscrimination(Term):
    """Judge k perceives a_k theta: a large a_k separates items well, a_k = 0 not at all, and a_k < 0 reverses them.

        a_k = b_k sqrt(1.01 / (mean_j b_j^2 + 0.01)),
        b_k ~ (1 - reversed) Normal(mean, sd) + reversed Normal(-mean, sd)

    (the discrimination of Samejima's graded response model, 1969, here for judges instead of questions, and possibly
    negative). The root mean square of a over judges is 1 by construction, so that the strengths have the scale:
    otherwise the joint mode would increase the few a and shrink the many theta without limit, because the prior of
    theta rewards it. The 0.01 keeps the density smooth at b = 0. The likelihood does not
    change under theta -> -theta, b -> -b (a mirror); the prior, in which most judges have positive b, distinguishes the
    two.

    Examples
    --------
    >>> RaterDiscrimination().parameters({"mean": 1.0, "sd": 0.5, "reversed": 0.1})[0].dims
    ('judge',)
    """

    kind: ClassVar[str] = "rater-discrimination"
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive", "reversed": "share"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``raw_discrimination`` b, one per judge."""
        return (Parameter("raw_discrimination", ("judge",), TwoSided(prior["mean"], prior["sd"], prior["reversed"])),)

    def perceived_strength(self, values: Values, strength: Array, judge: Array, xp: Any) -> Array:
        """Return a_k theta."""
        return scaled_discrimination(values["raw_discrimination"])[..., judge] * strength


class RaterNoise(AlikeRaters):
    """Judge k's scores scatter around what it perceives with standard deviation exp(log_noise_k).

    ``log_noise`` ~ Normal(mean, sd), relative to the scale's length. A noisy judge has less weight in an
    item's strength, proportional to its precision.

    Examples
    --------
    >>> RaterNoise().parameters({"mean": -2.0, "sd": 0.7})[0].name
    'log_noise'
    """

    kind: ClassVar[str] = "rater-noise"
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_noise``, one per judge."""
        return (Parameter("log_noise", ("judge",), LogNormal(prior["mean"], prior["sd"])),)


class RaterNoiseByCriterion(RaterNoise):
    """As :class:`RaterNoise`, with a separate noise of each judge under each criterion.

    Judges may differ in care between criteria, or score each in other units, so that a judge's
    noise under one criterion has little information about that under another. ``log_noise_criterion`` ~
    Normal(mean, sd).

    Examples
    --------
    >>> RaterNoiseByCriterion().parameters({"mean": -2.0, "sd": 0.7})[0].dims
    ('judge', 'criterion')
    """

    kind: ClassVar[str] = "rater-noise-by-criterion"

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_noise_criterion``, one per judge and criterion."""
        noise = LogNormal(prior["mean"], prior["sd"])
        return (Parameter("log_noise_criterion", ("judge", "criterion"), noise),)


def log_noise(values: Values) -> Array:
    """Logarithms of judges' noise, shape (..., judges, criteria), or (..., judges, 1) where criteria share it.

    Examples
    --------
    >>> import numpy as np
    >>> log_noise({"log_noise": np.zeros(3)}).shape, log_noise({"log_noise_criterion": np.zeros((3, 2))}).shape
    ((3, 1), (3, 2))
    """
    return values["log_noise_criterion"] if "log_noise_criterion" in values else values["log_noise"][..., None]


def scaled_discrimination(raw: Array) -> Array:
    """a from b, shape (..., judges); see :class:`RaterDiscrimination`.

    Examples
    --------
    >>> import numpy as np
    >>> scaled_discrimination(np.array([2.0, 2.0, -2.0])).round(3).tolist()
    [1.004, 1.004, -1.004]
    """
    return raw * slope_scale(raw)


def slope_scale(raw: Array) -> Array:
    """a_k over b_k, shape (..., 1); see :class:`RaterDiscrimination`.

    Examples
    --------
    >>> import numpy as np
    >>> slope_scale(np.array([2.0, 2.0, -2.0])).round(3).tolist()
    [0.502]
    """
    square = (raw * raw).mean(axis=-1, keepdims=True)
    return ((square + SMOOTHING) / (1.0 + SMOOTHING)) ** -0.5


def judge_discriminations(values: Values, xp: Any) -> Array | None:
    """Discrimination a_k of every judge who scores, shape (..., judges); None where all are equal.

    Examples
    --------
    >>> import numpy as np
    >>> judge_discriminations({"log_discrimination": np.log([2.0, 0.5])}, np).round(3).tolist()
    [2.0, 0.5]
    """
    if "raw_discrimination" in values:
        return scaled_discrimination(values["raw_discrimination"])
    if "log_discrimination" in values:
        return xp.exp(values["log_discrimination"])
    return None
