"""Thresholds of judges who score: cutpoints between the levels of a scale, and severity."""

from __future__ import annotations

from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, running_sum
from voirdire.model.terms.parameters import Normal, Parameter, spread_parameters
from voirdire.model.terms.term import Term, Values


class Severity(Term):
    """Judge k of group g perceives quality lowered by severity_group_g + severity_k, as in Linacre (1989).

    In that model (many-facet Rasch) it shifts logits of adjacent categories; here it shifts cumulative logits.

    ``severity`` ~ Normal(0, sd) with sum zero over the judges, ``severity_group`` ~ Normal(0, group_sd) with sum zero
    over the groups: groups are a level between the panel and its judges. The sums fix the location,
    which belongs to the cutpoints. A table without a column of groups has one group, with severity zero.

    Examples
    --------
    >>> [p.dims for p in Severity().parameters({"sd": 1.0, "group_sd": 0.5})]
    [('judge',), ('group',)]
    """

    kind: ClassVar[str] = "severity"
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "group_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``severity``, one per judge, and ``severity_group``, one per group."""
        return (
            Parameter("severity", ("judge",), Normal(0.0, prior["sd"]), zero_sum=True),
            Parameter("severity_group", ("group",), Normal(0.0, prior["group_sd"]), zero_sum=True),
        )


class SeverityByCriterion(Severity):
    """Judge k's additional severity under criterion c, severity_criterion_c,k ~ Normal(0, s), s ~ Exponential(rate).

    It represents judges who score in different units, or are stricter under one criterion than under another; the sum
    over judges is zero under each criterion.

    Examples
    --------
    >>> [p.name for p in SeverityByCriterion().parameters({"sd": 0.15, "group_sd": 0.1, "rate": 6.0})]
    ['severity', 'severity_group', 'severity_criterion', 'log_severity_spread']
    """

    kind: ClassVar[str] = "severity-by-criterion"
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "group_sd": "positive", "rate": "positive"}
    alone: ClassVar[Severity] = Severity()  # replaces this term with one criterion

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the parameters of :class:`Severity`, ``severity_criterion``, (criterion, judge), and its spread."""
        dims, spread = ("criterion", "judge"), "log_severity_spread"
        criterion_parameters = spread_parameters("severity_criterion", dims, spread, prior["rate"], zero_sum=True)
        return (*super().parameters(prior), *criterion_parameters)


def total_severity(values: Values, group: Array) -> Array:
    """Severity of every judge, including that of its group, shape (..., judges).

    Parameters
    ----------
    values : dict
        ``severity`` and, where there are several groups, ``severity_group``.
    group : int array, shape (judges,)

    Examples
    --------
    >>> import numpy as np
    >>> values = {"severity": np.array([1.0, -1.0]), "severity_group": np.array([0.5, -0.5])}
    >>> total_severity(values, np.array([1, 1])).tolist()
    [0.5, -1.5]
    """
    severity = values["severity"]
    return severity + values["severity_group"][..., group] if "severity_group" in values else severity


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
