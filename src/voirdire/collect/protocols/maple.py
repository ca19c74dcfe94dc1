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
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from voirdire.collect.protocol import Answer, Ask, Calls, Question, Row, Setting, missing
from voirdire.collect.protocols.criteria import criteria_schema, described, unusable
from voirdire.collect.protocols.pairing import (
    OUTCOMES,
    PairOptions,
    asked,
    number_of_pairs,
    pair_problems,
)
from voirdire.collect.protocols.roles import takers, uneven, unknown
from voirdire.collect.protocols.schemas import choice, record
from voirdire.collect.protocols.votes import compare

_WEIGH = ("Criterion A", "Criterion B")


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
    levels: int = 6
    attempts: int = 3


class Maple:
    """The protocol ``maple``."""

    name: ClassVar[str] = "maple"
    Options: ClassVar[type[Any]] = MapleOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, unsuitable design, neither rubric nor criteria, impossible bounds."""
        options: MapleOptions = setting.options
        named = {
            "evaluators": options.evaluators,
            "generator": [options.generator] if options.generator else [],
        }
        found = [
            *unknown(setting, named),
            *uneven(setting.items, ["context"]),
            *pair_problems(setting, options),
        ]
        if not options.criteria and not options.rubric.strip():
            found.append("option rubric is empty; give a rubric to make criteria from, or give criteria")
        wrong = unusable([{"name": name} for name in options.criteria])
        if wrong:
            found.append(f"option criteria: {wrong}; rename it")
        if not 1 <= options.least <= options.most:
            found.append(
                f"options least and most are {options.least} and {options.most}; give 1 <= least <= most"
            )
        for name in ("levels", "attempts"):
            if getattr(options, name) < (name == "attempts"):
                found.append(
                    f"option {name} is {getattr(options, name)}; give at least {int(name == 'attempts')}"
                )
        if not self._evaluators(setting):
            found.append("no judge is left to compare; name evaluators, or add a judge to the panel")
        return found

    def calls(self, setting: Setting) -> Calls:
        """K (C N (N - 1) / 2 + C (C - 1) / 2) per order, and the generator's."""
        options: MapleOptions = setting.options
        pairs = number_of_pairs(setting, options)
        again = (2 if options.order == "swap" else 1) * options.repeats

        def total(criteria: int, generated: int) -> dict[str, int]:
            each = criteria * pairs + criteria * (criteria - 1) // 2 * again
            counts = dict.fromkeys(self._evaluators(setting), each)
            if generated:
                writer = self._generator(setting)
                counts[writer] = counts.get(writer, 0) + generated
            return counts

        if options.criteria:
            return Calls(total(len(options.criteria), 0), total(len(options.criteria), 0))
        return Calls(total(options.least, 1), total(options.most, options.attempts))

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Criteria, then all comparisons at once."""
        options: MapleOptions = setting.options
        criteria = dict(options.criteria)
        rows: list[Row] = []
        if not criteria:
            criteria, rows = await self._generate(setting, ask)
        questions = [
            *(
                self._compare(setting, ask, judge, name, text)
                for judge in self._evaluators(setting)
                for name, text in criteria.items()
            ),
            *(self._weigh(setting, ask, judge, criteria) for judge in self._evaluators(setting)),
        ]
        for part in await asyncio.gather(*questions):
            rows.extend(part)
        return rows

    def _generator(self, setting: Setting) -> str:
        return setting.options.generator or setting.judges[0].name

    def _evaluators(self, setting: Setting) -> tuple[str, ...]:
        options: MapleOptions = setting.options
        return takers(setting, options.evaluators, without=[options.generator])

    async def _generate(self, setting: Setting, ask: Ask) -> tuple[dict[str, str], list[Row]]:
        options: MapleOptions = setting.options
        writer = self._generator(setting)
        variables = {
            name: getattr(options, name)
            for name in ("rubric", "task", "audience", "constraints", "least", "most", "levels")
        }
        rows: list[Row] = []
        for attempt in range(1, options.attempts + 1):
            schema = criteria_schema(options.least, options.most, options.levels, options.longest)
            question = Question(writer, "maple/criteria", variables, ("criteria", attempt), schema)
            answer = await ask(question)
            what = {"table": "texts", "judge": writer, "kind": "criteria", "run": attempt}
            if answer.content is None:
                return {}, [*rows, missing(question.key, answer, **what)]
            wrong = unusable(answer.content["criteria"])
            if wrong:
                rows.append(missing(question.key, Answer(None, wrong), **what))
                continue
            written = [(" ".join(str(one["name"]).split()), one) for one in answer.content["criteria"]]
            rows += [
                Row(
                    "texts",
                    {
                        "kind": "criterion",
                        "judge": writer,
                        "criterion": name,
                        "text": json.dumps(one, ensure_ascii=False),
                    },
                )
                for name, one in written
            ]
            guide = {
                field: answer.content[field]
                for field in ("edge_cases", "fairness")
                if field in answer.content
            }
            if guide:
                text = json.dumps(guide, ensure_ascii=False)
                rows.append(Row("texts", {"kind": "guardrails", "judge": writer, "text": text}))
            return {name: described(one) for name, one in written}, rows
        return {}, rows

    async def _compare(self, setting: Setting, ask: Ask, judge: str, criterion: str, text: str) -> list[Row]:
        options: MapleOptions = setting.options
        shown = {"task": options.task, "criterion": criterion, "description": text}
        return await compare(
            setting, ask, judge, template="maple/compare", variables=shown, criterion=criterion, ties=False
        )

    async def _weigh(self, setting: Setting, ask: Ask, judge: str, criteria: Mapping[str, str]) -> list[Row]:
        options: MapleOptions = setting.options
        names = list(criteria)
        every = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
        # a judge meets the pair of criteria in the orders that the design has for pairs of texts
        pairs = asked(options, every, setting.seed, judge, "criteria", "criteria")

        async def one(first: str, second: str, run: int) -> Row:
            shown = {
                "task": options.task,
                "audience": options.audience,
                "a": {"name": first, "description": criteria[first]},
                "b": {"name": second, "description": criteria[second]},
            }
            key = ("weigh", first, second, run)
            question = Question(judge, "maple/weigh", shown, key, record(priority=choice(_WEIGH)))
            answer = await ask(question)
            values = {"judge": judge, "first": first, "second": second, "run": run}
            if answer.content is None:
                return missing(key, answer, table="criteria", **values)
            winner = OUTCOMES[_WEIGH.index(answer.content["priority"])]
            return Row("criteria", {**values, "winner": winner})

        return list(await asyncio.gather(*(one(names[p.first], names[p.second], p.run) for p in pairs)))
