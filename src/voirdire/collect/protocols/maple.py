"""MAPLE: many judges compare all pairs by every criterion, and the criteria with each other.

Source: "MAPLE: Multi-Aspect Panels of LLM Evaluators for Open-Ended Questions", sections 4 and appendix C.

Inputs: texts; a holistic rubric, or criteria.

1. A generator breaks the rubric down into 4 to 6 independent criteria, each with a definition, a checklist,
   level descriptors, pitfalls and notes on borderline cases; an answer that breaks this form, or names two
   criteria alike, is asked for again. Judges never see the rubric, only one criterion at a time.
2. Every judge compares the pairs of texts by every criterion, and the pairs of criteria by their importance. It
   has to choose: there are no ties.

Outputs: ``votes`` (by criterion), ``criteria`` (votes on criteria), ``texts`` (the criteria). With K judges, C
criteria, N texts and one order there are K (C N (N - 1) / 2 + C (C - 1) / 2) questions, and one for the
criteria. Aggregation is not the collector's: fit the model ``maple`` to the two tables.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

from voirdire.collect.protocol import Answer, Ask, Calls, Question, Row, Setting, ask_all, missing_row
from voirdire.collect.protocols.pairing import (
    OUTCOMES,
    PairOptions,
    count_questions,
    order_pairs,
    orders_of_pair,
    pair_problems,
)
from voirdire.collect.protocols.pairwise import ask_vote, compare_pairs
from voirdire.collect.protocols.roles import (
    Schema,
    choice_schema,
    judges_for_role,
    list_schema,
    partial_column_problems,
    record_schema,
    text_schema,
    unknown_judges,
)
from voirdire.settings import Count, Size


@dataclass(frozen=True)
class MapleOptions(PairOptions):
    """Options of MAPLE, beside those of every comparison of pairs.

    Attributes
    ----------
    criteria : mapping of str to str
        Criteria and their descriptions; none given: they are generated from the rubric.
    generator : str
        The judge that writes the criteria and does nothing else; "": the first of the panel writes them and judges too.
    audience, constraints : str
        Who wrote the texts; what they had to keep to.
    least, most : int
        Bounds on the number of criteria generated.
    levels : int
        Levels of quality described for each criterion; 0: no more than its definition.
    attempts : int
        How often criteria are asked for while two of them have one name.

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


