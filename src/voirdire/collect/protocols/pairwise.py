"""Pairwise: every judge compares pairs of texts as wholes, by the rubric and without criteria.

Source: the holistic baselines of "MAPLE: Multi-Aspect Panels of LLM Evaluators for Open-Ended Questions"
(Crowd-BT with many judges; with one judge, or ``evaluators`` naming one, the single-model baseline).

Inputs: texts, a rubric (optional), the task. Decision rule: the better of two texts; a tie only if ``ties``
allows it. Output: ``votes``. With K judges, N texts and one order there are K N (N - 1) / 2 questions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Calls, Item, Question, Row, Setting, missing_row
from voirdire.collect.protocols.pairing import (
    OUTCOMES,
    PairOptions,
    count_questions,
    draw_pairs,
    items_by_context,
    order_pairs,
    pair_problems,
)
from voirdire.collect.protocols.roles import (
    choice_schema,
    count_calls,
    judges_for_role,
    partial_column_problems,
    record_schema,
    unknown_judges,
)

#: What the two texts are called when shown, and the answer that neither is better.
ANSWERS = ("Text 1", "Text 2", "tie")
#: How the key of a comparison begins; criterion (or ""), first, second and run follow.
COMPARE = "compare"


async def compare_pairs(
    setting: Setting,
    ask: Ask,
    judge: str,
    *,
    template: str,
    variables: Mapping[str, Any],
    criterion: str | None,
    ties: bool,
) -> list[Row]:
    """Ask one judge about all pairs of a design, by one criterion or as wholes.

    Parameters
    ----------
    setting : Setting
        Its options are `PairOptions`.
    ask : callable
        Answers a question.
    judge : str
        Who compares.
    template, variables : str and mapping
        The prompt, and what it shows beside the two texts.
    criterion : str or None
        The column of that name; None for a table without it.
    ties : bool
        Whether "tie" may be answered.

    Returns
    -------
    list of Row
        Of ``votes``, and of ``missing`` for answers that did not come; contexts, runs, pairs, orders.

    Examples
    --------
    >>> import asyncio
    >>> from voirdire.collect.protocol import Answer
    >>> async def ask(question):
    ...     return Answer({"winner": "Text 2"})
    >>> setting = Setting((), (Item("a", "x"), Item("b", "y")), PairOptions(order="fixed"))
    >>> shown = dict(template="pairwise/compare", variables={}, criterion=None, ties=False)
    >>> [row.values["winner"] for row in asyncio.run(compare_pairs(setting, ask, "ann", **shown))]
    ['second']
    """
    options: PairOptions = setting.options
    own = {} if criterion is None else {"criterion": criterion}
    schema = record_schema(winner=choice_schema(ANSWERS if ties else ANSWERS[:2]))

    def compare_once(first: Item, second: Item, run: int) -> Awaitable[Row]:
        shown = {
            **variables,
            "source": first.source if first.source == second.source else None,
            "context": first.context,
            "first": first.text,
            "second": second.text,
            "first_source": first.source,
            "second_source": second.source,
        }
        context = {} if first.context is None else {"context": first.context}
        values = {"judge": judge, "first": first.id, "second": second.id, **own, **context, "run": run}
        key = (COMPARE, criterion or "", first.id, second.id, run)
        return ask_vote(ask, Question(judge, template, shown, key, schema), "votes", values)

    questions = []
    for context, items in items_by_context(setting.items).items():
        pairs = draw_pairs(options, items, setting.seed)
        for pair in order_pairs(options, pairs, setting.seed, judge, criterion or "", context or ""):
            questions.append(compare_once(items[pair.first], items[pair.second], pair.run))
    return list(await asyncio.gather(*questions))


async def ask_vote(
    ask: Ask,
    question: Question,
    table: str,
    columns: Mapping[str, Any],
    field: str = "winner",
    kept: Sequence[str] = (),
) -> Row:
    """One comparison: its row of the table, or of ``missing``.

    The winner is told by the place among the choices of the answer's field; ``kept`` are further fields of the answer
    that the row has.
    """
    answer = await ask(question)
    if answer.content is None:
        return missing_row(question.key, answer, table=table, **columns)
    choices = (question.schema or {})["properties"][field]["enum"]
    more = {name: answer.content[name] for name in kept}
    return Row(table, {**columns, "winner": OUTCOMES[choices.index(answer.content[field])], **more})


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
        return [
            *unknown_judges(setting, {"evaluators": setting.options.evaluators}),
            *partial_column_problems(setting.items, ["context"]),
            *pair_problems(setting, setting.options),
        ]

    def calls(self, setting: Setting) -> Calls:
        """The pairs of the design, for each judge."""
        each = count_questions(setting, setting.options)
        return count_calls(judges_for_role(setting, setting.options.evaluators), each)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """All comparisons at once."""
        options: PairwiseOptions = setting.options
        shown = {"task": options.task, "rubric": options.rubric, "ties": options.ties}
        how: Any = {"template": "pairwise/compare", "criterion": None, "ties": options.ties}
        judges = judges_for_role(setting, options.evaluators)
        parts = await asyncio.gather(
            *(compare_pairs(setting, ask, judge, variables=shown, **how) for judge in judges)
        )
        return [row for part in parts for row in part]
