"""Pairwise: every judge compares pairs of texts as wholes, by the rubric and without criteria.

Source: the holistic baselines of "MAPLE: Multi-Aspect Panels of LLM Evaluators for Open-Ended Questions"
(Crowd-BT with many judges; with one judge, or ``evaluators`` naming one, the single-model baseline).

Inputs: texts, a rubric (optional), the task. Decision rule: the better of two texts; a tie only if ``ties``
allows it. Output: ``votes``. With K judges, N texts and one order there are K N (N - 1) / 2 questions.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Calls, Row, Setting
from voirdire.collect.protocols.pairing import PairOptions, number_of_pairs, pair_problems
from voirdire.collect.protocols.roles import takers, uneven, unknown
from voirdire.collect.protocols.votes import compare


@dataclass(frozen=True)
class PairwiseOptions(PairOptions):
    """Options of pairwise, beside those of every comparison of pairs.

    Attributes
    ----------
    ties : bool
        Whether a judge may say that neither is better.

    Examples
    --------
    >>> PairwiseOptions().ties
    False
    """

    ties: bool = False


class Pairwise:
    """The protocol ``pairwise``."""

    name: ClassVar[str] = "pairwise"
    Options: ClassVar[type[Any]] = PairwiseOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an unsuitable design."""
        options: PairwiseOptions = setting.options
        named = unknown(setting, {"evaluators": options.evaluators})
        return [*named, *uneven(setting.items, ["context"]), *pair_problems(setting, options)]

    def calls(self, setting: Setting) -> Calls:
        """The pairs of the design, for each judge."""
        each = number_of_pairs(setting, setting.options)
        counts = dict.fromkeys(takers(setting, setting.options.evaluators), each)
        return Calls(counts, counts)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """All comparisons at once."""
        options: PairwiseOptions = setting.options
        shown = {"task": options.task, "rubric": options.rubric, "ties": options.ties}
        parts = await asyncio.gather(
            *(
                compare(
                    setting,
                    ask,
                    judge,
                    template="pairwise/compare",
                    variables=shown,
                    criterion=None,
                    ties=options.ties,
                )
                for judge in takers(setting, options.evaluators)
            )
        )
        return [row for part in parts for row in part]
