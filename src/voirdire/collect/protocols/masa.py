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
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

from voirdire.collect.protocol import Answer, Ask, Calls, Question, Row, Setting, missing_row
from voirdire.collect.protocols.masa_setting import MasaOptions, masa_evaluators, masa_problems
from voirdire.collect.protocols.pairing import OUTCOMES
from voirdire.collect.protocols.pairwise import ANSWERS
from voirdire.collect.protocols.roles import choice_schema, record_schema, text_schema

CRITERION, TIE = "factual-error", "tie"


class _Summary(NamedTuple):
    context: str
    system: str
    source: str
    text: str


class Masa:
    """The protocol ``masa``."""

    name: ClassVar[str] = "masa"
    Options: ClassVar[type[Any]] = MasaOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown or missing judges and systems; summaries without source, context or system, or twice."""
        return masa_problems(setting)

    def calls(self, setting: Setting) -> Calls:
        """Summaries; for each evaluator the pairs in both orders and all runs, and the errors."""
        options: MasaOptions = setting.options
        counts: Counter[str] = Counter()
        if options.given:
            sizes = list(Counter(item.context for item in setting.items).values())
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
        summaries, rows = await self._make_summaries(setting, ask)
        contexts: dict[str, list[_Summary]] = {}
        for summary in summaries:
            contexts.setdefault(summary.context, []).append(summary)
        reference = options.reference if options.against == "reference" else None
        pairs = [pair for group in contexts.values() for pair in _summary_pairs(group, reference)]
        judges = masa_evaluators(setting)
        looked = summaries if options.errors else []
        parts = await asyncio.gather(
            *(self._compare_both_ways(options, ask, judge, *pair) for judge in judges for pair in pairs),
            *(
                self._ask_summary_error(options, ask, judge, summary)
                for judge in judges
                for summary in looked
            ),
        )
        return [*rows, *(row for part in parts for row in part)]

    async def _make_summaries(self, setting: Setting, ask: Ask) -> tuple[list[_Summary], list[Row]]:
        options: MasaOptions = setting.options
        if options.given:
            return [
                _Summary(str(item.context), str(item.system), str(item.source), item.text)
                for item in setting.items
            ], []
        schema = record_schema(summary=text_schema(options.longest))
        questions = []
        for item in setting.items:
            shown = {"task": options.task, "source": item.text, "question": item.context}
            for writer in (*options.summarizers, options.reference):
                questions.append(Question(writer, "masa/summarise", shown, ("summarise", item.id), schema))
        answers = await asyncio.gather(*map(ask, questions))
        found, rows = [], []
        for question, answer in zip(questions, answers, strict=True):
            context = str(question.key[1])
            what = {"judge": question.judge, "context": context, "system": question.judge, "kind": "summary"}
            if answer.content is None:
                rows.append(missing_row(question.key, answer, table="texts", **what))
                continue
            text = str(answer.content["summary"])
            rows.append(Row("texts", {**what, "text": text}))
            found.append(_Summary(context, question.judge, str(question.variables["source"]), text))
        return found, rows

    async def _compare_both_ways(
        self, options: MasaOptions, ask: Ask, judge: str, one: _Summary, other: _Summary
    ) -> list[Row]:
        runs = range(1, options.runs + 1)
        shown = [(first, second, run) for first, second in ((one, other), (other, one)) for run in runs]
        answers = await asyncio.gather(*(self._ask_vote(options, ask, judge, *place) for place in shown))
        rows = [row for row, _ in answers]
        winners = [winner for _, winner in answers]
        orders = majority_of_runs(winners[: options.runs]), majority_of_runs(winners[options.runs :])
        decision = winner_of_both_orders(*orders)
        columns = {"judge": judge, "first": one.system, "second": other.system, "context": one.context}
        if decision is None:
            key = ("decide", one.context, one.system, other.system)
            lost = Answer(None, "the decision hangs on missing answers")
            return [*rows, missing_row(key, lost, table="decisions", **columns)]
        told = {"shown_first": orders[0] or "", "shown_second": orders[1] or ""}
        return [*rows, Row("decisions", {**columns, "winner": decision, **told})]

    async def _ask_vote(
        self, options: MasaOptions, ask: Ask, judge: str, first: _Summary, second: _Summary, run: int
    ) -> tuple[Row, str | None]:
        enhanced = options.guidance == "enhanced"
        fields: dict[str, Mapping[str, Any]] = {"reasoning": text_schema(options.longest)} if enhanced else {}
        fields["winner"] = choice_schema(ANSWERS)
        if enhanced:
            fields["confidence"] = choice_schema(["low", "medium", "high"])
        shown = {"task": options.task, "source": first.source, "first": first.text, "second": second.text}
        key = ("compare", first.context, first.system, second.system, run)
        answer = await ask(Question(judge, f"masa/{options.guidance}", shown, key, record_schema(**fields)))
        columns = {"judge": judge, "first": first.system, "second": second.system}
        columns |= {"context": first.context}
        if answer.content is None:
            return missing_row(key, answer, table="votes", **columns, run=run), None
        outcome = OUTCOMES[ANSWERS.index(answer.content["winner"])]
        more = {name: answer.content[name] for name in ("confidence", "reasoning") if enhanced}
        winner = {"first": first.system, "second": second.system}.get(outcome, outcome)
        return Row("votes", {**columns, "winner": outcome, "run": run, **more}), winner

    async def _ask_summary_error(
        self, options: MasaOptions, ask: Ask, judge: str, summary: _Summary
    ) -> list[Row]:
        schema = record_schema(reasoning=text_schema(options.longest), error=choice_schema(["yes", "no"]))
        shown = {"task": options.task, "source": summary.source, "summary": summary.text}
        key = ("error", summary.context, summary.system)
        answer = await ask(Question(judge, "masa/error", shown, key, schema))
        columns: dict[str, Any] = {
            "judge": judge,
            "item": f"{summary.context} / {summary.system}",
            "criterion": CRITERION,
        }
        columns |= {"context": summary.context, "system": summary.system, "run": 1}
        if answer.content is None:
            return [missing_row(key, answer, table="labels", **columns)]
        found = {"label": answer.content["error"], "reasoning": answer.content["reasoning"]}
        return [Row("labels", {**columns, **found})]


def _summary_pairs(group: list[_Summary], reference: str | None) -> list[tuple[_Summary, _Summary]]:
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
