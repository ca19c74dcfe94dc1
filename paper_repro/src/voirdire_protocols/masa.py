"""MASA: several models summarise; judges compare the summaries with those of a reference model.

Source: "A Multiagent Summarization and Auto-Evaluation Framework for Medical Text", Methods.

Inputs: sources (each item's text), summarised by ``summarizers`` and the ``reference``, judges of the panel; or
existing summaries (``given = true``: each item is a summary, with columns context, source and system; ``reference``
is a system).

1. Every summary is compared with the reference model's summary of the same source (referenced Condorcet assessment:
   n - 1 comparisons instead of n (n - 1) / 2; ``against = "all"``: all pairs). Prompts do not show the authors. The
   prompt names coherence, consistency, fluency and relevance (``guidance = "baseline"``), or defines them, with steps
   and rules on brevity, detail, hallucinations and the priority of facts (``"enhanced"``, which also asks for a
   confidence).
2. Each pair is shown in both orders, R ``runs`` each; the answer is one of the two or a tie.
3. Majority: in each order the answer of more than half of the R runs, else a tie. Swap: a winner only if it
   wins in both orders, else a tie.
4. With ``errors``, each evaluator says for each summary if it has a factual error: a contradiction to its source
   or to established knowledge. Content that the source does not mention is no error.

Outputs: ``votes`` (all answers; items are systems, contexts are sources; ``confidence``), ``decisions`` (one
per evaluator, source and pair), ``labels`` (criterion ``factual-error``: yes, no), ``texts`` (summaries). A
decision that depends on a missing answer is missing. Questions: one for each summary; for each evaluator, 2 R for
each pair and one for each summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Ask, Calls, Item, Question, Row, Setting, ask_rows, gather_rows, missing_row
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
        The reference judge, or with ``given`` the reference system; its summaries are compared with the others.
    evaluators : tuple of str
        Judges that compare; empty: all that do not summarise.
    given : bool
        True if the items are summaries already.
    against : "reference" or "all"
        Comparisons with the reference, or of all pairs.
    runs : int
        R, the runs in each order.
    guidance : "baseline" or "enhanced"
        Prompt of the comparisons.
    errors : bool
        True asks for factual errors.
    task : str
        Kind of the sources, and audience of the summaries.
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

    def judges_with_other_roles(self, options: MasaOptions) -> tuple[str, ...]:
        """Return the judges that summarise."""
        return () if options.given else (*options.summarizers, options.reference)

    def setting_faults(self, setting: Setting) -> list[str]:
        """Return the faults: missing judges or systems; summaries without source, context or system, or duplicates."""
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

    def question_bounds(self, setting: Setting) -> tuple[int, int]:
        """Return the number of questions: pairs in both orders and all runs, and errors."""
        options, summaries = setting.options, _planned_summaries(setting)
        pairs = 2 * options.runs * len(_summary_pairs(options, summaries))
        return (pairs + options.errors * len(summaries),) * 2

    def calls(self, setting: Setting) -> Calls:
        """Return the number of calls of each evaluator and summariser."""
        counts = Counter(super().calls(setting).most)
        if not setting.options.given:
            counts.update(str(summary.system) for summary in _planned_summaries(setting))
        return Calls(counts, counts)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Make the summaries, then ask all comparisons and errors at once."""
        summaries, rows, judges = _planned_summaries(setting), list[Row](), self.judges(setting)
        if not setting.options.given:
            summaries = await _make_summaries(setting, summaries, ask, rows)
        with_summaries = replace(setting, items=tuple(summaries))
        parts = [self.judge_rows(with_summaries, ask, judge) for judge in judges]
        parts += [_ask_errors(with_summaries, ask, judge) for judge in judges if with_summaries.options.errors]
        return [*rows, *await gather_rows(parts)]

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """Ask the comparisons of the items, which are summaries."""
        pairs = _summary_pairs(setting.options, setting.items)
        return await gather_rows(_compare_both_ways(setting.options, ask, judge, *pair) for pair in pairs)


def _planned_summaries(setting: Setting) -> Sequence[Item]:
    """Return the given summaries, or those to be made, with the source's id as context and the writer as system."""
    options: MasaOptions = setting.options
    if options.given:
        return setting.items
    writers = (*options.summarizers, options.reference)
    return [
        Item(item.id, "", context=item.id, system=writer, source=item.text)
        for item in setting.items
        for writer in writers
    ]


