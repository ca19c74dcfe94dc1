"""MAPLE: many judges compare all pairs by every criterion, and the criteria with each other.

Source: "MAPLE: Multi-Aspect Panels of LLM Evaluators for Open-Ended Questions", sections 4 and appendix C.

Inputs: texts; a holistic rubric, or criteria.

1. A generator splits the rubric into 4 to 6 independent criteria, each with a definition, a checklist, level
   descriptors, pitfalls and notes on borderline cases. An invalid answer, or one with two criteria of the same
   name, is asked for again. Judges never see the rubric, only one criterion at a time.
2. Every judge compares the pairs of texts by every criterion, and the pairs of criteria by their importance.
   There are no ties.

Outputs: ``votes`` (by criterion), ``criteria`` (votes on criteria), ``texts`` (the criteria). With K judges, C
criteria, N texts and one order there are K (C N (N - 1) / 2 + C (C - 1) / 2) questions, and one for the
criteria. To aggregate, fit the model ``maple`` to the two tables.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Calls, Question, Row, Setting, ask_rows, gather_rows, missing_row
from voirdire.collect.protocols import pairing
from voirdire.collect.protocols.pairwise import compare_pairs
from voirdire.collect.protocols.roles import ListOf, Name, PanelProtocol, Schema, answer_schema
from voirdire.settings import Count, Size


@dataclass(frozen=True)
class MapleOptions(pairing.PairOptions):
    """Options of MAPLE, in addition to `PairOptions`.

    Attributes
    ----------
    criteria : mapping of str to str
        Criteria and their descriptions; empty: they are generated from the rubric.
    generator : str
        Judge that only writes the criteria; "": the first judge of the panel writes them and also judges.
    audience, constraints : str
        Authors of the texts; constraints on the texts.
    least, most : int
        Bounds on the number of generated criteria.
    levels : int
        Levels of quality described for each criterion; 0: only its definition.
    attempts : int
        Largest number of requests for criteria while two of them have the same name.

    Examples
    --------
    >>> MapleOptions().least, MapleOptions().most
    (4, 6)
    """

    criteria: Mapping[str, str] = field(default_factory=dict)
    generator: str = ""
    audience: str = ""
    constraints: str = ""
    least: int = 4
    most: int = 6
    levels: Size = 6
    attempts: Count = 3


class Maple(PanelProtocol):
    """The protocol ``maple``."""

    name: ClassVar[str] = "maple"
    Options: ClassVar[type[Any]] = MapleOptions
    named: ClassVar[tuple[str, ...]] = ("evaluators", "generator")

    def judges_with_other_roles(self, options: MapleOptions) -> list[str]:
        """Return the name of the generator."""
        return [options.generator]

    def setting_faults(self, setting: Setting) -> list[str]:
        """Return the faults: an unsuitable design, no rubric and no criteria, impossible bounds."""
        options: MapleOptions = setting.options
        faults = pairing.pair_problems(setting)
        if not options.criteria and not options.rubric.strip():
            faults.append("option rubric is empty; give a rubric to make criteria from, or give criteria")
        if fault := criteria_fault([{"name": name} for name in options.criteria]):
            faults.append(f"option criteria: {fault}; rename it")
        least, most = options.least, options.most
        if not 1 <= least <= most:
            faults.append(f"options least and most are {least} and {most}; give 1 <= least <= most")
        if not self.judges(setting):
            faults.append("no judge is left to compare; name evaluators, or add a judge to the panel")
        return faults

    def question_bounds(self, setting: Setting) -> tuple[int, int]:
        """Return the bounds of C N (N - 1) / 2 + C (C - 1) / 2 per order."""
        options: MapleOptions = setting.options
        pairs, orders = pairing.count_questions(setting), pairing.orders_of_pair(options)
        sizes = [len(options.criteria)] * 2 if options.criteria else [options.least, options.most]
        least, most = (size * pairs + size * (size - 1) // 2 * orders for size in sizes)
        return least, most

    def calls(self, setting: Setting) -> Calls:
        """Return the number of calls of each judge and of the generator."""
        options, judge_calls = setting.options, super().calls(setting)
        least, most = Counter(judge_calls.least), Counter(judge_calls.most)
        if not options.criteria:
            least[self._generator_name(setting)] += 1
            most[self._generator_name(setting)] += options.attempts
        return Calls(least, most)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Generate the criteria, then ask all comparisons at once."""
        rows: list[Row] = []
        criteria = dict(setting.options.criteria) or await self._generate_criteria(setting, ask, rows)
        with_criteria = replace(setting, options=replace(setting.options, criteria=criteria))
        judges = self.judges(setting)
        parts = [self.judge_rows(with_criteria, ask, judge) for judge in judges]
        parts += [self._weigh_criteria(with_criteria, ask, judge) for judge in judges]
        return [*rows, *await gather_rows(parts)]

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """Ask the comparisons by every criterion."""
        options: MapleOptions = setting.options
        parts = []
        for name, text in options.criteria.items():
            shown = {"task": options.task, "criterion": name, "description": text}
            parts.append(compare_pairs(setting, ask, judge, "maple/compare", shown, criterion=name))
        return await gather_rows(parts)

    def _generator_name(self, setting: Setting) -> str:
        return setting.options.generator or setting.judges[0].name

    async def _generate_criteria(self, setting: Setting, ask: Ask, rows: list[Row]) -> dict[str, str]:
        """Return the generated criteria and their texts for judges; empty if no answer has distinct names."""
        options: MapleOptions = setting.options
        writer = self._generator_name(setting)
        names = ("rubric", "task", "audience", "constraints", "least", "most", "levels")
        variables = {name: getattr(options, name) for name in names}
        schema = criteria_schema(options.least, options.most, options.levels, options.longest)
        for attempt in range(1, options.attempts + 1):
            question = Question(writer, "maple/criteria", variables, ("criteria", attempt), schema)
            columns = {"judge": writer, "kind": "criteria", "run": attempt}
            answer = await ask(question)
            content: Any = answer.content
            fault = answer.missing or criteria_fault(content["criteria"])
            if fault is None:
                return _note_criteria(content, writer, rows)
            rows.append(missing_row(question.key, fault, table="texts", **columns))
            if content is None:
                break
        return {}

    async def _weigh_criteria(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        options: MapleOptions = setting.options
        names = ("Criterion A", "Criterion B")
        schema = answer_schema(priority=names)
        requests = []
        # pairs of criteria are shown in the same kind of orders as pairs of texts
        pairs = list(combinations(options.criteria, 2))
        for first, second, run in pairing.order_pairs(setting, pairs, judge, "criteria", "criteria"):
            shown = {
                "task": options.task,
                "audience": options.audience,
                "a": {"name": first, "description": options.criteria[first]},
                "b": {"name": second, "description": options.criteria[second]},
            }
            columns = {"judge": judge, "first": first, "second": second, "run": run}
            question = Question(judge, "maple/weigh", shown, ("weigh", first, second, run), schema)
            requests.append((question, columns))
        winners = dict(zip(names, pairing.OUTCOMES, strict=False))
        return await ask_rows(ask, requests, "criteria", lambda answer: {"winner": winners[answer["priority"]]})


def _note_criteria(answer: Mapping[str, Any], writer: str, rows: list[Row]) -> dict[str, str]:
    """Add the generated criteria to ``rows``; return their texts for judges."""

    def note_text(kind: str, content: Mapping[str, Any], **more: str) -> None:
        text = json.dumps(content, ensure_ascii=False)
        rows.append(Row("texts", {"kind": kind, "judge": writer, **more, "text": text}))

    criteria = {}
    for generated in answer["criteria"]:
        name = " ".join(str(generated["name"]).split())
        note_text("criterion", generated, criterion=name)
        criteria[name] = criterion_text(generated)
    guide = {part: answer[part] for part in ("edge_cases", "fairness") if part in answer}
    if guide:
        note_text("guardrails", guide)
    return criteria


def criteria_schema(least: int, most: int, levels: int, longest: int = 0) -> Schema:
    """Return the schema of the generator's answer: ``least`` to ``most`` criteria; ``levels`` 0: only definitions.

    Examples
    --------
    >>> list(criteria_schema(4, 6, 0)["properties"]["criteria"]["items"]["properties"])
    ['name', 'definition']
    """
    fields: dict[str, Any] = {"name": Name, "definition": str}
    answer_fields: dict[str, Any] = {"criteria": ListOf(fields, least, most)}
    if levels:
        fields["look_for"] = ListOf(str, 3, 7)
        fields["levels"] = {str(level): str for level in range(1, levels + 1)}
        fields |= {"pitfalls": ListOf(str, 2, 5), "borderline": ListOf(str, 1, 3)}
        answer_fields |= {"edge_cases": ListOf(str, 1, 6), "fairness": ListOf(str, 1, 6)}
    return answer_schema(longest, **answer_fields)


def criteria_fault(criteria: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the reason why the names of criteria are invalid in a table; None if they are valid.

    Examples
    --------
    >>> criteria_fault([{"name": "Style"}, {"name": " style"}])
    "two criteria are called 'style'"
    """
    seen = set()
    for criterion in criteria:
        name = " ".join(str(criterion["name"]).split()).casefold()
        if not name:
            return "a criterion has no name"
        if name in pairing.OUTCOMES:
            return f"a criterion is called {name!r}, as a vote's winner may be"
        if name in seen:
            return f"two criteria are called {name!r}"
        seen.add(name)
    return None


def criterion_text(generated: Mapping[str, Any]) -> str:
    """Format a generated criterion as the text for judges.

    Examples
    --------
    >>> print(criterion_text({"name": "Style", "definition": "How it reads.", "levels": {"1": "dull", "2": "vivid"}}))
    How it reads.
    Levels:
    1: dull
    2: vivid
    """
    titles = {"look_for": "Look for", "levels": "Levels", "pitfalls": "Pitfalls", "borderline": "Between two levels"}
    lines = [str(generated["definition"])]
    for part, title in titles.items():
        value = generated.get(part) or ()
        levels = value.items() if isinstance(value, Mapping) else ()
        entries = [f"{level}: {text}" for level, text in levels] or [f"- {text}" for text in value]
        lines += [f"{title}:", *entries] if entries else []
    return "\n".join(lines)