class Maple:
    """The protocol ``maple``."""

    name: ClassVar[str] = "maple"
    Options: ClassVar[type[Any]] = MapleOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, unsuitable design, neither rubric nor criteria, impossible bounds."""
        options: MapleOptions = setting.options
        writers = [options.generator] if options.generator else []
        found = [
            *unknown_judges(setting, {"evaluators": options.evaluators, "generator": writers}),
            *partial_column_problems(setting.items, ["context"]),
            *pair_problems(setting, options),
        ]
        if not options.criteria and not options.rubric.strip():
            found.append("option rubric is empty; give a rubric to make criteria from, or give criteria")
        wrong = criteria_fault([{"name": name} for name in options.criteria])
        if wrong:
            found.append(f"option criteria: {wrong}; rename it")
        if not 1 <= options.least <= options.most:
            found.append(
                f"options least and most are {options.least} and {options.most}; give 1 <= least <= most"
            )
        if not self._evaluator_names(setting):
            found.append("no judge is left to compare; name evaluators, or add a judge to the panel")
        return found

    def calls(self, setting: Setting) -> Calls:
        """K (C N (N - 1) / 2 + C (C - 1) / 2) per order, and the generator's."""
        options: MapleOptions = setting.options
        pairs, again = count_questions(setting, options), orders_of_pair(options)

        def total_calls(criteria: int, generated: int) -> Counter[str]:
            each = criteria * pairs + criteria * (criteria - 1) // 2 * again
            judges = Counter(dict.fromkeys(self._evaluator_names(setting), each))
            return judges + Counter({self._generator_name(setting): generated})

        if options.criteria:
            return Calls(total_calls(len(options.criteria), 0), total_calls(len(options.criteria), 0))
        return Calls(total_calls(options.least, 1), total_calls(options.most, options.attempts))

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Criteria, then all comparisons at once."""
        options: MapleOptions = setting.options
        rows: list[Row] = []
        criteria = dict(options.criteria) or await self._generate_criteria(setting, ask, rows)
        judges = self._evaluator_names(setting)
        questions = []
        for judge in judges:
            for name, text in criteria.items():
                shown = {"task": options.task, "criterion": name, "description": text}
                how: Any = {"template": "maple/compare", "variables": shown, "criterion": name, "ties": False}
                questions.append(compare_pairs(setting, ask, judge, **how))
        questions += [self._weigh_criteria(setting, ask, judge, criteria) for judge in judges]
        return [*rows, *(row for part in await asyncio.gather(*questions) for row in part)]

    def _generator_name(self, setting: Setting) -> str:
        return setting.options.generator or setting.judges[0].name

    def _evaluator_names(self, setting: Setting) -> tuple[str, ...]:
        options: MapleOptions = setting.options
        return judges_for_role(setting, options.evaluators, without=[options.generator])

    async def _generate_criteria(self, setting: Setting, ask: Ask, rows: list[Row]) -> dict[str, str]:
        """Criteria and what judges are shown of each; none where no answer names them apart."""
        options: MapleOptions = setting.options
        writer = self._generator_name(setting)
        shown = ("rubric", "task", "audience", "constraints", "least", "most", "levels")
        variables = {name: getattr(options, name) for name in shown}
        schema = criteria_schema(options.least, options.most, options.levels, options.longest)
        for attempt in range(1, options.attempts + 1):
            question = Question(writer, "maple/criteria", variables, ("criteria", attempt), schema)
            what = {"table": "texts", "judge": writer, "kind": "criteria", "run": attempt}
            (found,) = await ask_all(ask, [(question, what)], rows)
            if found is None:
                break
            wrong = criteria_fault(found["criteria"])
            if wrong is None:
                return _note_criteria(found, writer, rows)
            rows.append(missing_row(question.key, Answer(None, wrong), **what))
        return {}

    async def _weigh_criteria(
        self, setting: Setting, ask: Ask, judge: str, criteria: Mapping[str, str]
    ) -> list[Row]:
        options: MapleOptions = setting.options
        names = list(criteria)
        every = list(combinations(range(len(names)), 2))
        schema = record_schema(priority=choice_schema(["Criterion A", "Criterion B"]))
        questions = []
        # a judge meets the pair of criteria in the orders that the design has for pairs of texts
        for pair in order_pairs(options, every, setting.seed, judge, "criteria", "criteria"):
            first, second = names[pair.first], names[pair.second]
            shown = {
                "task": options.task,
                "audience": options.audience,
                "a": {"name": first, "description": criteria[first]},
                "b": {"name": second, "description": criteria[second]},
            }
            columns = {"judge": judge, "first": first, "second": second, "run": pair.run}
            question = Question(judge, "maple/weigh", shown, ("weigh", first, second, pair.run), schema)
            questions.append(ask_vote(ask, question, "criteria", columns, "priority"))
        return list(await asyncio.gather(*questions))


def _note_criteria(found: Mapping[str, Any], writer: str, rows: list[Row]) -> dict[str, str]:
    """Note generated criteria as they are; what judges are shown of each."""

    def note_text(kind: str, told: Mapping[str, Any], **more: str) -> None:
        text = json.dumps(told, ensure_ascii=False)
        rows.append(Row("texts", {"kind": kind, "judge": writer, **more, "text": text}))

    criteria = {}
    for one in found["criteria"]:
        name = " ".join(str(one["name"]).split())
        note_text("criterion", one, criterion=name)
        criteria[name] = criterion_text(one)
    guide = {part: found[part] for part in ("edge_cases", "fairness") if part in found}
    if guide:
        note_text("guardrails", guide)
    return criteria


def criteria_schema(least: int, most: int, levels: int, longest: int = 0) -> Schema:
    """The answer of the generator: ``least`` to ``most`` criteria; with ``levels`` 0 each by its definition alone.

    Examples
    --------
    >>> list(criteria_schema(4, 6, 0)["properties"]["criteria"]["items"]["properties"])
    ['name', 'definition']
    """
    text = text_schema(longest)
    fields: dict[str, Schema] = {"name": text_schema(60 if longest else 0), "definition": text}
    if levels:
        fields |= {
            "look_for": list_schema(text, 3, 7),
            "levels": record_schema(**{str(level): text for level in range(1, levels + 1)}),
            "pitfalls": list_schema(text, 2, 5),
            "borderline": list_schema(text, 1, 3),
        }
    whole: dict[str, Schema] = {"criteria": list_schema(record_schema(**fields), least, most)}
    if levels:
        whole |= {"edge_cases": list_schema(text, 1, 6), "fairness": list_schema(text, 1, 6)}
    return record_schema(**whole)


def criteria_fault(criteria: Sequence[Mapping[str, Any]]) -> str | None:
    """Why these criteria cannot name the rows of a table, if they cannot.

    Examples
    --------
    >>> criteria_fault([{"name": "Style"}, {"name": " style"}])
    "two criteria are called 'style'"
    """
    seen = set()
    for one in criteria:
        name = " ".join(str(one["name"]).split()).casefold()
        if not name:
            return "a criterion has no name"
        if name in OUTCOMES:
            return f"a criterion is called {name!r}, as a vote's winner may be"
        if name in seen:
            return f"two criteria are called {name!r}"
        seen.add(name)
    return None


def criterion_text(one: Mapping[str, Any]) -> str:
    """A generated criterion as the text that judges are shown.

    Examples
    --------
    >>> print(criterion_text({"name": "Style", "definition": "How it reads.", "levels": {"1": "dull", "2": "vivid"}}))
    How it reads.
    Levels:
    1: dull
    2: vivid
    """
    titles = {
        "look_for": "Look for",
        "levels": "Levels",
        "pitfalls": "Pitfalls",
        "borderline": "Between two levels",
    }
    lines = [str(one["definition"])]
    for part, title in titles.items():
        if value := one.get(part):
            levels = isinstance(value, Mapping)
            marked = (
                [(f"{level}:", text) for level, text in value.items()]
                if levels
                else [("-", text) for text in value]
            )
            lines += [f"{title}:", *(f"{mark} {text}" for mark, text in marked)]
    return "\n".join(lines)
