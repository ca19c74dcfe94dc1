"""MASA: several models summarise, judges compare the summaries with those of a reference model.

Source: "A Multiagent Summarization and Auto-Evaluation Framework for Medical Text", Methods.

Inputs: sources (each item's text) that ``summarizers`` and the ``reference``, judges of the panel, summarise;
or summaries that are there (``given = true``: each item is one, with columns context, source and system;
``reference`` is a system).

1. Every summary is compared with the reference model's of the same source (referenced Condorcet assessment: n -
   1 comparisons instead of n (n - 1) / 2; ``against = "all"`` for all pairs). Who wrote a summary is not shown.
   Coherence, consistency, fluency and relevance are asked for by name (``guidance = "baseline"``), or defined,
   with steps, brevity against detail, hallucinations and facts above all (``"enhanced"``, which also asks for a
   confidence).
2. Each pair is shown in both orders, R ``runs`` each; the answer is one of the two or a tie.
3. Majority: in each order the answer of more than half of the R runs, else a tie. Swap: a winner only if it
   wins in both orders, else a tie.
4. With ``errors``, each evaluator says of each summary whether it has a factual error: something that
   contradicts its source or established knowledge. Content that the source merely does not mention is none.

Outputs: ``votes`` (all answers; items are systems, contexts are sources; ``confidence``), ``decisions`` (one
per evaluator, source and pair), ``labels`` (criterion ``factual-error``: yes, no), ``texts`` (summaries). A
decision that hangs on a missing answer is missing. Questions: one for each summary; for each evaluator, 2 R for
each pair and one for each summary.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Answer, Ask, Calls, Item, Question, Row, Setting, ask_all, missing_row
from voirdire.collect.protocols.pairing import OUTCOMES, items_by_context
from voirdire.collect.protocols.pairwise import ANSWERS, ask_vote
from voirdire.collect.protocols.roles import (
    choice_schema,
    judges_for_role,
    record_schema,
    text_schema,
    unknown_judges,
)
from voirdire.settings import Count, Size

CRITERION, TIE = "factual-error", "tie"


@dataclass(frozen=True)
class MasaOptions:
    """Options of masa.

    Attributes
    ----------
    summarizers : tuple of str
        Judges that summarise and do not evaluate.
    reference : str
        The judge, or with ``given`` the system, whose summaries the others are compared with.
    evaluators : tuple of str
        Judges that compare; none named: all that do not summarise.
    given : bool
        Whether the items are summaries already.
    against : "reference" or "all"
        Comparisons with the reference, or of all pairs.
    runs : int
        R, the runs in each order.
    guidance : "baseline" or "enhanced"
        Which prompt compares.
    errors : bool
        Whether factual errors are asked for.
    task : str
        What is summarised, and for whom.
    longest : int
        Most characters of each free text in an answer; 0: no bound.

    Examples
    --------
    >>> MasaOptions().against, MasaOptions().runs
    ('reference', 3)
    """

    summarizers: tuple[str, ...] = ()
    reference: str = ""
    evaluators: tuple[str, ...] = ()
    given: bool = False
    against: Literal["reference", "all"] = "reference"
    runs: Count = 3
    guidance: Literal["baseline", "enhanced"] = "enhanced"
    errors: bool = True
    task: str = ""
    longest: Size = 0


class Masa:
    """The protocol ``masa``.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> setting = Setting((Judge("ann", "m"),), (Item("a", "x"),), MasaOptions(summarizers=("ann",)))
    >>> for problem in Masa().problems(setting):
    ...     print(problem)
    no judge is left to evaluate; name evaluators, or add a judge to the panel
    option reference is empty; name the judge whose summaries are the reference
    """

    name: ClassVar[str] = "masa"
    Options: ClassVar[type[Any]] = MasaOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown or missing judges and systems; summaries without source, context or system, or twice."""
        options: MasaOptions = setting.options
        found = unknown_judges(setting, {"evaluators": options.evaluators})
        if not masa_evaluators(setting):
            found.append("no judge is left to evaluate; name evaluators, or add a judge to the panel")
        if options.given:
            return found + _given_summary_problems(setting)
        named = {
            "summarizers": options.summarizers,
            "reference": [options.reference] if options.reference else [],
        }
        found += unknown_judges(setting, named)
        if not options.summarizers:
            found.append("option summarizers is empty; name judges that summarise, or set given = true")
        if not options.reference:
            found.append("option reference is empty; name the judge whose summaries are the reference")
        if options.reference in options.summarizers:
            found.append(f"option summarizers: {options.reference!r} is the reference; name it there alone")
        return found + [
            f"judge {name!r}: a vote's winner may be called so; rename it"
            for name in (*options.summarizers, options.reference)
            if name in OUTCOMES
        ]

    def calls(self, setting: Setting) -> Calls:
        """Summaries; for each evaluator the pairs in both orders and all runs, and the errors."""
        options: MasaOptions = setting.options
        counts: Counter[str] = Counter()
        if options.given:
            sizes = [len(items) for items in items_by_context(setting.items).values()]
        else:
            for name in (*options.summarizers, options.reference):
                counts[name] += len(setting.items)
            sizes = [len(options.summarizers) + 1] * len(setting.items)
        pairs = sum(size - 1 if options.against == "reference" else size * (size - 1) // 2 for size in sizes)
        for name in masa_evaluators(setting):
            counts[name] += 2 * options.runs * pairs + options.errors * sum(sizes)
        return Calls(counts, counts)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Summaries, then all comparisons and errors at once."""
        options: MasaOptions = setting.options
        rows: list[Row] = []
        summaries = setting.items if options.given else await self._make_summaries(setting, ask, rows)
        reference = options.reference if options.against == "reference" else None
        groups = items_by_context(summaries).values()
        pairs = [pair for group in groups for pair in _summary_pairs(group, reference)]
        judges = masa_evaluators(setting)
        looked = summaries if options.errors else []
        parts = await asyncio.gather(
            *(self._compare_both_ways(options, ask, judge, *pair) for judge in judges for pair in pairs),
            *(self._ask_error(options, ask, judge, summary) for judge in judges for summary in looked),
        )
        return [*rows, *(row for part in parts for row in part)]

    async def _make_summaries(self, setting: Setting, ask: Ask, rows: list[Row]) -> list[Item]:
        """Summaries that were made, as items whose context is the source's name and whose system is the writer."""
        options: MasaOptions = setting.options
        schema = record_schema(summary=text_schema(options.longest))
        asked, wanted = [], []
        for item in setting.items:
            shown = {"task": options.task, "source": item.text, "question": item.context}
            for writer in (*options.summarizers, options.reference):
                what = {"judge": writer, "context": item.id, "system": writer, "kind": "summary"}
                question = Question(writer, "masa/summarise", shown, ("summarise", item.id), schema)
                asked.append((question, {"table": "texts", **what}))
                wanted.append((what, Item(item.id, "", context=item.id, system=writer, source=item.text)))
        found = []
        for (what, item), content in zip(wanted, await ask_all(ask, asked, rows), strict=True):
            if content is not None:
                rows.append(Row("texts", {**what, "text": content["summary"]}))
                found.append(replace(item, text=content["summary"]))
        return found

    async def _compare_both_ways(
        self, options: MasaOptions, ask: Ask, judge: str, one: Item, other: Item
    ) -> list[Row]:
        runs = range(1, options.runs + 1)
        shown = [(first, second, run) for first, second in ((one, other), (other, one)) for run in runs]
        rows = await asyncio.gather(*(self._ask_vote(options, ask, judge, *place) for place in shown))
        winners = [_winning_system(row.values) for row in rows]
        orders = majority_of_runs(winners[: options.runs]), majority_of_runs(winners[options.runs :])
        decision = winner_of_both_orders(*orders)
        columns = {"judge": judge, "first": one.system, "second": other.system, "context": one.context}
        if decision is None:
            key = ("decide", str(one.context), str(one.system), str(other.system))
            lost = Answer(None, "the decision hangs on missing answers")
            return [*rows, missing_row(key, lost, table="decisions", **columns)]
        told = {"shown_first": orders[0] or "", "shown_second": orders[1] or ""}
        return [*rows, Row("decisions", {**columns, "winner": decision, **told})]

    async def _ask_vote(
        self, options: MasaOptions, ask: Ask, judge: str, first: Item, second: Item, run: int
    ) -> Row:
        fields: dict[str, Mapping[str, Any]] = {"winner": choice_schema(ANSWERS)}
        kept = ("confidence", "reasoning") if options.guidance == "enhanced" else ()
        if kept:
            sure = choice_schema(["low", "medium", "high"])
            fields = {"reasoning": text_schema(options.longest), **fields, "confidence": sure}
        shown = {"task": options.task, "source": first.source, "first": first.text, "second": second.text}
        key = ("compare", str(first.context), str(first.system), str(second.system), run)
        question = Question(judge, f"masa/{options.guidance}", shown, key, record_schema(**fields))
        columns = {"judge": judge, "first": first.system, "second": second.system, "context": first.context}
        return await ask_vote(ask, question, "votes", {**columns, "run": run}, kept=kept)

    async def _ask_error(self, options: MasaOptions, ask: Ask, judge: str, summary: Item) -> list[Row]:
        schema = record_schema(reasoning=text_schema(options.longest), error=choice_schema(["yes", "no"]))
        shown = {"task": options.task, "source": summary.source, "summary": summary.text}
        key = ("error", str(summary.context), str(summary.system))
        item = f"{summary.context} / {summary.system}"
        columns: dict[str, Any] = {"judge": judge, "item": item, "criterion": CRITERION}
        columns |= {"context": summary.context, "system": summary.system, "run": 1}
        answer = await ask(Question(judge, "masa/error", shown, key, schema))
        if answer.content is None:
            return [missing_row(key, answer, table="labels", **columns)]
        found = {"label": answer.content["error"], "reasoning": answer.content["reasoning"]}
        return [Row("labels", {**columns, **found})]


def _winning_system(vote: Mapping[str, Any]) -> str | None:
    """The system that a vote is for, "tie", or None of an answer that is missing."""
    winner = vote.get("winner")
    return vote.get(winner, winner) if winner else None


def _summary_pairs(group: list[Item], reference: str | None) -> list[tuple[Item, Item]]:
    """The pairs of one source: each with the reference, or all; none with a summary that is missing."""
    if reference is None:
        return list(combinations(group, 2))
    base = [summary for summary in group if summary.system == reference]
    return [(summary, base[0]) for summary in group if base and summary.system != reference]


def majority_of_runs(answers: Sequence[str | None]) -> str | None:
    """The answer of more than half of the runs, "tie" without one, None if that hangs on a missing answer.

    Examples
    --------
    >>> majority_of_runs(["a", "b", "a"]), majority_of_runs(["a", "b", "tie"])
    ('a', 'tie')
    >>> majority_of_runs(["a", "a", None]), majority_of_runs(["a", "b", None])
    ('a', None)
    """
    given = Counter(answer for answer in answers if answer is not None)
    gaps = len(answers) - given.total()
    for answer, count in given.items():
        if 2 * count > len(answers):
            return answer
    # whether the missing answers could make anything but a tie
    best = max((count for answer, count in given.items() if answer != TIE), default=0)
    return TIE if 2 * (best + gaps) <= len(answers) else None


def winner_of_both_orders(one: str | None, other: str | None) -> str | None:
    """The winner in both orders (named by item, not by position), "tie" if they differ, None if unknown.

    Examples
    --------
    >>> [winner_of_both_orders(*one) for one in (("a", "a"), ("a", "b"), ("tie", None), ("a", None))]
    ['a', 'tie', 'tie', None]
    """
    if one is None or other is None:
        return TIE if TIE in (one, other) else None
    return one if one == other else TIE


def masa_evaluators(setting: Setting) -> tuple[str, ...]:
    """Judges that compare: those named, or all that do not summarise.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> panel = Judge("ann", "m"), Judge("bob", "m"), Judge("cay", "m")
    >>> masa_evaluators(Setting(panel, (), MasaOptions(summarizers=("ann",), reference="bob")))
    ('cay',)
    """
    options: MasaOptions = setting.options
    writers = () if options.given else (*options.summarizers, options.reference)
    return judges_for_role(setting, options.evaluators, without=writers)


def _given_summary_problems(setting: Setting) -> list[str]:
    options: MasaOptions = setting.options
    found: list[str] = []
    seen: dict[tuple[str | None, str | None], str] = {}
    for item in setting.items:
        found += [
            f"item {item.id!r} has no {column}; given = true needs context, source and system"
            for column in ("context", "source", "system")
            if not getattr(item, column)
        ]
        if item.system in OUTCOMES:
            found.append(
                f"item {item.id!r}: system {item.system!r} is what a winner may be called; rename it"
            )
        earlier = seen.setdefault((item.context, item.system), item.id)
        if earlier != item.id and item.context and item.system:
            found.append(
                f"items {earlier!r} and {item.id!r} are both by {item.system!r} in context"
                f" {item.context!r}; keep one"
            )
    if options.against == "reference":
        systems = {item.system for item in setting.items}
        if options.reference not in systems:
            known = ", ".join(sorted(str(system) for system in systems))
            return [*found, f"option reference: {options.reference!r} is none of the systems {known}"]
        have = {item.context for item in setting.items if item.system == options.reference}
        lacking = dict.fromkeys(item.context for item in setting.items if item.context not in have)
        found += [f"context {context!r} has no summary by {options.reference!r}" for context in lacking]
    return found
