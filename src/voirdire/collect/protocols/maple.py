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

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Calls, Question, Row, Setting, ask_rows, gather_rows, missing_row
from voirdire.collect.protocols import pairing
from voirdire.collect.protocols.pairwise import compare_pairs
from voirdire.collect.protocols.roles import Name, PanelProtocol, Schema, Several, answer_schema
from voirdire.settings import Count, Size


@dataclass(frozen=True)
class MapleOptions(pairing.PairOptions):
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


class Maple(PanelProtocol):
    """The protocol ``maple``."""

    name: ClassVar[str] = "maple"
    Options: ClassVar[type[Any]] = MapleOptions
    named: ClassVar[tuple[str, ...]] = ("evaluators", "generator")

    def others(self, options: MapleOptions) -> list[str]:
        """The generator that is named."""
        return [options.generator]

    def setting_faults(self, setting: Setting) -> list[str]:
        """Unsuitable design, neither rubric nor criteria, impossible bounds."""
        options: MapleOptions = setting.options
        found = pairing.pair_problems(setting)
        if not options.criteria and not options.rubric.strip():
            found.append("option rubric is empty; give a rubric to make criteria from, or give criteria")
        if wrong := criteria_fault([{"name": name} for name in options.criteria]):
            found.append(f"option criteria: {wrong}; rename it")
        least, most = options.least, options.most
        if not 1 <= least <= most:
            found.append(f"options least and most are {least} and {most}; give 1 <= least <= most")
        if not self.judges(setting):
            found.append("no judge is left to compare; name evaluators, or add a judge to the panel")
        return found

    def bounds(self, setting: Setting) -> tuple[int, int]:
        """C N (N - 1) / 2 + C (C - 1) / 2 per order."""
        options: MapleOptions = setting.options
        pairs, again = pairing.count_questions(setting), pairing.orders_of_pair(options)
        sizes = [len(options.criteria)] * 2 if options.criteria else [options.least, options.most]
        least, most = (size * pairs + size * (size - 1) // 2 * again for size in sizes)
        return least, most

    def calls(self, setting: Setting) -> Calls:
        """Those of each judge, and the generator's."""
        options, found = setting.options, super().calls(setting)
        least, most = Counter(found.least), Counter(found.most)
        if not options.criteria:
            least[self._generator_name(setting)] += 1
            most[self._generator_name(setting)] += options.attempts
        return Calls(least, most)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Criteria, then all comparisons at once."""
        rows: list[Row] = []
        criteria = dict(setting.options.criteria) or await self._generate_criteria(setting, ask, rows)
        made = replace(setting, options=replace(setting.options, criteria=criteria))
        judges = self.judges(setting)
        parts = [self.judge_rows(made, ask, judge) for judge in judges]
        parts += [self._weigh_criteria(made, ask, judge) for judge in judges]
        return [*rows, *await gather_rows(parts)]

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """The comparisons by every criterion."""
        options: MapleOptions = setting.options
        parts = []
        for name, text in options.criteria.items():
            shown = {"task": options.task, "criterion": name, "description": text}
            parts.append(compare_pairs(setting, ask, judge, "maple/compare", shown, criterion=name))
        return await gather_rows(parts)

    def _generator_name(self, setting: Setting) -> str:
        return setting.options.generator or setting.judges[0].name

    async def _generate_criteria(self, setting: Setting, ask: Ask, rows: list[Row]) -> dict[str, str]:
        """Criteria and what judges are shown of each; none where no answer names them apart."""
        options: MapleOptions = setting.options
        writer = self._generator_name(setting)
        shown = ("rubric", "task", "audience", "constraints", "least", "most", "levels")
        variables = {name: getattr(options, name) for name in shown}
        schema = criteria_schema(options.least, options.most, options.levels, options.longest)
        for attempt in range(1, options.attempts + 1):
            question = Question(writer, "maple/criteria", variables, ("criteria", attempt), schema)
            what = {"judge": writer, "kind": "criteria", "run": attempt}
            answer = await ask(question)
            found: Any = answer.content
            wrong = answer.missing or criteria_fault(found["criteria"])
            if wrong is None:
                return _note_criteria(found, writer, rows)
            rows.append(missing_row(question.key, wrong, table="texts", **what))
            if found is None:
                break
        return {}

    async def _weigh_criteria(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        options: MapleOptions = setting.options
        names = ("Criterion A", "Criterion B")
        schema = answer_schema(priority=names)
        asked = []
        # a judge meets the pair of criteria in the orders that the design has for pairs of texts
        every = list(combinations(options.criteria, 2))
        for first, second, run in pairing.order_pairs(setting, every, judge, "criteria", "criteria"):
            shown = {
                "task": options.task,
                "audience": options.audience,
                "a": {"name": first, "description": options.criteria[first]},
                "b": {"name": second, "description": options.criteria[second]},
            }
            columns = {"judge": judge, "first": first, "second": second, "run": run}
            question = Question(judge, "maple/weigh", shown, ("weigh", first, second, run), schema)
            asked.append((question, columns))
        winners = dict(zip(names, pairing.OUTCOMES, strict=False))
        return await ask_rows(ask, asked, "criteria", lambda found: {"winner": winners[found["priority"]]})


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
    fields: dict[str, Any] = {"name": Name, "definition": str}
    whole: dict[str, Any] = {"criteria": Several(fields, least, most)}
    if levels:
        fields["look_for"] = Several(str, 3, 7)
        fields["levels"] = {str(level): str for level in range(1, levels + 1)}
        fields |= {"pitfalls": Several(str, 2, 5), "borderline": Several(str, 1, 3)}
        whole |= {"edge_cases": Several(str, 1, 6), "fairness": Several(str, 1, 6)}
    return answer_schema(longest, **whole)


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
        if name in pairing.OUTCOMES:
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
        value = one.get(part) or ()
        levels = value.items() if isinstance(value, Mapping) else ()
        told = [f"{level}: {text}" for level, text in levels] or [f"- {text}" for text in value]
        lines += [f"{title}:", *told] if told else []
    return "\n".join(lines)
