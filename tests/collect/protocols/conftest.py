from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from voirdire.collect import Answer, Item, Judge, Prompts, Question, Row, Setting
from voirdire.collect.answers import check_schema, find_breach
from voirdire.collect.rendering import Prompt

Reply = Callable[[Question], Any] | Mapping[str, Any] | Answer | None


def smallest(schema: Mapping[str, Any], rng: np.random.Generator) -> Any:
    """A random answer that fits the schema, with lists as short as they may be."""
    if "enum" in schema:
        return schema["enum"][int(rng.integers(len(schema["enum"])))]
    if schema["type"] == "object":
        return {name: smallest(part, rng) for name, part in schema["properties"].items()}
    if schema["type"] == "array":
        return [smallest(schema["items"], rng) for _ in range(max(1, schema["minItems"]))]
    assert schema["type"] == "string"
    return f"words {int(rng.integers(10**9))}"


class Script:
    """Answers questions by template, notes them, and renders every prompt as a run would."""

    def __init__(self, replies: Mapping[str, Reply] | None = None, *, shuffle: int | None = None) -> None:
        self.replies = dict(replies or {})
        self.questions: list[Question] = []
        self.prompts: list[Prompt] = []
        self._rng = None if shuffle is None else np.random.default_rng(shuffle)
        self._prompts = Prompts()

    async def __call__(self, question: Question) -> Answer:
        self.questions.append(question)
        self.prompts.append(self._prompts.render(question.template, question.variables))
        assert check_schema(question.schema or {}) == []
        if self._rng is not None:
            # answers come back in another order than they were asked for
            for _ in range(int(self._rng.integers(4))):
                await asyncio.sleep(0)
        reply = self.replies.get(question.template, self.any)
        reply = reply(question) if callable(reply) else reply
        if reply is None:
            return Answer(None, "scripted to be missing")
        answer = reply if isinstance(reply, Answer) else Answer(reply)
        assert find_breach(answer.content, question.schema or {}) is None
        return answer

    @staticmethod
    def any(question: Question) -> Any:
        """An answer that depends on the question alone."""
        digest = hashlib.sha256(repr((question.judge, question.key)).encode()).digest()
        return smallest(question.schema or {"type": "string"}, np.random.default_rng(list(digest)))

    @property
    def templates(self) -> list[str]:
        """What was asked, in order."""
        return [question.template.split("/")[1] for question in self.questions]


def settle(protocol: Any, judges: str, items: int | list[Item], **options: Any) -> Setting:
    """A setting of one-letter judges and of items a, b, c ... that the protocol finds no fault with."""
    if isinstance(items, int):
        items = [Item(letter, f"text {letter}") for letter in "abcdefghij"[:items]]
    panel = tuple(Judge(name, "scripted") for name in judges.split())
    setting = Setting(panel, tuple(items), protocol.Options(**options), seed=7)
    assert protocol.problems(setting) == []
    return setting


def carry_out(protocol: Any, setting: Setting, script: Script) -> list[Row]:
    """Run the protocol; no question is asked twice, and the number of questions is the one announced."""
    rows = asyncio.run(protocol.run(setting, script))
    names = [(question.judge, question.key) for question in script.questions]
    assert len(set(names)) == len(names)
    calls = protocol.calls(setting)
    for judge in {name for name, _ in names} | set(calls.least):
        made = sum(name == judge for name, _ in names)
        assert calls.least.get(judge, 0) <= made <= calls.most.get(judge, 0), judge
    return list(rows)


def table(rows: list[Row], name: str) -> list[dict[str, Any]]:
    return [dict(row.values) for row in rows if row.table == name]


@pytest.fixture(name="script")
def _script() -> type[Script]:
    return Script


@pytest.fixture(name="settle")
def _settle() -> Callable[..., Setting]:
    return settle


@pytest.fixture(name="carry_out")
def _carry_out() -> Callable[..., list[Row]]:
    return carry_out


@pytest.fixture(name="table")
def _table() -> Callable[..., list[dict[str, Any]]]:
    return table


@pytest.fixture
def bert_score(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in for the package bert-score, with its signatures: a token is near to itself and to no other."""
    import sys
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    module: Any = ModuleType("bert_score")
    module.__spec__ = ModuleSpec("bert_score", None)
    module.made = []

    class BERTScorer:
        def __init__(
            self,
            model_type: str | None = None,
            num_layers: int | None = None,
            batch_size: int = 64,
            nthreads: int = 4,
            all_layers: bool = False,
            idf: bool = False,
            idf_sents: list[str] | None = None,
            device: str | None = None,
            lang: str | None = None,
            rescale_with_baseline: bool = False,
            baseline_path: str | None = None,
            use_fast_tokenizer: bool = False,
        ) -> None:
            module.made.append({"model_type": model_type, "num_layers": num_layers, "idf": idf, "idf_sents": idf_sents})

        def score(self, cands: list[str], refs: list[str]) -> tuple[Any, Any, Any]:
            both = [(set(one.split()), set(other.split())) for one, other in zip(cands, refs, strict=True)]
            p = np.array([len(a & b) / len(a) for a, b in both])
            r = np.array([len(a & b) / len(b) for a, b in both])
            return p, r, 2 * p * r / np.maximum(p + r, 1e-9)

    module.BERTScorer = BERTScorer
    monkeypatch.setitem(sys.modules, "bert_score", module)
    return module
