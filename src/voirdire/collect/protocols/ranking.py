"""Ranking: every judge ranks the texts of a context, or names the best and the worst.

Source: Plackett (1975), Applied Statistics 24, for rankings; Louviere, Flynn and Marley (2015), Best-Worst Scaling, for
the best and the worst of a list.

Inputs: texts, a rubric (optional), the task. Decision rule: the judge's order; an answer that does not rank all shown
texts is missing. Output: ``rankings``, rank 1 for the best; with best and worst ranks 1 and 3, others 2. The order of
presentation is random for each judge, context and run. A context of more than ``size`` texts is split randomly into
lists in each round. With K judges and contexts of N texts there are K ceil(N / size) questions per context and round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from voirdire.collect.protocol import Ask, Item, Question, Row, Setting, gather_rows, missing_row
from voirdire.collect.protocols.pairing import items_by_context, keyed_generator
from voirdire.collect.protocols.roles import ListOf, PanelProtocol, answer_schema
from voirdire.settings import Count

MAX_LIST_SIZE, MIN_LIST_SIZE = 10, 3  # texts of a list


@dataclass(frozen=True)
class RankingOptions:
    """Options of ranking.

    Attributes
    ----------
    judges : tuple of str
        Judges of the panel that take part; empty: all.
    wanted : "ranking" or "best-worst"
        Kind of the answer.
    size : int
        Most texts of a list, 3 to 10.
    rounds : int
        Number of times that each judge ranks all texts of a context.
    task : str
        Purpose of the texts.
    rubric : str
        The holistic rubric.

    Examples
    --------
    >>> RankingOptions().size
    10
    """

    judges: tuple[str, ...] = ()
    wanted: Literal["ranking", "best-worst"] = "ranking"
    size: int = MAX_LIST_SIZE
    rounds: Count = 1
    task: str = ""
    rubric: str = ""


class Ranking(PanelProtocol):
    """The protocol ``ranking``."""

    name: ClassVar[str] = "ranking"
    Options: ClassVar[type[Any]] = RankingOptions

    def setting_faults(self, setting: Setting) -> list[str]:
        """Return the faults: lists that are too long or too short."""
        size, faults = setting.options.size, []
        if not MIN_LIST_SIZE <= size <= MAX_LIST_SIZE:
            faults.append(f"option size is {size}; give a whole number from {MIN_LIST_SIZE} to {MAX_LIST_SIZE}")
        for context, items in items_by_context(setting.items).items():
            if len(items) < 2:
                prefix = "items" if context is None else f"context {context!r}"
                faults.append(f"{prefix}: there is one item; give at least two to rank")
        return faults

    def question_bounds(self, setting: Setting) -> tuple[int, int]:
        """Return the number of lists, as both bounds."""
        groups = items_by_context(setting.items).values()
        return (setting.options.rounds * sum(-(-len(items) // setting.options.size) for items in groups),) * 2

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """Ask for all lists at once."""
        return await gather_rows(
            _rank_list(setting, ask, judge, shown, run)
            for context, items in items_by_context(setting.items).items()
            for run, shown in enumerate(ranking_lists(setting, judge, context or "", items), start=1)
        )


def ranking_lists(setting: Setting, judge: str, context: str, items: Sequence[Item]) -> list[list[Item]]:
    """Draw the lists that one judge ranks in one context, in their order of presentation.

    Examples
    --------
    >>> items = [Item(name, "text") for name in "abcdefg"]
    >>> found = ranking_lists(Setting((), (), RankingOptions(size=3)), "ann", "", items)
    >>> [len(one) for one in found], sorted(item.id for one in found for item in one) == list("abcdefg")
    ([3, 2, 2], True)
    """
    options: RankingOptions = setting.options
    rng = keyed_generator(setting.seed, "ranking", judge, context)
    parts = -(-len(items) // options.size)
    return [
        [items[index] for index in part]
        for _ in range(options.rounds)
        for part in np.array_split(rng.permutation(len(items)), parts)
    ]


async def _rank_list(setting: Setting, ask: Ask, judge: str, items: Sequence[Item], run: int) -> list[Row]:
    """Ask for one list; return its rows."""
    options: RankingOptions = setting.options
    names = [f"Text {index + 1}" for index in range(len(items))]
    context, sources = items[0].context, {item.source for item in items}
    shown = {
        "task": options.task,
        "rubric": options.rubric,
        "whole": options.wanted == "ranking",
        "context": context,
        "source": items[0].source if len(sources) == 1 else None,
        "sources": [item.source or "" for item in items] if len(sources) > 1 else [],
        "texts": [item.text for item in items],
    }
    key: tuple[str | int, ...] = ("rank", context or "", *(item.id for item in items), run)
    answer_fields: dict[str, Any] = {"ranking": ListOf(names, len(names), len(names))}
    if options.wanted == "best-worst":
        answer_fields = dict.fromkeys(("best", "worst"), names)
    answer = await ask(Question(judge, "ranking/rank", shown, key, answer_schema(**answer_fields)))
    columns: dict[str, Any] = {"judge": judge} | ({} if context is None else {"context": context}) | {"run": run}
    ranks = {} if answer.content is None else _read_ranks(answer.content, names)
    if len(ranks) < len(names):
        reason = answer.missing or "not every text is named once"
        return [missing_row(key, reason, table="rankings", **columns)]
    return [
        Row("rankings", {**columns, "item": item.id, "rank": ranks[name]})
        for name, item in zip(names, items, strict=True)
    ]


def _read_ranks(content: Mapping[str, Any], names: Sequence[str]) -> dict[str, int]:
    """Return the ranks by name; incomplete if the answer is no valid ranking."""
    if "ranking" in content:
        return {name: rank for rank, name in enumerate(content["ranking"], start=1)}
    if content["best"] == content["worst"]:
        return {}
    return dict.fromkeys(names, 2) | {content["best"]: 1, content["worst"]: 3}