async def _make_summaries(setting: Setting, summaries: Sequence[Item], ask: Ask, rows: list[Row]) -> Sequence[Item]:
    """Ask for the summaries; return those that are not missing, with their texts."""
    options: MasaOptions = setting.options
    schema = answer_schema(options.longest, summary=str)
    contexts = {item.id: item.context for item in setting.items}
    requests = []
    for summary in summaries:
        shown = {"task": options.task, "source": summary.source, "question": contexts[summary.id]}
        question = Question(str(summary.system), "masa/summarise", shown, ("summarise", summary.id), schema)
        columns = {"judge": summary.system, "context": summary.id, "system": summary.system, "kind": "summary"}
        requests.append((question, columns))
    text_rows = await ask_rows(ask, requests, "texts", lambda answer: {"text": answer["summary"]})
    rows += text_rows
    pairs = zip(summaries, text_rows, strict=True)
    return [replace(summary, text=row.values["text"]) for summary, row in pairs if row.table == "texts"]


async def _compare_both_ways(
    options: MasaOptions, ask: Ask, judge: str, first_item: Item, second_item: Item
) -> list[Row]:
    """Ask a judge for all votes on a pair; return the votes and the decision."""
    fields: dict[str, Any] = {"winner": ANSWERS}
    if options.guidance == "enhanced":
        fields = {"reasoning": str, **fields, "confidence": ["low", "medium", "high"]}
    schema = answer_schema(options.longest, **fields)
    requests = []
    for first, second in ((first_item, second_item), (second_item, first_item)):
        shown = {"task": options.task, "source": first.source, "first": first.text, "second": second.text}
        columns = {"judge": judge, "first": first.system, "second": second.system, "context": first_item.context}
        for run in range(1, options.runs + 1):
            key = ("compare", str(first_item.context), str(first.system), str(second.system), run)
            question = Question(judge, f"masa/{options.guidance}", shown, key, schema)
            requests.append((question, {**columns, "run": run}))

    def read_vote(answer: Mapping[str, Any]) -> dict[str, Any]:
        optional = {part: answer[part] for part in ("confidence", "reasoning") if part in answer}
        return {**read_winner(answer), **optional}

    rows = await ask_rows(ask, requests, "votes", read_vote)
    winners = [_winning_system(row.values) for row in rows]
    order_winners = winners[: options.runs], winners[options.runs :]
    majorities = [pairing.majority_of_runs(answers) for answers in order_winners]
    decision = pairing.winner_of_both_orders(*majorities)
    columns = {"judge": judge, "first": first_item.system, "second": second_item.system, "context": first_item.context}
    if decision is None:
        missing_key = ("decide", str(first_item.context), str(first_item.system), str(second_item.system))
        reason = "the decision hangs on missing answers"
        return [*rows, missing_row(missing_key, reason, table="decisions", **columns)]
    shown_winners = {"shown_first": majorities[0] or "", "shown_second": majorities[1] or ""}
    return [*rows, Row("decisions", {**columns, "winner": decision, **shown_winners})]


async def _ask_errors(setting: Setting, ask: Ask, judge: str) -> list[Row]:
    """Ask a judge for factual errors of each summary."""
    options: MasaOptions = setting.options
    schema = answer_schema(options.longest, reasoning=str, error=YES_NO)
    requests = []
    for item in setting.items:
        shown = {"task": options.task, "source": item.source, "summary": item.text}
        key = ("error", str(item.context), str(item.system))
        columns: dict[str, Any] = {"judge": judge, "item": f"{item.context} / {item.system}"}
        columns |= {"criterion": CRITERION, "context": item.context, "system": item.system, "run": 1}
        requests.append((Question(judge, "masa/error", shown, key, schema), columns))

    def read_label(answer: Mapping[str, Any]) -> dict[str, Any]:
        return {"label": answer["error"], "reasoning": answer["reasoning"]}

    return await ask_rows(ask, requests, "labels", read_label)


def _winning_system(vote: Mapping[str, Any]) -> str | None:
    """Return the system that a vote prefers, "tie", or None for a missing answer."""
    winner = vote.get("winner")
    return vote.get(winner, winner) if winner else None


def _summary_pairs(options: MasaOptions, summaries: Sequence[Item]) -> list[tuple[Item, Item]]:
    """Return the pairs of each source: each summary with the reference, or all; without missing summaries."""
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
            problems.append(f"item {item.id!r}: system {item.system!r} is what a winner may be called; rename it")
        earlier = seen.setdefault((item.context, item.system), item.id)
        if earlier != item.id and item.context and item.system:
            origin = f"by {item.system!r} in context {item.context!r}"
            problems.append(f"items {earlier!r} and {item.id!r} are both {origin}; keep one")
    if options.against == "reference":
        systems = {item.system for item in setting.items}
        if options.reference not in systems:
            system_names = ", ".join(sorted(str(system) for system in systems))
            return [*problems, f"option reference: {options.reference!r} is none of the systems {system_names}"]
        referenced = {item.context for item in setting.items if item.system == options.reference}
        lacking = dict.fromkeys(item.context for item in setting.items if item.context not in referenced)
        problems += [f"context {context!r} has no summary by {options.reference!r}" for context in lacking]
    return problems
