"""A small protocol for the tests of the collector: all pairs, several rounds; no part of the package."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Literal

from voirdire.collect import Question, Row, Setting
from voirdire.collect.protocol import Ask, Calls, missing_row

SCHEMA = {
    "type": "object",
    "properties": {"winner": {"enum": [1, 2]}},
    "required": ["winner"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class ToyOptions:
    rounds: int = 1
    logprobs: bool = False
    tone: Literal["calm", "stern"] = "calm"
    names: tuple[str, ...] = ()
    share: float = 0.5
    free: bool = False  # answers are text, without a schema


class Toy:
    name: ClassVar[str] = "toy"
    Options: ClassVar[type[Any]] = ToyOptions
    prompts: ClassVar[Path] = Path(__file__).with_name("toy_prompts")

    def problems(self, setting: Setting) -> list[str]:
        return ["option rounds is below 1; give at least 1"] if setting.options.rounds < 1 else []

    def calls(self, setting: Setting) -> Calls:
        count = setting.options.rounds * len(setting.items) * (len(setting.items) - 1) // 2
        each = {judge.name: count for judge in setting.judges}
        return Calls(each, each)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        questions = [
            self._compare_both_ways(setting, ask, judge.name, a, b, number)
            for judge in setting.judges
            for number in range(setting.options.rounds)
            for a, b in combinations(setting.items, 2)
        ]
        return list(await asyncio.gather(*questions))

    async def _compare_both_ways(self, setting: Setting, ask: Ask, judge: str, a: Any, b: Any, number: int) -> Row:
        key = ("compare", a.id, b.id, number)
        variables = {"first": a.text, "second": b.text, "round": number}
        schema = None if setting.options.free else SCHEMA
        question = Question(judge, "toy/compare", variables, key, schema, setting.options.logprobs)
        answer = await ask(question)
        if answer.content is None:
            return missing_row(key, answer, judge=judge, first=a.id, second=b.id)
        if setting.options.free:
            return Row("texts", {"judge": judge, "item": a.id, "text": answer.content})
        winner = "first" if answer.content["winner"] == 1 else "second"
        extra = {"logprob": answer.logprobs[0][1][0][1]} if answer.logprobs else {}
        return Row("votes", {"judge": judge, "first": a.id, "second": b.id, "winner": winner, "run": number} | extra)
