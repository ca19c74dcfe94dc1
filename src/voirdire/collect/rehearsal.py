"""A run whose answers are made up: which steps a protocol asks, and with what. Nothing is sent."""

from __future__ import annotations

from itertools import count

from voirdire.collect.cost import made_up_answer
from voirdire.collect.loop import run_in_loop
from voirdire.collect.protocol import Answer, Protocol, Question, Setting

#: Runs, each with other answers: a step may follow from one of them alone (a debate goes on while there is an issue).
TURNS = 3


def rehearse_run(protocol: Protocol, setting: Setting) -> dict[str, list[Question]]:
    """Questions by template, in the order in which a run comes to them; answers before them are made up.

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
    asked: dict[str, list[Question]] = {}
    for turn in range(TURNS):
        known, numbers = set(asked), count(1)

        async def record_question(question: Question) -> Answer:
            if question.template not in known:  # noqa: B023  # it ends within its turn
                asked.setdefault(question.template, []).append(question)
            return Answer(made_up_answer(question.schema, numbers, turn=turn))  # noqa: B023

        run_in_loop(protocol.run(setting, record_question))
    return asked
