"""Comparisons of texts in pairs: the questions of one judge by one criterion, and their votes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from voirdire.collect.protocol import Ask, Item, Question, Row, Setting, missing
from voirdire.collect.protocols.pairing import OUTCOMES, PairOptions, asked, by_context, drawn
from voirdire.collect.protocols.schemas import choice, record

#: What the two texts are called when shown, and the answer that neither is better.
ANSWERS = ("Text 1", "Text 2", "tie")
#: How the key of a comparison begins; criterion (or ""), first, second and run follow.
COMPARE = "compare"


async def compare(
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
    >>> [row.values["winner"] for row in asyncio.run(compare(setting, ask, "ann", **shown))]
    ['second']
    """
    options: PairOptions = setting.options
    schema = record(winner=choice(ANSWERS if ties else ANSWERS[:2]))

    async def one(first: Item, second: Item, run: int) -> Row:
        shown = {
            **variables,
            "source": first.source if first.source == second.source else None,
            "context": first.context,
            "first": first.text,
            "second": second.text,
            "first_source": first.source,
            "second_source": second.source,
        }
        key = (COMPARE, criterion or "", first.id, second.id, run)
        answer = await ask(Question(judge, template, shown, key, schema))
        values: dict[str, Any] = {"judge": judge, "first": first.id, "second": second.id}
        values |= {} if criterion is None else {"criterion": criterion}
        values |= {} if first.context is None else {"context": first.context}
        values["run"] = run
        if answer.content is None:
            return missing(key, answer, table="votes", **values)
        return Row("votes", {**values, "winner": OUTCOMES[ANSWERS.index(answer.content["winner"])]})

    questions = []
    for context, items in by_context(setting.items).items():
        group = context or ""
        pairs = drawn(options, [item.id for item in items], setting.seed, group)
        for pair in asked(options, pairs, setting.seed, judge, criterion or "", group):
            questions.append(one(items[pair.first], items[pair.second], pair.run))
    return list(await asyncio.gather(*questions))
