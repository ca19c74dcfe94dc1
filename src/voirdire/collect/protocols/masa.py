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

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import (
    Ask,
    Calls,
    Item,
    Question,
    Row,
    Setting,
    ask_rows,
    gather_rows,
    missing_row,
)
from voirdire.collect.protocols import pairing
from voirdire.collect.protocols.pairwise import ANSWERS, read_winner
from voirdire.collect.protocols.roles import YES_NO, PanelProtocol, answer_schema, unknown_judges
from voirdire.settings import Count, Size

CRITERION = "factual-error"


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


class Masa(PanelProtocol):
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
    named: ClassVar[tuple[str, ...]] = ("evaluators",)
    columns: ClassVar[tuple[str, ...]] = ()

    def others(self, options: MasaOptions) -> tuple[str, ...]:
        """Judges that summarise."""
        return () if options.given else (*options.summarizers, options.reference)

    def setting_faults(self, setting: Setting) -> list[str]:
        """Missing judges and systems; summaries without source, context or system, or twice."""
        options: MasaOptions = setting.options
        faults = []
        if not self.judges(setting):
            faults.append("no judge is left to evaluate; name evaluators, or add a judge to the panel")
        if options.given:
            return faults + _given_summary_problems(setting)
        writers = {"summarizers": options.summarizers, "reference": options.reference}
        faults += unknown_judges(setting, writers)
        if not options.summarizers:
            faults.append("option summarizers is empty; name judges that summarise, or set given = true")
        if not options.reference:
            faults.append("option reference is empty; name the judge whose summaries are the reference")
        if options.reference in options.summarizers:
            faults.append(f"option summarizers: {options.reference!r} is the reference; name it there alone")
        return faults + [
            f"judge {name!r}: a vote's winner may be called so; rename it"
            for name in (*options.summarizers, options.reference)
            if name in pairing.OUTCOMES
        ]

    def bounds(self, setting: Setting) -> tuple[int, int]:
        """The pairs in both orders and all runs, and the errors."""
        options, summaries = setting.options, _planned_summaries(setting)
        pairs = 2 * options.runs * len(_summary_pairs(options, summaries))
        return (pairs + options.errors * len(summaries),) * 2

    def calls(self, setting: Setting) -> Calls:
        """Number of calls of each evaluator, and of the summaries."""
        counts = Counter(super().calls(setting).most)
        if not setting.options.given:
            counts.update(str(summary.system) for summary in _planned_summaries(setting))
        return Calls(counts, counts)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Summaries, then all comparisons and errors at once."""
        summaries, rows, judges = _planned_summaries(setting), list[Row](), self.judges(setting)
        if not setting.options.given:
            summaries = await _make_summaries(setting, summaries, ask, rows)
        with_summaries = replace(setting, items=tuple(summaries))
        parts = [self.judge_rows(with_summaries, ask, judge) for judge in judges]
        parts += [
            _ask_errors(with_summaries, ask, judge) for judge in judges if with_summaries.options.errors
        ]
        return [*rows, *await gather_rows(parts)]

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """The comparisons of summaries, which are the items."""
        pairs = _summary_pairs(setting.options, setting.items)
        return await gather_rows(_compare_both_ways(setting.options, ask, judge, *pair) for pair in pairs)


def _planned_summaries(setting: Setting) -> Sequence[Item]:
    """The summaries that are given, or those to be made: their context the source's name, their system the writer."""
    options: MasaOptions = setting.options
    if options.given:
        return setting.items
    writers = (*options.summarizers, options.reference)
    return [
        Item(item.id, "", context=item.id, system=writer, source=item.text)
        for item in setting.items
        for writer in writers
    ]


async def _make_summaries(
    setting: Setting, summaries: Sequence[Item], ask: Ask, rows: list[Row]
) -> Sequence[Item]:
    """The summaries with their texts, without those that are missing."""
    options: MasaOptions = setting.options
    schema = answer_schema(options.longest, summary=str)
    contexts = {item.id: item.context for item in setting.items}
    requests = []
    for summary in summaries:
        shown = {"task": options.task, "source": summary.source, "question": contexts[summary.id]}
        question = Question(str(summary.system), "masa/summarise", shown, ("summarise", summary.id), schema)
        columns = {
            "judge": summary.system,
            "context": summary.id,
            "system": summary.system,
            "kind": "summary",
        }
        requests.append((question, columns))
    text_rows = await ask_rows(ask, requests, "texts", lambda answer: {"text": answer["summary"]})
    rows += text_rows
    pairs = zip(summaries, text_rows, strict=True)
    return [replace(summary, text=row.values["text"]) for summary, row in pairs if row.table == "texts"]


