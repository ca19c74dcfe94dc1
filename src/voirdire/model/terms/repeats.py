"""Repeated scores of one item by one judge: what the judge makes of the item, apart from run-to-run noise."""

from __future__ import annotations

from typing import ClassVar

from voirdire.model.terms.parameters import Normal, Parameter
from voirdire.model.terms.strength import OF_LEVELS


class JudgeItem:
    """Judge k perceives an item under a criterion shifted by sigma_k z, z ~ Normal(0, 1), the same in all its runs.

    ``log_judge_item`` = log sigma_k ~ Normal(mean, sd). z is integrated out, so that ten runs of one judge are not
    taken for ten opinions. Only in tables where some judge scores an item twice under a criterion: elsewhere sigma_k
    cannot be told from run-to-run noise.

    Examples
    --------
    >>> JudgeItem().parameters({"mean": 0.0, "sd": 1.0})[0].dims
    ('judge',)
    """

    kind: ClassVar[str] = "judge-item"
    says: ClassVar[str] = (
        "only in tables where some judge scores an item twice under a criterion; strengths of a "
        "given sd s then are in units "
        f"of u, log u = log s - mean over all cells of log(1 + l s^2) / 2, {OF_LEVELS}"
    )
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_judge_item``, one per judge."""
        return (Parameter("log_judge_item", ("judge",), Normal(prior["mean"], prior["sd"])),)
