"""Estimate of the questions, tokens and cost of a run, before anything is asked."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.collect.asking import Asking, Unasked
from voirdire.collect.budget import Limits
from voirdire.collect.cost import price, tokens_read, tokens_written
from voirdire.collect.journal import Journal
from voirdire.collect.loop import in_loop
from voirdire.collect.plan import Plan, make_plan


@dataclass(frozen=True, eq=False)
class Estimate:
    """Size of a run, before anything is asked.

    Attributes
    ----------
    protocol : str
    judges : list of dict
        Per judge: whether its requests go in batches, ``calls_least`` and ``calls_most``, tokens read and written and
        cost (in batches half) for the most.
    """

    protocol: str
    judges: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """Return it in the shape of ``voirdire collect --dry-run --json``."""
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
    """Estimate the questions, tokens and cost of :func:`voirdire.collect.collect`; nothing is asked.

    Questions are counted by the protocol, least and most. Tokens read are one per four characters of the prompts
    that are known before any answer (others are taken to be as long on average); tokens written are guessed from the
    schemas. Repetitions are not counted.

    Examples
    --------
    >>> estimate({"judges": []}, "items.csv", "maple")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: ...
    """
    plan = make_plan(panel, items, protocol, options=options, settings=settings, prompts=prompts)
    calls = plan.calls()
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder))
        try:
            asked = in_loop(_questions(plan, journal))
        finally:
            journal.close()
    rows = []
    for judge in plan.setting.judges:
        own = [one for one in asked if one.judge == judge.name] or asked
        read = sum(tokens_read(len(one.system) + len(one.user)) for one in own) / len(own) if own else 0.0
        wrote = sum(tokens_written(one.schema, judge.max_tokens) for one in own) / len(own) if own else 0.0
        most = calls.most[judge.name]
        rows.append(
            {
                "judge": judge.name,
                "batch": judge.batch,
                "calls_least": calls.least[judge.name],
                "calls_most": most,
                "tokens_in": round(read * most),
                "tokens_out": round(wrote * most),
                "cost": price(judge, read * most, wrote * most),
            }
        )
    return Estimate(plan.protocol.name, rows)


async def _questions(plan: Plan, journal: Journal) -> list[Unasked]:
    asking = Asking(plan.setting.judges, plan.prompts, journal, Limits())
    await plan.protocol.run(plan.setting, asking.ask)
    return asking.unasked