async def _compare_both_ways(options: MasaOptions, ask: Ask, judge: str, one: Item, other: Item) -> list[Row]:
    """All votes of a judge on a pair, and its decision."""
    fields: dict[str, Any] = {"winner": ANSWERS}
    if options.guidance == "enhanced":
        fields = {"reasoning": str, **fields, "confidence": ["low", "medium", "high"]}
    schema = answer_schema(options.longest, **fields)
    requests = []
    for first, second in ((one, other), (other, one)):
        shown = {"task": options.task, "source": first.source, "first": first.text, "second": second.text}
        columns = {"judge": judge, "first": first.system, "second": second.system, "context": one.context}
        for run in range(1, options.runs + 1):
            key = ("compare", str(one.context), str(first.system), str(second.system), run)
            question = Question(judge, f"masa/{options.guidance}", shown, key, schema)
            requests.append((question, {**columns, "run": run}))

    def read_vote(found: Mapping[str, Any]) -> dict[str, Any]:
        optional = {part: found[part] for part in ("confidence", "reasoning") if part in found}
        return {**read_winner(found), **optional}

    rows = await ask_rows(ask, requests, "votes", read_vote)
    winners = [_winning_system(row.values) for row in rows]
    order_winners = winners[: options.runs], winners[options.runs :]
    majorities = [pairing.majority_of_runs(answers) for answers in order_winners]
    decision = pairing.winner_of_both_orders(*majorities)
    columns = {"judge": judge, "first": one.system, "second": other.system, "context": one.context}
    if decision is None:
        missing_key = ("decide", str(one.context), str(one.system), str(other.system))
        reason = "the decision hangs on missing answers"
        return [*rows, missing_row(missing_key, reason, table="decisions", **columns)]
    shown_winners = {"shown_first": majorities[0] or "", "shown_second": majorities[1] or ""}
    return [*rows, Row("decisions", {**columns, "winner": decision, **shown_winners})]


async def _ask_errors(setting: Setting, ask: Ask, judge: str) -> list[Row]:
    """Ask whether each summary has a factual error."""
    options: MasaOptions = setting.options
    schema = answer_schema(options.longest, reasoning=str, error=YES_NO)
    requests = []
    for item in setting.items:
        shown = {"task": options.task, "source": item.source, "summary": item.text}
        key = ("error", str(item.context), str(item.system))
        columns: dict[str, Any] = {"judge": judge, "item": f"{item.context} / {item.system}"}
        columns |= {"criterion": CRITERION, "context": item.context, "system": item.system, "run": 1}
        requests.append((Question(judge, "masa/error", shown, key, schema), columns))

    def read_label(found: Mapping[str, Any]) -> dict[str, Any]:
        return {"label": found["error"], "reasoning": found["reasoning"]}

    return await ask_rows(ask, requests, "labels", read_label)


def _winning_system(vote: Mapping[str, Any]) -> str | None:
    """The system that a vote is for, "tie", or None of an answer that is missing."""
    winner = vote.get("winner")
    return vote.get(winner, winner) if winner else None


def _summary_pairs(options: MasaOptions, summaries: Sequence[Item]) -> list[tuple[Item, Item]]:
    """The pairs of each source: each summary with the reference, or all; none with a summary that is missing."""
    groups = pairing.items_by_context(summaries).values()
    if options.against == "all":
        return [pair for group in groups for pair in combinations(group, 2)]
    references = {summary.context: summary for summary in summaries if summary.system == options.reference}
    others = (summary for group in groups for summary in group if summary.system != options.reference)
    return [(summary, references[summary.context]) for summary in others if summary.context in references]


def _given_summary_problems(setting: Setting) -> list[str]:
    options: MasaOptions = setting.options
    problems: list[str] = []
    seen: dict[tuple[str | None, str | None], str] = {}
    for item in setting.items:
        problems += [
            f"item {item.id!r} has no {column}; given = true needs context, source and system"
            for column in ("context", "source", "system")
            if not getattr(item, column)
        ]
        if item.system in pairing.OUTCOMES:
            problems.append(
                f"item {item.id!r}: system {item.system!r} is what a winner may be called; rename it"
            )
        earlier = seen.setdefault((item.context, item.system), item.id)
        if earlier != item.id and item.context and item.system:
            origin = f"by {item.system!r} in context {item.context!r}"
            problems.append(f"items {earlier!r} and {item.id!r} are both {origin}; keep one")
    if options.against == "reference":
        systems = {item.system for item in setting.items}
        if options.reference not in systems:
            system_names = ", ".join(sorted(str(system) for system in systems))
            return [
                *problems,
                f"option reference: {options.reference!r} is none of the systems {system_names}",
            ]
        referenced = {item.context for item in setting.items if item.system == options.reference}
        lacking = dict.fromkeys(item.context for item in setting.items if item.context not in referenced)
        problems += [f"context {context!r} has no summary by {options.reference!r}" for context in lacking]
    return problems
