"""Rehearsal of a run with made-up answers, to find the steps and questions of a protocol without a request.

Also runs a coroutine from synchronous code.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future, wait
from itertools import count
from typing import Any, TypeVar

from voirdire.collect.budget import list_entries
from voirdire.collect.protocol import Answer, Protocol, Question, Setting

_T = TypeVar("_T")


def run_in_loop(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end, even inside a running event loop (a notebook).

    Examples
    --------
    >>> run_in_loop(asyncio.sleep(0, "done"))
    'done'
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    future: Future[_T] = Future()
    tasks: list[asyncio.Task[Any]] = []

    async def register_and_await() -> _T:
        tasks.extend(filter(None, [asyncio.current_task()]))
        return await work

    def run_in_thread() -> None:
        try:
            future.set_result(asyncio.run(register_and_await()))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run_in_thread, daemon=True).start()
    try:
        return future.result()
    except KeyboardInterrupt:
        if not future.done():
            for task in tasks:
                task.get_loop().call_soon_threadsafe(task.cancel)
            wait([future])
        raise


def made_up_answer(
    schema: Mapping[str, Any] | None, numbers: Iterator[int], place: str = "text", *, turn: int = 0
) -> Any:
    """Make up an answer of about a model's length: texts of 160 characters, shorter names and list entries.

    Uses the first value of a choice, and short lists. ``turn`` selects a later value, and adds entries to lists.

    Examples
    --------
    >>> made_up_answer({"type": "object", "properties": {"winner": {"enum": [1, 2]}}}, iter(range(9)))
    {'winner': 1}
    >>> made_up_answer({"enum": ["a", "b"]}, iter(range(9)), turn=1)
    'b'
    """
    schema = schema or {"type": "string", "maxLength": 1000}
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return values[turn % len(values)]
    if "anyOf" in schema:
        return made_up_answer(schema["anyOf"][0], numbers, place, turn=turn)
    if "properties" in schema:
        return {name: made_up_answer(inner, numbers, name, turn=turn) for name, inner in schema["properties"].items()}
    if "items" in schema:
        entries = min(list_entries(schema) + turn, int(schema.get("maxItems", 1000)))
        return [made_up_answer(schema["items"], numbers, "entry", turn=turn) for _ in range(max(entries, 1))]
    if schema.get("type") == "string":
        length = min({"name": 20, "entry": 80}.get(place, 160), int(schema.get("maxLength", 1000)))
        return f"{next(numbers)} words of it ".ljust(length, "x")[:length]
    return schema.get("minimum", 0)


def rehearse_once(protocol: Protocol, setting: Setting, *, turn: int = 0) -> list[Question]:
    """Return the questions of a run with made-up answers, in the order in which they are asked."""
    questions: list[Question] = []
    numbers = count(1)

    async def record_question(question: Question) -> Answer:
        questions.append(question)
        return Answer(made_up_answer(question.schema, numbers, turn=turn))

    run_in_loop(protocol.run(setting, record_question))
    return questions


#: Number of rehearsals, each with other answers: some steps occur only after certain answers.
REHEARSALS = 3


def rehearse_run(protocol: Protocol, setting: Setting) -> dict[str, list[Question]]:
    """Return the questions of rehearsed runs by template, in the order in which they are asked.

    Examples
    --------
    >>> from voirdire.collect.plan import make_plan
    >>> panel = {"judges": [{"name": "ann", "model": "m", "base_url": "http://localhost:1/v1"}]}
    >>> import pandas as pd
    >>> items = pd.DataFrame({"id": ["a"], "text": ["one"]})
    >>> plan = make_plan(panel, items, "g-eval", options={"weighting": "samples"})
    >>> list(rehearse_run(plan.protocol, plan.setting))
    ['g-eval/steps', 'g-eval/score']
    """
    by_template: dict[str, list[Question]] = {}
    for turn in range(REHEARSALS):
        earlier_steps = set(by_template)
        for question in rehearse_once(protocol, setting, turn=turn):
            if question.template not in earlier_steps:
                by_template.setdefault(question.template, []).append(question)
    return by_template
