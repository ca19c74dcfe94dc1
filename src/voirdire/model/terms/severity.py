"""Severity of judges, subtracted from every item's quality, by group and by judge."""

from __future__ import annotations

from typing import ClassVar

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Normal, Parameter, spread_parameters
from voirdire.model.terms.reliability import Values
from voirdire.model.terms.term import Term


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
