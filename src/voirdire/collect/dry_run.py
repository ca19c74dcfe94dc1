"""Estimate of the questions, tokens and cost of a run, without a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.collect.budget import count_text_tokens, estimate_answer_tokens, token_price
from voirdire.collect.plan import make_plan
from voirdire.collect.rehearsal import rehearse_once


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated size of a run.

    Attributes
    ----------
    protocol : str
    judges : list of dict
        Per judge: ``batch`` (True for batches), ``calls_least`` and ``calls_most``; tokens read and written, and cost
        (half in batches), for the most calls.
    """

    protocol: str
    judges: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """Return the estimate as ``voirdire collect --dry-run --json`` prints it."""
        columns = ("calls_least", "calls_most", "tokens_in", "tokens_out", "cost")
        totals = {column: sum(row[column] for row in self.judges) for column in columns}
        return {"protocol": self.protocol, **totals, "judges": self.judges}


def estimate(
    panel: str | Path | Mapping[str, Any],
    items: object,
    protocol: str,
    *,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, str] | None = None,
    prompts: str | Path | None = None,
) -> Estimate:
    """Estimate the questions, tokens and cost of :func:`voirdire.collect.collect`, without a request.

    The protocol bounds the number of questions. Tokens read: the mean tokens of the prompts of a run with made-up
    answers (see :func:`voirdire.collect.budget.count_text_tokens`), times the largest number of questions. Tokens
    written: estimated from the schemas. Repetitions are not counted.

    Examples
    --------
    >>> estimate({"judges": []}, "items.csv", "maple")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: ...
    """
    plan = make_plan(panel, items, protocol, options=options, settings=settings, prompts=prompts)
    calls = plan.calls()
    question_sizes = []
    for question in rehearse_once(plan.protocol, plan.setting):
        prompt = plan.prompts.render(question.template, question.variables)
        question_sizes.append((question.judge, count_text_tokens(prompt.system + prompt.user), question.schema))
    rows = []
    for judge in plan.setting.judges:
        sample = [entry for entry in question_sizes if entry[0] == judge.name] or question_sizes
        max_calls, size = calls.most[judge.name], max(len(sample), 1)
        read = sum(tokens for _, tokens, _ in sample) / size * max_calls
        wrote = sum(estimate_answer_tokens(schema, judge.max_tokens) for _, _, schema in sample) / size * max_calls
        row = {"judge": judge.name, "batch": judge.batch, "calls_least": calls.least[judge.name]}
        row |= {"calls_most": max_calls, "tokens_in": round(read), "tokens_out": round(wrote)}
        rows.append(row | {"cost": token_price(judge, read, wrote)})
    return Estimate(plan.protocol.name, rows)
