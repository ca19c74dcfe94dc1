"""Pairwise: every judge compares pairs of texts overall, by the rubric, without criteria.

Source: the holistic baselines of "MAPLE: Multi-Aspect Panels of LLM Evaluators for Open-Ended Questions"
(Crowd-BT with many judges; the single-model baseline with one judge, or with one name in ``evaluators``).

Inputs: texts, a rubric (optional), the task. Decision rule: the better of two texts; a tie only with ``ties``.
Output: ``votes``. With K judges, N texts and one order there are K N (N - 1) / 2 questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Question, Row, Setting, ask_rows
from voirdire.collect.protocols import pairing
from voirdire.collect.protocols.roles import PanelProtocol, answer_schema

#: Names of the two texts in prompts, and the answer that neither is better.
ANSWERS = ("Text 1", "Text 2", "tie")
#: Start of a comparison's key; criterion (or ""), first, second and run follow.
COMPARISON_KEY = "compare"


async def compare_pairs(
    setting: Setting,
    ask: Ask,
    judge: str,
    template: str,
    variables: Mapping[str, Any],
    *,
    criterion: str | None = None,
    ties: bool = False,
) -> list[Row]:
    """Ask one judge about all pairs of a design, by one criterion or overall.

    Parameters
    ----------
    setting : Setting
        Its options are `PairOptions`.
    ask : callable
        Answers a question.
    judge : str
        Name of the judge.
    template, variables : str and mapping
        The prompt's template, and its variables besides the two texts.
    criterion : str or None
        Value of the column criterion; None for a table without it.
    ties : bool
        True allows the answer "tie".

    Returns
    -------
    list of Row
        Rows of ``votes``, and of ``missing`` for missing answers, ordered by context, run, pair and order.

    Examples
    --------
    >>> import asyncio
    >>> from voirdire.collect.protocol import Answer, Item
    >>> async def ask(question):
    ...     return Answer({"winner": "Text 2"})
    >>> setting = Setting((), (Item("a", "x"), Item("b", "y")), pairing.PairOptions(order="fixed"))
    >>> (vote,) = asyncio.run(compare_pairs(setting, ask, "ann", "pairwise/compare", {}))
    >>> vote.values["winner"]
    'second'
    """
    criterion_column = {} if criterion is None else {"criterion": criterion}
    schema = answer_schema(winner=ANSWERS if ties else ANSWERS[:2])
    requests = []
    for context, items in pairing.items_by_context(setting.items).items():
        pairs = pairing.draw_pairs(setting, items)
        context_column = {} if context is None else {"context": context}
        for first, second, run in pairing.order_pairs(setting, pairs, judge, criterion or "", context or ""):
            shown = {
                **variables,
                "source": first.source if first.source == second.source else None,
                "context": context,
                "first": first.text,
                "second": second.text,
                "first_source": first.source,
                "second_source": second.source,
            }
            values = {
                "judge": judge,
                "first": first.id,
                "second": second.id,
                **criterion_column,
                **context_column,
                "run": run,
            }
            key = (COMPARISON_KEY, criterion or "", first.id, second.id, run)
            requests.append((Question(judge, template, shown, key, schema), values))
    return await ask_rows(ask, requests, "votes", read_winner)


def read_winner(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the column ``winner`` of a comparison's answer.

    Examples
    --------
    >>> read_winner({"winner": "Text 2"})
    {'winner': 'second'}
    """
    return {"winner": pairing.OUTCOMES[ANSWERS.index(answer["winner"])]}


@dataclass(frozen=True)
class PairwiseOptions(pairing.PairOptions):
    """Options of pairwise, in addition to `PairOptions`.

    Attributes
    ----------
    ties : bool
        True allows the answer that neither is better.

    Examples
    --------
    >>> PairwiseOptions().ties
    False
    """

    ties: bool = False


class Pairwise(PanelProtocol):
    """The protocol ``pairwise``."""

    name: ClassVar[str] = "pairwise"
    Options: ClassVar[type[Any]] = PairwiseOptions
    named: ClassVar[tuple[str, ...]] = ("evaluators",)

    def setting_faults(self, setting: Setting) -> list[str]:
        """Return the faults of the design."""
        return pairing.pair_problems(setting)

    def question_bounds(self, setting: Setting) -> tuple[int, int]:
        """Return the number of questions of the design, as both bounds."""
        return (pairing.count_questions(setting),) * 2

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """Ask all comparisons at once."""
        options: PairwiseOptions = setting.options
        shown = {"task": options.task, "rubric": options.rubric, "ties": options.ties}
        return await compare_pairs(setting, ask, judge, "pairwise/compare", shown, ties=options.ties)
