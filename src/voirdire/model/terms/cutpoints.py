"""Cutpoints of judges between the levels of a scale: the panel's, or each judge's own."""

from __future__ import annotations

from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, running_sum
from voirdire.model.terms.parameters import Normal, Parameter
from voirdire.model.terms.reliability import Values
from voirdire.model.terms.term import Term


class SharedCutpoints(Term):
    """Ordered cutpoints kappa_c,l of each criterion, the same for all judges.

    kappa_c,l+1 - kappa_c,l = exp(log_gap_c,l), and ``cut_location_c`` is midway between the first and the last:
    cut_location ~ Normal(0, sd), log_gap ~ Normal(gap_mean, gap_sd). A scale of two levels has no gap.

    Examples
    --------
    >>> import numpy as np
    >>> values = {"cut_location": np.array([0.5]), "log_gap": np.log([[1.0, 2.0]])}
    >>> SharedCutpoints().cutpoint_values(values, 4, np).tolist()
    [[-1.0, 0.0, 2.0]]
    """

    kind: ClassVar[str] = "shared"
    by_judge: ClassVar[bool] = False
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "gap_mean": "number", "gap_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``cut_location``, one per criterion, and ``log_gap``, shape (criterion, gap)."""
        return (
            Parameter("cut_location", ("criterion",), Normal(0.0, prior["sd"])),
            Parameter("log_gap", ("criterion", "gap"), Normal(prior["gap_mean"], prior["gap_sd"])),
        )

    def cutpoint_values(self, values: Values, levels: int, xp: Any) -> Array:
        """Return the panel's cutpoints, shape (..., criteria, levels - 1)."""
        return spread_cutpoints(values["cut_location"], values.get("log_gap"), levels, xp)


class JudgeCutpoints(SharedCutpoints):
    """Cutpoints of each judge under each criterion, shrunk towards the panel's (partial pooling).

    Judge k's cutpoints under criterion c are centred at cut_location_c + shift_k,c with gaps
    exp(log_gap_c,l + log_gap_judge_k,c,l); shift ~ Normal(0, shift_sd), log_gap_judge ~ Normal(0, judge_gap_sd). A
    judge may therefore be severe under one criterion only, avoid the ends of a scale (wide gaps) or prefer them (narrow
    gaps) (Johnson and Albert 1999, Ordinal Data Modeling, chapter 5).

    Examples
    --------
    >>> import numpy as np
    >>> values = {"cut_location": np.zeros(1), "log_gap": np.zeros((1, 1))}
    >>> values |= {"shift": np.array([[0.0], [2.0]]), "log_gap_judge": np.log([[[1.0]], [[4.0]]])}
    >>> JudgeCutpoints().cutpoint_values(values, 3, np).tolist()
    [[[-0.5, 0.5]], [[0.0, 4.0]]]
    """

    kind: ClassVar[str] = "by-judge"
    by_judge: ClassVar[bool] = True
    keys: ClassVar[dict[str, str]] = {**SharedCutpoints.keys, "shift_sd": "positive", "judge_gap_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the panel's parameters, ``shift`` (judge, criterion) and ``log_gap_judge`` (judge, criterion, gap)."""
        return (
            *super().parameters(prior),
            Parameter("shift", ("judge", "criterion"), Normal(0.0, prior["shift_sd"])),
            Parameter("log_gap_judge", ("judge", "criterion", "gap"), Normal(0.0, prior["judge_gap_sd"])),
        )

    def cutpoint_values(self, values: Values, levels: int, xp: Any) -> Array:
        """Return every judge's cutpoints, shape (..., judges, criteria, levels - 1)."""
        location = values["cut_location"][..., None, :] + values["shift"]
        if "log_gap" not in values:
            return spread_cutpoints(location, None, levels, xp)
        return spread_cutpoints(location, values["log_gap"][..., None, :, :] + values["log_gap_judge"], levels, xp)


def spread_cutpoints(location: Array, log_gap: Array | None, levels: int, xp: Any) -> Array:
    """Cutpoints at distances exp(``log_gap``), with ``location`` midway between the first and the last.

    Parameters
    ----------
    location : array, shape (...)
    log_gap : array, shape (..., levels - 2), or None for two levels

    Returns
    -------
    array, shape (..., levels - 1)
    """
    if log_gap is None:
        return location[..., None]
    gap = xp.exp(log_gap)
    lowest = location - 0.5 * gap.sum(axis=-1)
    return running_sum(xp.concatenate([lowest[..., None], gap], axis=-1), levels - 1, xp)
